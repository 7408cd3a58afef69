// A list of what is alive, and scaling on the way.
#include "device/cpu/onednn/weights.hpp"

#include <mutex>
#include <vector>

namespace fuseline::cpu {
namespace {

struct Known {
  WantedWeights wanted;
  std::weak_ptr<const dnnl::memory> memory;
};

#if DNNL_VERSION_MAJOR >= 3
dnnl::memory::dims sizes_of(const dnnl::memory::desc& d) { return d.get_dims(); }
#else
dnnl::memory::dims sizes_of(const dnnl::memory::desc& d) { return d.dims(); }
#endif

// A dense f32 copy times the scale of each feature.
dnnl::memory scaled(const WantedWeights& w) {
  dnnl::memory::dims sizes = sizes_of(w.given), steps(sizes.size(), 1);
  for (std::size_t k = sizes.size() - 1; k-- > 0;) steps[k] = steps[k + 1] * sizes[k + 1];
  dnnl::memory::desc dense(sizes, dnnl::memory::data_type::f32, steps);
  dnnl::memory copy(dense, engine());
  reorder(dnnl::memory(w.given, engine(), const_cast<void*>(w.data)), copy);
  auto* numbers = static_cast<float*>(copy.get_data_handle());
  std::int64_t total = steps[0] * sizes[0];
  auto features = static_cast<std::int64_t>(w.scale.size());
  for (std::int64_t i = 0; i < total; ++i)
    numbers[i] = static_cast<float>(
        numbers[i] * w.scale[static_cast<std::size_t>(i / steps[w.feature_axis] % features)]);
  return copy;
}

}  // namespace

void reorder(const dnnl::memory& from, dnnl::memory& to) {
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, const_cast<dnnl::memory&>(from), to);
  stream.wait();
}

void store_numbers(void* to, DType dtype, const std::vector<double>& numbers) {
  auto* at = static_cast<char*>(to);
  for (double number : numbers) {
    store_number(at, dtype, Number{.d = number});
    at += size_of(dtype);
  }
}

std::shared_ptr<const dnnl::memory> prepared_weights(const WantedWeights& wanted) {
  static std::mutex mutex;
  static std::vector<Known> known;
  std::lock_guard lock(mutex);
  std::erase_if(known, [](const Known& k) { return k.memory.expired(); });
  for (const Known& k : known)
    if (k.wanted == wanted)
      if (auto memory = k.memory.lock()) return memory;
  dnnl::memory plain(wanted.given, engine(), const_cast<void*>(wanted.data));
  if (wanted.scale.empty() && wanted.given == wanted.wanted)
    return std::make_shared<const dnnl::memory>(plain);
  auto made = std::make_shared<dnnl::memory>(wanted.wanted, engine());
  reorder(wanted.scale.empty() ? plain : scaled(wanted), *made);
  known.push_back({wanted, made});
  return made;
}

}  // namespace fuseline::cpu
