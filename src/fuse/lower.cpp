// Lowering: the loop nests of the three strategies.
#include "fuse/lower.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "fuse/lower_reduce.hpp"
#include "fuse/lower_scalars.hpp"

namespace fuseline {

using loop::Id;

namespace {

class Lowering {
 public:
  Lowering(const KernelPlan& plan, std::string name, std::vector<ParamArgument> params)
      : plan_(plan), region_(*plan.region), builder_(lowered_.kernel) {
    lowered_.kernel.name = std::move(name);
    lowered_.kernel.threads = most_threads(plan);
    lowered_.params = std::move(params);
  }

  LoweredKernel run() {
    add_buffers();
    ScalarLowering scalars(plan_, builder_, lowered_.params, source_buffers_);
    ReductionLowering reductions(plan_, builder_, scalars, lowered_);
    s_ = &scalars;
    r_ = &reductions;
    switch (plan_.strategy) {
      case Strategy::flat:
        gpu() ? flat_gpu() : flat_cpu();
        break;
      case Strategy::row:
        gpu() ? row_gpu() : row_cpu();
        break;
      case Strategy::column:
        gpu() ? column_gpu() : column_cpu();
        break;
    }
    return std::move(lowered_);
  }

 private:
  bool gpu() const { return plan_.target.block_threads > 1; }
  int last_axis() const { return static_cast<int>(plan_.axes.size()) - 1; }
  const Dim& extent(int axis) const { return plan_.axes[static_cast<std::size_t>(axis)].extent; }
  Id index(std::int64_t value) { return s_->index(value); }

  void add_buffers() {
    using Kind = BufferArgument::Kind;
    auto add = [&](std::string name, DType dtype, bool written, Kind kind, std::size_t position) {
      lowered_.buffers.push_back({kind, static_cast<int>(position), dtype});
      return builder_.add_buffer({std::move(name), dtype, written});
    };
    for (std::size_t i = 0; i < region_.sources.size(); ++i)
      source_buffers_.push_back(
          add(fmt::format("in{}", i), region_.sources[i].dtype, false, Kind::source, i));
    for (std::size_t i = 0; i < region_.points.size(); ++i)
      point_buffers_.push_back(
          add(fmt::format("out{}", i), region_.points[i].dtype, true, Kind::point, i));
    for (std::size_t i = 0; i < region_.results.size(); ++i)
      result_buffers_.push_back(
          add(fmt::format("res{}", i), region_.results[i].dtype, true, Kind::result, i));
  }

  // ---- pieces that the strategies share

  std::vector<ScalarId> body_roots() const {
    std::vector<ScalarId> roots;
    for (const RegionOutput& output : region_.points)
      roots.insert(roots.end(), output.scalars.begin(), output.scalars.end());
    for (const RegionReduction& reduction : region_.reductions) {
      roots.push_back(reduction.value);
      if (reduction.with_index) roots.push_back(reduction.index);
    }
    return roots;
  }

  void hoist_row() {
    s_->hoist(body_roots());
    for (const Access& access : plan_.points) s_->hoist_base(access);
  }

  // Sets the coordinates of axes [first, last) from their row-major position.
  void set_coordinates(int first, int last, Id position) {
    for (int axis = last - 1; axis >= first; --axis) {
      if (axis == first) {
        s_->set_coordinate(axis, position);
        continue;
      }
      Id size = s_->size(extent(axis));
      s_->set_coordinate(axis, builder_.rem(position, size));
      position = builder_.div(position, size);
    }
  }

  void store_points() {
    for (std::size_t i = 0; i < region_.points.size(); ++i)
      store(point_buffers_[i], region_.points[i], plan_.points[i], true);
  }

  void store(int buffer, const RegionOutput& output, const Access& access, bool streamed) {
    bool streaming = streamed && gpu() && plan_.strategy == Strategy::flat;
    auto channels = static_cast<std::int64_t>(output.scalars.size());
    std::vector<Id> values;
    for (ScalarId scalar : output.scalars)
      values.push_back(builder_.cast(register_type(output.dtype), s_->wide(scalar)));
    Id at = s_->address(access);
    const Dim& step = access.coefficients[static_cast<std::size_t>(plan_.vector_axis())];
    int lanes = s_->lanes();
    bool full = plan_.guards.aligned && lanes == plan_.lanes;
    int align = full && lanes * static_cast<int>(size_of(output.dtype)) % 16 == 0 ? 16 : 0;
    if (lanes == 1 && channels > 1) {
      for (std::int64_t c = 0; c < channels; ++c)
        builder_.store(buffer, builder_.add(at, index(c)), values[static_cast<std::size_t>(c)]);
    } else if (lanes == 1 || (channels == 1 && step == Dim(1))) {
      builder_.store(buffer, at, values[0], lanes > 1 ? align : 0, lanes > 1 && streaming);
    } else if (step == Dim(channels)) {
      builder_.store_group(buffer, at, values, align, streaming);
    } else {
      Id steps =
          builder_.mul(builder_.ramp(index(0), lanes), builder_.splat(s_->size(step), lanes));
      for (std::int64_t c = 0; c < channels; ++c) {
        Id first = builder_.splat(builder_.add(at, index(c)), lanes);
        builder_.scatter(buffer, builder_.add(first, steps), values[static_cast<std::size_t>(c)]);
      }
    }
  }

  // The results of the kept coordinates that are set, from the reductions' final values.
  void store_results() {
    s_->enter();
    for (std::size_t i = 0; i < region_.results.size(); ++i)
      store(result_buffers_[i], region_.results[i], plan_.results[i], false);
    s_->leave();
  }

  // One step of the body at the current coordinates.
  void body(int lanes) {
    s_->enter();
    s_->set_lanes(lanes);
    store_points();
    r_->accumulate();
    s_->set_lanes(1);
    s_->leave();
  }

  // Lanes from `begin` to `end`, then single elements.
  void vector_loop(int axis, Id begin, Id end) {
    Id lanes = index(plan_.lanes);
    Id vector_end = begin;
    if (plan_.lanes > 1) {
      Id count = builder_.div(builder_.sub(end, begin), lanes);
      vector_end = builder_.add(begin, builder_.mul(count, lanes));
      builder_.for_range(begin, vector_end, lanes, [&](Id i) {
        s_->set_coordinate(axis, i);
        body(plan_.lanes);
      });
    }
    builder_.for_range(vector_end, end, index(1), [&](Id i) {
      s_->set_coordinate(axis, i);
      body(1);
    });
  }

  // ---- CPU: a block walks its share of rows

  struct Share {
    Id begin, end;
  };

  // [block * chunk, block * chunk + chunk) cut at `total`.
  Share share(Id block, const Dim& chunk, const Dim& total) {
    Id begin = builder_.mul(block, s_->size(chunk));
    return {begin, builder_.min(builder_.add(begin, s_->size(chunk)), s_->size(total))};
  }

  // Rows and a chunk of the inner axis, for flat and column.
  template <class Row>
  void for_each_row(int inner_axis, Row&& row) {
    Id block = builder_.cast(s_->index_type(), builder_.block_id());
    if (inner_axis == 0) {  // one row: blocks cut it
      row(share(block, Dim::symbol("$inner_chunk"), extent(0)));
      return;
    }
    Id chunks = s_->size(Dim::symbol("$inner_chunks"));
    Share inner =
        share(builder_.rem(block, chunks), Dim::symbol("$inner_chunk"), extent(inner_axis));
    Share rows =
        share(builder_.div(block, chunks), Dim::symbol("$row_chunk"), Dim::symbol("$rows"));
    builder_.for_range(rows.begin, rows.end, index(1), [&](Id r) {
      s_->enter();
      set_coordinates(0, inner_axis, r);
      row(inner);
      s_->leave();
    });
  }

  // The lanes' range at every place of a share of the row axis.
  template <class Row>
  void for_each_vector_row(Row&& row) {
    int axis = plan_.row_axis(), lanes_axis = plan_.vector_axis();
    for_each_row(axis, [&](Share share) {
      if (axis == lanes_axis) return row(share);
      builder_.for_range(share.begin, share.end, index(1), [&](Id i) {
        s_->enter();
        s_->set_coordinate(axis, i);
        row(Share{index(0), s_->size(extent(lanes_axis))});
        s_->leave();
      });
    });
  }

  void flat_cpu() {
    r_->begin_block();
    for_each_vector_row([&](Share inner) {
      hoist_row();
      vector_loop(last_axis(), inner.begin, inner.end);
    });
    r_->end_block([&] { store_results(); });
  }

  // All reduced axes but the last as loops, then `innermost` at each of their coordinates.
  template <class Body>
  void reduced_loops(int axis, int last, Body&& innermost) {
    if (axis >= last) {
      innermost();
      return;
    }
    builder_.for_range(index(0), s_->size(extent(axis)), index(1), [&](Id i) {
      s_->enter();
      s_->set_coordinate(axis, i);
      reduced_loops(axis + 1, last, innermost);
      s_->leave();
    });
  }

  void row_cpu() {
    int kept = plan_.kept_axes();
    Id block = builder_.cast(s_->index_type(), builder_.block_id());
    Share rows = share(block, Dim::symbol("$row_chunk"), Dim::symbol("$rows"));
    builder_.for_range(rows.begin, rows.end, index(1), [&](Id r) {
      s_->enter();
      set_coordinates(0, kept, r);
      r_->begin_row();
      reduced_loops(kept, last_axis(), [&] {
        hoist_row();
        vector_loop(last_axis(), index(0), s_->size(extent(last_axis())));
      });
      r_->end_row([&] { store_results(); });
      s_->leave();
    });
  }

  void column_body(int lanes) {
    s_->enter();
    s_->set_lanes(lanes);
    r_->begin_column(lanes);
    reduced_loops(plan_.kept_axes(), last_axis() + 1, [&] { body_of_column(lanes); });
    r_->end_column();
    s_->set_lanes(lanes);
    store_results();
    s_->set_lanes(1);
    s_->leave();
  }

  void body_of_column(int lanes) {
    s_->enter();
    s_->set_lanes(lanes);
    store_points();
    r_->accumulate();
    s_->leave();
  }

  void column_cpu() {
    int inner_axis = plan_.vector_axis();
    for_each_vector_row([&](Share inner) {
      Id lanes = index(plan_.lanes);
      Id count = builder_.div(builder_.sub(inner.end, inner.begin), lanes);
      Id vector_end = builder_.add(inner.begin, builder_.mul(count, lanes));
      auto step = [&](Id begin, Id end, int width) {
        builder_.for_range(begin, end, index(width), [&](Id i) {
          s_->enter();
          s_->set_coordinate(inner_axis, i);
          column_body(width);
          s_->leave();
        });
      };
      if (plan_.lanes > 1) step(inner.begin, vector_end, plan_.lanes);
      step(plan_.lanes > 1 ? vector_end : inner.begin, inner.end, 1);
    });
  }

  // ---- CUDA: a thread has one group of lanes

  Id thread_index() { return builder_.cast(s_->index_type(), builder_.thread_id()); }
  Id thread_count() { return builder_.cast(s_->index_type(), builder_.thread_count()); }

  Id global_thread() {
    Id block = builder_.cast(s_->index_type(), builder_.block_id());
    return builder_.add(builder_.mul(block, thread_count()), thread_index());
  }

  // The lanes at `start`, or what is left of them one by one.
  void group_of_lanes(int axis, Id start) {
    Id end = s_->size(extent(axis));
    if (plan_.lanes == 1) {
      s_->set_coordinate(axis, start);
      body(1);
      return;
    }
    Id next = builder_.add(start, index(plan_.lanes));
    auto full = [&] {
      s_->set_coordinate(axis, start);
      body(plan_.lanes);
    };
    auto rest = [&] {
      builder_.for_range(start, end, index(1), [&](Id i) {
        s_->set_coordinate(axis, i);
        body(1);
      });
    };
    builder_.if_then(builder_.le(next, end), full, rest);
  }

  // Splits a position among rows x groups and sets the coordinates; returns the first lane.
  Id locate(int first_axis, int inner_axis, Id position) {
    if (first_axis == inner_axis) return builder_.mul(position, index(plan_.lanes));
    Id groups = s_->size(Dim::symbol("$groups"));
    set_coordinates(first_axis, inner_axis, builder_.div(position, groups));
    return builder_.mul(builder_.rem(position, groups), index(plan_.lanes));
  }

  void flat_gpu() {
    r_->begin_block();
    Id total = s_->size(Dim::symbol("$rows") * Dim::symbol("$groups"));
    auto group = [&](Id position) {
      s_->enter();
      Id start = locate(0, last_axis(), position);
      hoist_row();
      group_of_lanes(last_axis(), start);
      s_->leave();
    };
    if (region_.reductions.empty()) {
      Id thread = global_thread();
      builder_.if_then(builder_.lt(thread, total), [&] { group(thread); });
      return;
    }
    Id share = builder_.mul(thread_count(), s_->size(Dim::symbol("$thread_groups")));
    Id first = builder_.mul(builder_.cast(s_->index_type(), builder_.block_id()), share);
    Id end = builder_.min(builder_.add(first, share), total);
    builder_.for_range(builder_.add(first, thread_index()), end, thread_count(), group);
    r_->end_block([&] { store_results(); });
  }

  void row_gpu() {
    int kept = plan_.kept_axes();
    set_coordinates(0, kept, builder_.cast(s_->index_type(), builder_.block_id()));
    r_->begin_row();
    Id total = s_->size(Dim::symbol("$rows") * Dim::symbol("$groups"));
    builder_.for_range(thread_index(), total, thread_count(), [&](Id position) {
      s_->enter();
      Id start = locate(kept, last_axis(), position);
      hoist_row();
      group_of_lanes(last_axis(), start);
      s_->leave();
    });
    r_->end_row([&] { store_results(); });
  }

  void column_gpu() {
    Id thread = global_thread();
    Id total = s_->size(Dim::symbol("$rows") * Dim::symbol("$groups"));
    int inner_axis = plan_.vector_axis();
    builder_.if_then(builder_.lt(thread, total), [&] {
      s_->enter();
      Id start = locate(0, inner_axis, thread);
      s_->set_coordinate(inner_axis, start);
      column_body(1);
      s_->leave();
    });
  }

  const KernelPlan& plan_;
  const Region& region_;
  LoweredKernel lowered_;
  loop::Builder builder_;
  std::vector<int> source_buffers_, point_buffers_, result_buffers_;
  ScalarLowering* s_ = nullptr;
  ReductionLowering* r_ = nullptr;
};

void find_read(const loop::Block& block, std::vector<bool>& read) {
  for (const loop::Inst& inst : block.insts) {
    bool writes = inst.op == loop::Op::set;
    for (std::size_t i = writes ? 1 : 0; i < inst.args.size(); ++i) read[inst.args[i]] = true;
    for (const loop::Block& inner : inst.blocks) find_read(inner, read);
  }
}

// Values and variables that nothing reads: an index search leaves its winner's value behind.
bool drop_unread(loop::Block& block, const std::vector<bool>& read) {
  auto is_unread = [&](const loop::Inst& inst) {
    using loop::Op;
    if (inst.op == Op::set) return !read[inst.args[0]];
    bool pure = inst.op <= Op::count_lanes || inst.op == Op::var || inst.op == Op::get;
    return pure && inst.result != loop::no_id && !read[inst.result];
  };
  bool dropped = std::erase_if(block.insts, is_unread) > 0;
  for (loop::Inst& inst : block.insts)
    for (loop::Block& inner : inst.blocks) dropped = drop_unread(inner, read) || dropped;
  return dropped;
}

void drop_unread(loop::Kernel& kernel) {
  std::vector<bool> read;
  do {
    read.assign(kernel.values, false);
    find_read(kernel.body, read);
  } while (drop_unread(kernel.body, read));
}

}  // namespace

LoweredKernel lower(const KernelPlan& plan, std::string name) {
  // The first pass only finds the parameters; the second reads all of them at the start.
  std::vector<ParamArgument> params = Lowering(plan, name, {}).run().params;
  LoweredKernel lowered = Lowering(plan, std::move(name), std::move(params)).run();
  drop_unread(lowered.kernel);
  loop::verify(lowered.kernel);
  return lowered;
}

}  // namespace fuseline
