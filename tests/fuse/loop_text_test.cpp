// The dump of Loop IR: its form, and that everything which decides the code changes it.
#include <gtest/gtest.h>

#include <functional>

#include "fuse/loop_builder.hpp"
#include "fuse/loop_ir.hpp"

namespace fuseline::loop {
namespace {

Kernel sample() {
  Kernel k;
  k.name = "sample";
  k.threads = 32;
  Builder b(k);
  int in = b.add_buffer({"in", DType::u8});
  int out = b.add_buffer({"out", DType::f16, true});
  b.add_buffer({"tile", DType::i32, true, Space::shared, 32});
  Id n = b.param(b.add_param({"n", DType::i64}));
  Id sixteen = b.integer(DType::i64, 16), block = b.block_id();
  Id at = b.mul(block, sixteen);
  b.if_then(b.lt(at, n), [&] {
    auto rgb = b.load_group(in, at, 3, 16, 16, true);
    Id x = b.cast(DType::f32, b.add(rgb[0], rgb[2]));
    Id half = b.real(DType::f32, 0.5, 16);
    b.store(out, at, b.round_to(DType::bf16, b.add(x, half)), 4);
  });
  b.for_range(at, n, n,
              [&](Id i) { b.cast(DType::i32, b.bitcast(DType::f64, i), CastMode::saturate); });
  b.barrier();
  return k;
}

TEST(LoopText, reads_like_this) {
  EXPECT_EQ(to_text(sample()),
            "kernel \"sample\" threads 32 values 16\n"
            "buffer \"in\" u8\n"
            "buffer \"out\" f16 written\n"
            "buffer \"tile\" i32 shared[32] written\n"
            "param \"n\" i64\n"
            "  %0 = param i64 0\n"
            "  %1 = constant i64 0x10\n"
            "  %2 = block_id i64\n"
            "  %3 = compute i64 mul %2 %1\n"
            "  %4 = compute bool lt %3 %0\n"
            "  if_then %4\n"
            "    %5..%7 = load_group u8x16 buffer 0 channels 3 align 16 streaming %3\n"
            "    %8 = compute u8x16 add %5 %7\n"
            "    %9 = cast f32x16 %8\n"
            "    %10 = constant f32x16 0x3f000000 (0.5)\n"
            "    %11 = compute f32x16 add %9 %10\n"
            "    %12 = round_to f32x16 via bf16 %11\n"
            "    store f32x16 buffer 1 align 4 %3 %12\n"
            "  else\n"
            "  %13 = for_range i64 %3 %0 %0\n"
            "    %14 = bitcast f64 %13\n"
            "    %15 = cast i32 saturate %14\n"
            "  barrier\n");
}

TEST(LoopText, is_the_same_for_the_same_kernel) { EXPECT_EQ(to_text(sample()), to_text(sample())); }

Inst& load(Kernel& k) { return k.body.insts[5].blocks[0].insts[0]; }

TEST(LoopText, changes_with_all_that_decides_the_code) {
  const std::pair<const char*, std::function<void(Kernel&)>> changes[] = {
      {"name", [](Kernel& k) { k.name = "other"; }},
      {"threads", [](Kernel& k) { k.threads = 64; }},
      {"values", [](Kernel& k) { ++k.values; }},
      {"buffer name", [](Kernel& k) { k.buffers[0].name = "x"; }},
      {"buffer type", [](Kernel& k) { k.buffers[0].dtype = DType::i8; }},
      {"written", [](Kernel& k) { k.buffers[0].written = true; }},
      {"space", [](Kernel& k) { k.buffers[2].space = Space::global; }},
      {"shared size", [](Kernel& k) { k.buffers[2].elements = 33; }},
      {"param name", [](Kernel& k) { k.params[0].name = "m"; }},
      {"param type", [](Kernel& k) { k.params[0].dtype = DType::u64; }},
      {"constant", [](Kernel& k) { k.body.insts[1].imm = 17; }},
      {"type", [](Kernel& k) { k.body.insts[1].type.dtype = DType::u64; }},
      {"operation", [](Kernel& k) { k.body.insts[2].op = Op::block_count; }},
      {"intrinsic", [](Kernel& k) { k.body.insts[3].fn = Intrinsic::sub; }},
      {"operand", [](Kernel& k) { k.body.insts[3].args[0] = 0; }},
      {"lanes", [](Kernel& k) { load(k).type.lanes = 8; }},
      {"buffer", [](Kernel& k) { load(k).buffer = 1; }},
      {"channels", [](Kernel& k) { load(k).channels = 4; }},
      {"alignment", [](Kernel& k) { load(k).align = 8; }},
      {"streaming", [](Kernel& k) { load(k).streaming = false; }},
      {"result", [](Kernel& k) { load(k).result = 99; }},
      {"rounding", [](Kernel& k) { k.body.insts[5].blocks[0].insts[5].imm = 9; }},
      {"cast mode", [](Kernel& k) { k.body.insts[6].blocks[0].insts[1].mode = CastMode::plain; }},
      {"branch",
       [](Kernel& k) { std::swap(k.body.insts[5].blocks[0], k.body.insts[5].blocks[1]); }},
      {"instruction", [](Kernel& k) { k.body.insts.pop_back(); }},
  };
  std::string text = to_text(sample());
  for (const auto& [what, change] : changes) {
    Kernel k = sample();
    change(k);
    EXPECT_NE(to_text(k), text) << what;
  }
}

TEST(LoopText, names_cannot_imitate_other_lines) {
  Kernel a = sample(), b = sample();
  a.buffers[0].name = "in\" u8\nbuffer \"more";
  b.buffers[0].name = "in";
  b.buffers.insert(b.buffers.begin() + 1, {"more", DType::u8});
  EXPECT_NE(to_text(a), to_text(b));
  EXPECT_EQ(to_text(a).find("\nbuffer \"more"), std::string::npos);
}

}  // namespace
}  // namespace fuseline::loop
