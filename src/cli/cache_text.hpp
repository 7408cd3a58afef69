// The state of the cache, for `fuseline cache stats` and `fuseline info`.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "cache/store.hpp"

namespace fuseline::cli {

Json cache_json(const cache::Stats& stats);
std::string cache_text(const cache::Stats& stats);
std::string bytes_text(std::uint64_t bytes);  // "1.5 MiB"

}  // namespace fuseline::cli
