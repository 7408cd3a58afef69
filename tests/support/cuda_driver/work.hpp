// What a stream or a graph of the simulated device does.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "support/cuda_driver/simulated.hpp"

struct CUmod_st {};
struct CUfunc_st {
  CUmod_st* module = nullptr;
  std::string name;
  fuseline::standin::Description description;
  bool unloaded = false;
};

// When it was last reached, by the clock of the host; 0: never.
struct CUevent_st {
  std::int64_t ns = 0;
};

namespace fuseline::standin {

struct Work {
  enum class Kind : std::uint8_t { kernel, copy, fill, event };
  Kind kind = Kind::kernel;
  Function function = nullptr;
  std::vector<std::uint64_t> values;
  std::int64_t blocks = 0;
  int threads = 0;
  std::uint64_t to = 0, from = 0;
  bool to_device = false, from_device = false;
  std::size_t bytes = 0;
  unsigned char byte = 0;
  Event event = nullptr;
};

// Work from what the driver is given; `work` is left alone where that is wrong.
Result kernel_work(Work& work, Function function, unsigned blocks, unsigned threads, void** params);
Result copy_work(Work& work, const CopyNode& node);

// Notes the time.
Result reach(Event event);

// success, or the fault of the device.
Result perform(const Work& work);

// Handles that are in use: a destroyed one is told from a live one.
template <class Object>
class Handles {
 public:
  Object* add(Object* object) {
    live_.insert(object);
    return object;
  }
  bool has(Object* object) const { return live_.contains(object); }
  bool remove(Object* object) {
    if (live_.erase(object) == 0) return false;
    delete object;
    return true;
  }
  const std::set<Object*>& all() const { return live_; }

 private:
  std::set<Object*> live_;
};

}  // namespace fuseline::standin
