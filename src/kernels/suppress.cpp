// Non-maximum suppression: a block a group. Box after box, one that still stays takes away those
// behind it that overlap it too much.
#include "fuse/loop_ops.hpp"
#include "kernels/builders.hpp"
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

struct Box {
  Id y0, x0, y1, x1;
};

class Suppression {
 public:
  Suppression(const Request& request, const Target& target)
      : k_("fl_suppress", target), b_(k_.builder()), request_(request) {
    corners_ = k_.read("boxes", DType::f32, operand_argument(0));
    candidates_ = k_.read("candidates", DType::bool_, operand_argument(1));
    overlap_ = k_.read("overlap", DType::f32, operand_argument(2));
    most_ = k_.read("most", DType::i64, operand_argument(3));
    stays_ = k_.write("stays", DType::bool_, result_argument);
    const Shape &boxes = request.operands[0].strides, &flags = request.operands[1].strides;
    group_step_ = k_.size("group_step", boxes[0]);
    box_step_ = k_.size("box_step", boxes[1]);
    corner_step_ = k_.size("corner_step", boxes[2]);
    flag_group_ = k_.size("flag_group", flags[0]);
    flag_step_ = k_.size("flag_step", flags[1]);
    count_ = k_.size("count", request.result.shape[1]);
  }

  Launch run() {
    k_.each_block(request_.result.shape[0], [&](Id group) {
      group_ = group;
      first_ = b_.mul(group, count_);
      Id thread = k_.thread(), threads = k_.threads();
      b_.for_range(thread, count_, threads, [&](Id i) {
        Id at = b_.add(b_.mul(group, flag_group_), b_.mul(i, flag_step_));
        b_.store(stays_, b_.add(first_, i), b_.load(candidates_, at));
      });
      k_.barrier();
      walk(thread, threads);
    });
    return k_.finish();
  }

 private:
  void walk(Id thread, Id threads) {
    Id one = k_.number(1), kept = b_.var(k_.number(0));
    Id most = b_.load(most_, k_.number(0)), limit = b_.load(overlap_, k_.number(0));
    b_.for_range(k_.number(0), count_, one, [&](Id i) {
      Id own = b_.add(first_, i);
      Id alive = b_.load(stays_, own);
      Id has_room = b_.lt(b_.get(kept), most);
      // Everybody has read the flag before anybody takes it away.
      k_.barrier();
      b_.if_then(alive, [&] {
        b_.if_then(
            has_room,
            [&] {
              b_.set(kept, b_.add(b_.get(kept), one));
              Box box = load(i);
              b_.for_range(b_.add(b_.add(i, one), thread), count_, threads, [&](Id j) {
                b_.if_then(overlap_too_much(box, load(j), limit), [&] { drop(b_.add(first_, j)); });
              });
            },
            [&] { b_.if_then(b_.eq(thread, k_.number(0)), [&] { drop(own); }); });
      });
      k_.barrier();
    });
  }

  void drop(Id at) { b_.store(stays_, at, b_.integer(DType::bool_, 0)); }

  Box load(Id i) {
    Id base = b_.add(b_.mul(group_, group_step_), b_.mul(i, box_step_));
    auto c = [&](int k) {
      return b_.load(corners_, b_.add(base, b_.mul(k_.number(k), corner_step_)));
    };
    Id y0 = c(0), x0 = c(1), y1 = c(2), x1 = c(3);
    return {b_.min(y0, y1), b_.min(x0, x1), b_.max(y0, y1), b_.max(x0, x1)};
  }

  Id area(const Box& box) { return b_.mul(b_.sub(box.y1, box.y0), b_.sub(box.x1, box.x0)); }

  Id overlap_too_much(const Box& a, const Box& c, Id limit) {
    Id zero = b_.real(DType::f32, 0);
    Id height = b_.max(zero, b_.sub(b_.min(a.y1, c.y1), b_.max(a.y0, c.y0)));
    Id width = b_.max(zero, b_.sub(b_.min(a.x1, c.x1), b_.max(a.x0, c.x0)));
    Id common = b_.mul(height, width);
    Id together = b_.sub(b_.add(area(a), area(c)), common);
    Id above = b_.lt(limit, b_.div(common, together));
    return b_.compute(Intrinsic::bit_and, {b_.lt(zero, together), above});
  }

  ItemKernel k_;
  loop::Builder& b_;
  const Request& request_;
  int corners_, candidates_, overlap_, most_, stays_;
  Id group_step_, box_step_, corner_step_, flag_group_, flag_step_, count_;
  Id group_ = 0, first_ = 0;
};

}  // namespace

Schedule suppress_schedule(const Request& request, const Target& target) {
  return {{Suppression(request, target).run()}, {}};
}

}  // namespace fuseline::kernels
