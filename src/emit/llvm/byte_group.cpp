// ByteGroup: loads of 16 bytes that may overlap, and the shuffles that widen channels.
#include "emit/llvm/byte_group.hpp"

#include <algorithm>

namespace fuseline::emit {

namespace {
constexpr int part_bytes = 16, part_pixels = 4;
}

bool ByteGroup::suits(int channels, int lanes) {
  bool power = (lanes & (lanes - 1)) == 0;
  return channels >= 2 && channels <= 4 && power && lanes * channels >= part_bytes;
}

ByteGroup::ByteGroup(Ir& ir, Value pointer, int channels, int lanes)
    : channels_(channels), lanes_(lanes) {
  int count = lanes / part_pixels;
  parts_in_register_ = std::min(count, ir.cpu().vector_bytes() / part_bytes);
  std::vector<Value> pieces;
  for (int i = 0; i < count; i += 2) load_pair(ir, pointer, i, pieces);
  std::size_t together = pieces.size() / static_cast<std::size_t>(count / parts_in_register_);
  for (auto piece = pieces.begin(); piece != pieces.end();) {
    auto end = piece + static_cast<std::ptrdiff_t>(together);
    registers_.push_back(ir.concat({piece, end}));
    piece = end;
  }
}

Value ByteGroup::load_bytes(Ir& ir, Value pointer, int offset, int bytes) {
  LLVMTypeRef type = ir.integer_type(8, bytes);
  return ir.load(type, ir.offset_address(ir.integer_type(8), pointer, offset, type), 1);
}

// Two parts by one load where it stays within the group: it starts so that the second part begins
// with its first pixel, and the first part ends with its last. Else by two loads.
void ByteGroup::load_pair(Ir& ir, Value pointer, int index, std::vector<Value>& pieces) {
  int total = lanes_ * channels_, stride = part_pixels * channels_;
  int first = index * stride, offset = first + stride - part_bytes;
  bool pair = parts_in_register_ > 1;
  if (pair && offset >= 0 && offset + 2 * part_bytes <= total) {
    pieces.push_back(load_bytes(ir, pointer, offset, 2 * part_bytes));
    shifts_.push_back(part_bytes - stride);
    shifts_.push_back(0);
    return;
  }
  std::vector<Value> loaded;
  for (int i = index; i < std::min(index + 2, lanes_ / part_pixels); ++i) {
    int start = std::min(i * stride, total - part_bytes);
    loaded.push_back(load_bytes(ir, pointer, start, part_bytes));
    shifts_.push_back(i * stride - start);
  }
  if (pair) loaded = {ir.concat(std::move(loaded))};
  pieces.insert(pieces.end(), loaded.begin(), loaded.end());
}

Value ByteGroup::words(Ir& ir, int low, int high) const {
  int bytes = parts_in_register_ * part_bytes;
  LLVMTypeRef words = ir.integer_type(32, bytes / 4);
  std::vector<Value> result;
  for (std::size_t r = 0; r < registers_.size(); ++r) {
    std::vector<int> mask;
    for (int i = 0; i < bytes / 4; ++i) {
      int lane = i / part_pixels;
      std::size_t part =
          r * static_cast<unsigned>(parts_in_register_) + static_cast<unsigned>(lane);
      int pixel = lane * part_bytes + shifts_[part] + i % part_pixels * channels_;
      int zero = bytes;  // the first lane of the second operand
      mask.insert(mask.end(), {pixel + low, zero, high < 0 ? zero : pixel + high, zero});
    }
    Value zero = LLVMConstNull(LLVMTypeOf(registers_[r]));
    Value shuffled = ir.shuffle(registers_[r], zero, mask);
    result.push_back(LLVMBuildBitCast(ir.builder(), shuffled, words, ""));
  }
  return ir.concat(std::move(result));
}

}  // namespace fuseline::emit
