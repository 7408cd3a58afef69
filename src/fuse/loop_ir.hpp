// Loop IR: one kernel as structured code, ready to be printed as CUDA C or built as LLVM IR.
//
// A kernel runs as `blocks` independent blocks of `threads` threads (1 thread on CPUs, where the
// body is run once a block). Values are in single assignment; a value has 1 or N lanes: CUDA
// prints lanes as unrolled registers, LLVM as vectors. The registers know bool, integers, f32 and
// f64; f16 and bf16 exist in memory only (load widens to f32, store rounds to nearest even).
// A constant, parameter, variable or other value is in scope from its definition to the end of
// its block, nested blocks included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuseline/dtype.hpp"
#include "graph/intrinsics.hpp"

namespace fuseline::loop {

struct Type {
  DType dtype = DType::i64;
  int lanes = 1;
  bool operator==(const Type&) const = default;
};

using Id = std::uint32_t;
inline constexpr Id no_id = ~Id{0};

// Operands: args[i]. "index" is a 1-lane i32 or i64 element index (not bytes).
enum class Op : std::uint8_t {
  constant,      // imm: the bits of one element of type.dtype, zero-extended; every lane equal
  param,         // imm: position in Kernel::params
  block_id,      // i64
  block_count,   // i64: blocks in this launch
  thread_id,     // i32: 0 <= thread_id < thread_count
  thread_count,  // i32: threads a block of this launch, a multiple of 32 up to Kernel::threads
  compute,       // fn(args...): see intrinsics.def. Here: integer divisors are never 0 and never
                 // overflow, shift counts are below the width (the builder has guarded them)
  select,        // args: condition (bool, same lanes), if true, if false
  cast,          // args[0] to type.dtype; see CastMode
  bitcast,       // same size: f32 <-> u32/i32, f64 <-> u64/i64
  round_to,      // f32 -> f32 through mem_type (f16 or bf16), nearest even
  splat,         // 1 lane -> type.lanes
  ramp,          // integer: args[0] + {0, 1, ..., lanes-1}
  reduce_lanes,  // fn over the lanes of args[0] by a fixed halving tree: lane i with lane i + n/2
  count_lanes,   // bool lanes -> i32: how many are true
  load,          // buffer[index + lane]                 args: index
  load_group,    // result c, lane l = buffer[index + l * channels + c]; `channels` results
  gather,        // buffer[index lane]                   args: index with lanes
  store,         // buffer[index + lane] = value         args: index, value
  store_group,   // buffer[index + l * channels + c] = value c   args: index, value 0, 1, ...
  scatter,       // buffer[index lane] = value           args: index with lanes, value
  var,           // a mutable variable with the initial value args[0]; use through get and set
  get,           // args: var
  set,           // args: var, value
  for_range,     // for (result = args[0]; result < args[1]; result += args[2]) blocks[0]
  if_then,       // if (args[0]) blocks[0] else blocks[1] (blocks[1] may be empty)
  barrier,       // all threads of the block; never in divergent code
  shuffle_down,  // value of the thread args[1] places further in the warp   args: value, distance
  ballot_count,  // bool -> i32: threads of the warp for which args[0] holds (all threads take part)
  warp_sum,      // sum over the warp, right in its first thread (all take part); i32
  atomic_add,    // old value of buffer[index], which gains args[1]; i32, u32, u64; relaxed
  fence,         // writes before it are visible to all blocks before writes after it (release and
                 // acquire at device scope)
};

enum class CastMode : std::uint8_t {
  plain,     // int -> int wraps; int -> float nearest even; x -> bool is x != 0;
             // float -> int truncates and the builder knows that it is in range
  saturate,  // float -> int truncates, out of range goes to the limit, NaN to 0
};

struct Inst;
struct Block {
  std::vector<Inst> insts;
};

struct Inst {
  Op op = Op::constant;
  Type type;          // of the result (the value's type for store and set)
  Id result = no_id;  // first result; load_group defines result .. result + channels - 1
  std::vector<Id> args;
  std::uint64_t imm = 0;
  int buffer = -1;         // position in Kernel::buffers
  int channels = 1;        // load_group, store_group
  int align = 0;           // loads and stores: known alignment in bytes of the first element;
                           // 0 = that of one element
  bool streaming = false;  // loads and stores: touched once, need not stay in a cache
  Intrinsic fn = Intrinsic::add;
  CastMode mode = CastMode::plain;
  std::vector<Block> blocks;
};

enum class Space : std::uint8_t { global, shared };

struct Buffer {
  std::string name;
  DType dtype = DType::u8;
  bool written = false;
  Space space = Space::global;
  std::int64_t elements = 0;  // shared arrays only
};

struct Param {
  std::string name;
  DType dtype = DType::i64;  // passed as 8 bytes: the bits of the value, zero-extended
};

struct Kernel {
  std::string name;             // a C identifier
  std::vector<Buffer> buffers;  // global ones become pointer arguments, in this order
  std::vector<Param> params;    // scalar arguments behind the pointers
  int threads = 1;              // a block at most; a multiple of 32 when above 1
  Block body;
  Id values = 0;  // ids used: 0 .. values - 1
  // CUDA: blocks that a multiprocessor must hold at once, which limits registers; 0: no wish.
  int resident_blocks = 0;
};

// Throws InternalError with the kernel's text when a rule above is broken.
void verify(const Kernel& kernel);
// A dump for people and for hashing: everything that decides the generated code.
std::string to_text(const Kernel& kernel);

}  // namespace fuseline::loop
