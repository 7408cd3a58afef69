// Planted faults: small changes of Loop IR as a broken emitter or planner would make them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/device.hpp"

namespace fuseline::fuzz {

struct Mutation {
  std::string name;
  std::function<bool(loop::Kernel&)> apply;  // true when there was something to change
};
const std::vector<Mutation>& mutations();

// Another device whose kernels are mutated before they are compiled.
class MutatingDevice final : public Device {
 public:
  MutatingDevice(Device& inner, const Mutation& mutation) : inner_(inner), mutation_(mutation) {}
  DeviceId id() const override { return inner_.id(); }
  const Target& target() const override { return inner_.target(); }
  std::string identity() const override { return inner_.identity(); }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override {
    loop::Kernel changed = kernel;
    applied_ = mutation_.apply(changed) || applied_;
    return inner_.compile(changed);
  }
  std::string source_of(const loop::Kernel& kernel) override { return inner_.source_of(kernel); }
  std::unique_ptr<Queue> make_queue() override { return inner_.make_queue(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  std::unique_ptr<Arena> make_arena() override { return inner_.make_arena(); }
  bool applied() const { return applied_; }
  void reset() { applied_ = false; }

 private:
  Device& inner_;
  const Mutation& mutation_;
  bool applied_ = false;
};

}  // namespace fuseline::fuzz
