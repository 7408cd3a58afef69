// Which builder serves which operation; copies of bits.
#include "kernels/schedule.hpp"

#include "base/fail.hpp"
#include "kernels/builders.hpp"
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

DType bits_type(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

}  // namespace

Schedule copy_schedule(const Request& request, const Target& target) {
  const Operand& from = request.operands[0];
  DType bits = bits_type(from.dtype);
  bool to_bool = is_bool(request.result.dtype);
  ItemKernel k("fl_" + std::string(name_of(request.op)), target);
  int in = k.read("in", bits, operand_argument(0));
  int out = k.write("out", to_bool ? DType::bool_ : bits, result_argument);
  k.each_element(element_count(from.shape), [&](Id i) {
    Id value = k.builder().load(in, offset_of(k, "in", from, i));
    k.builder().store(out, i, to_bool ? k.builder().cast(DType::bool_, value) : value);
  });
  return {{k.finish()}, {}};
}

Schedule make_schedule(const Request& request, const Target& target) {
  if (element_count(request.result.shape) == 0) return {};
  switch (request.op) {
    case OpCode::sort_indices:
      return sort_schedule(request, target);
    case OpCode::scan:
      return scan_schedule(request, target);
    case OpCode::scatter:
      return scatter_schedule(request, target);
    case OpCode::suppress:
      return suppress_schedule(request, target);
    case OpCode::bit_cast:
      return copy_schedule(request, target);
    default:
      fail_internal("an operation without kernels of its own");
  }
}

}  // namespace fuseline::kernels
