// A list of what is alive, by address and order.
#include "device/cpu/onednn/weights.hpp"

#include <mutex>
#include <vector>

namespace fuseline::cpu {
namespace {

struct Known {
  const void* data;
  dnnl::memory::desc given, wanted;
  std::weak_ptr<const dnnl::memory> memory;
};

}  // namespace

void reorder(const dnnl::memory& from, dnnl::memory& to) {
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, const_cast<dnnl::memory&>(from), to);
  stream.wait();
}

std::shared_ptr<const dnnl::memory> prepared_weights(const void* data,
                                                     const dnnl::memory::desc& given,
                                                     const dnnl::memory::desc& wanted) {
  static std::mutex mutex;
  static std::vector<Known> known;
  std::lock_guard lock(mutex);
  std::erase_if(known, [](const Known& k) { return k.memory.expired(); });
  for (const Known& k : known)
    if (k.data == data && k.given == given && k.wanted == wanted)
      if (auto memory = k.memory.lock()) return memory;
  dnnl::memory plain(given, engine(), const_cast<void*>(data));
  if (given == wanted) return std::make_shared<const dnnl::memory>(plain);
  auto made = std::make_shared<dnnl::memory>(wanted, engine());
  reorder(plain, *made);
  known.push_back({data, given, wanted, made});
  return made;
}

}  // namespace fuseline::cpu
