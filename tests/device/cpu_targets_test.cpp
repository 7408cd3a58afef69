// Code for other processors than this one: older ones are run, AVX-512 is compiled.
#include <dlfcn.h>

#include "device/cpu_support.hpp"
#include "emit/llvm/codegen.hpp"
#include "support/arith_cases.hpp"
#include "support/memory_cases.hpp"

namespace fuseline::test {
namespace {

emit::Codegen& codegen() {
  void* library = dlopen(FUSELINE_BINARY_DIR "/lib/libfuseline_llvm.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto* open = reinterpret_cast<emit::OpenCodegen*>(dlsym(library, emit::open_codegen_symbol));
  return *open(emit::codegen_abi);
}

void* no_vector_library(const char* name) {
  return std::string_view(name).starts_with("_ZGV") ? nullptr : dlsym(RTLD_DEFAULT, name);
}
void* every_function(const char*) { return reinterpret_cast<void*>(&every_function); }

emit::CpuTraits traits(std::string cpu, std::string features) {
  return {codegen().host().triple, std::move(cpu), std::move(features), no_vector_library};
}

std::vector<LoopCase> all_cases(Shape shape) {
  std::vector<LoopCase> cases = intrinsic_cases(shape);
  for (auto more : {cast_cases(shape), value_cases(shape), memory_cases(shape)})
    for (LoopCase& c : more) cases.push_back(std::move(c));
  return cases;
}

// Every case, compiled for the given processor and run on this one.
void run_as(const emit::CpuTraits& cpu, Shape shape) {
  static int number = 0;
  for (const LoopCase& c : all_cases(shape)) {
    std::string symbol = fmt::format("{}_{}", c.kernel.name, number++);
    emit::CompiledObject object = codegen().compile(c.kernel, symbol, cpu);
    emit::KernelFunction* run = codegen().link(object.object, symbol);
    std::vector<Bytes> memory = c.before;
    std::vector<void*> pointers;
    std::vector<std::shared_ptr<void>> owners;
    Device& device = open_device("cpu");
    for (const Bytes& bytes : memory) {
      owners.push_back(device.allocate(bytes.size()));
      pointers.push_back(owners.back().get());
      if (!bytes.empty()) std::memcpy(pointers.back(), bytes.data(), bytes.size());
    }
    run(pointers.data(), c.params.data(), 0, c.blocks, c.blocks);
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (!memory[i].empty()) std::memcpy(memory[i].data(), pointers[i], memory[i].size());
    ASSERT_TRUE(matches(c, memory)) << cpu.cpu << " " << cpu.features;
  }
}

bool is_x86() { return codegen().host().triple.starts_with("x86_64"); }

TEST(CpuTargets, plain_x86_64_with_128_bit_vectors) {
  if (!is_x86()) GTEST_SKIP() << "this is no x86-64 processor";
  for (int lanes : {1, 16}) run_as(traits("x86-64", ""), {1, lanes});
}

TEST(CpuTargets, avx2_without_fma_f16c_and_libmvec) {
  if (!is_x86() || !__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  run_as(traits("x86-64", "+avx2,+popcnt"), {1, 32});
}

TEST(CpuTargets, avx512_compiles) {
  if (!is_x86()) GTEST_SKIP() << "this is no x86-64 processor";
  emit::CpuTraits cpu = traits("x86-64",
                               "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+avx2,+fma,+f16c,"
                               "+popcnt");
  cpu.resolve = every_function;
  for (int lanes : {16, 64})
    for (const LoopCase& c : all_cases({1, lanes}))
      ASSERT_FALSE(codegen().compile(c.kernel, c.kernel.name, cpu).object.empty());
}

}  // namespace
}  // namespace fuseline::test
