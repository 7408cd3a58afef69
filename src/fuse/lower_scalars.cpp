// Scalars of a Region as Loop IR values.
#include "fuse/lower_scalars.hpp"

#include <algorithm>
#include <bit>

#include "base/fail.hpp"

namespace fuseline {

using loop::Id;

namespace {

std::string name_of_param(const ParamArgument& argument) {
  if (auto* dim = std::get_if<Dim>(&argument.value))
    return fmt::format("{}:{}", name_of(argument.dtype), dim->to_string());
  return fmt::format("{}:#{}", name_of(argument.dtype), std::get<ScalarId>(argument.value));
}

}  // namespace

ScalarLowering::ScalarLowering(const KernelPlan& plan, loop::Builder& builder,
                               std::vector<ParamArgument>& params,
                               const std::vector<int>& source_buffers)
    : plan_(plan),
      region_(*plan.region),
      builder_(builder),
      params_(params),
      source_buffers_(source_buffers) {
  coordinates_.assign(plan.axes.size(), loop::no_id);
  find_varying();
  find_narrow();
  enter();
  for (std::size_t i = 0; i < params_.size(); ++i) {
    // A name says what the value is, but never a size or symbol of the graph: the text of the
    // kernel is its identity, and equal kernels of different graphs are one.
    int position = builder_.add_param({fmt::format("p{}", i), params_[i].dtype});
    frames_.back().named[name_of_param(params_[i])] = builder_.param(position);
  }
}

bool ScalarLowering::read_varies(ScalarId id) const {
  auto found = plan_.reads.find(id);
  if (found == plan_.reads.end()) return false;  // the arguments decide
  return found->second.coefficients[static_cast<std::size_t>(plan_.vector_axis())] != Dim(0);
}

void ScalarLowering::find_varying() {
  varies_.assign(region_.dag.size(), false);
  for (ScalarId id = 0; id < region_.dag.size(); ++id) {
    const ScalarNode& n = region_.dag[id];
    if (n.kind == ScalarKind::coord)
      varies_[id] = plan_.axis_of[static_cast<std::size_t>(n.index)] == plan_.vector_axis();
    else if (n.kind == ScalarKind::reduced)
      varies_[id] = plan_.strategy == Strategy::column;
    else if (n.kind == ScalarKind::read && plan_.reads.contains(id))
      varies_[id] = read_varies(id);
    else
      varies_[id] =
          std::any_of(n.args.begin(), n.args.end(), [&](ScalarId arg) { return varies_[arg]; });
  }
}

// Index arithmetic whose range is known to fit is done in 32 bits: twice the lanes of a register,
// and on a GPU one instruction instead of several.
void ScalarLowering::find_narrow() {
  narrow_.assign(region_.dag.size(), false);
  for (ScalarId id = 0; id < region_.dag.size(); ++id) {
    const ScalarNode& n = region_.dag[id];
    if (n.dtype != DType::i64) continue;
    Range range = region_.dag.range(id), fits = full_range(DType::i32);
    if (range.low < fits.low || range.high > fits.high) continue;
    bool shift = n.fn == Intrinsic::shl || n.fn == Intrinsic::shr;
    narrow_[id] = n.kind == ScalarKind::literal || n.kind == ScalarKind::coord ||
                  n.kind == ScalarKind::select || region_.dag.is_uniform(id) ||
                  (n.kind == ScalarKind::apply && !shift) ||
                  (n.kind == ScalarKind::cast && !is_float(region_.dag[n.args[0]].dtype));
  }
}

DType ScalarLowering::type_of(ScalarId id) const {
  return narrow_[id] ? DType::i32 : register_type(region_.dag[id].dtype);
}

Id* ScalarLowering::known(const std::string& name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
    if (auto found = frame->named.find(name); found != frame->named.end()) return &found->second;
  return nullptr;
}

Id ScalarLowering::param(ParamArgument argument) {
  std::string name = name_of_param(argument);
  if (Id* id = known(name)) return *id;
  // First pass: note it, and read it here; the second pass reads it at the kernel's start.
  int position = builder_.add_param({fmt::format("p{}", params_.size()), argument.dtype});
  params_.push_back(std::move(argument));
  return frames_.front().named[name] = builder_.param(position);
}

Id ScalarLowering::size(const Dim& dim) {
  if (dim.is_constant()) return index(dim.constant());
  return param({dim, index_type()});
}

Id ScalarLowering::value(ScalarId id) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
    if (auto found = frame->values.find(id); found != frame->values.end()) return found->second;
  Id made = make(id);
  frames_.back().values[id] = made;
  return made;
}

Id ScalarLowering::make(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  if (n.kind == ScalarKind::literal) return make_literal(id);
  if (region_.dag.is_uniform(id)) {
    // Computed once on the host. Bool travels as a byte.
    if (is_bool(n.dtype)) return builder_.cast(DType::bool_, param({id, DType::u8}));
    return param({id, type_of(id)});
  }
  switch (n.kind) {
    case ScalarKind::coord:
      return make_coordinate(id);
    case ScalarKind::read:
      return make_read(id);
    case ScalarKind::apply:
      return make_apply(id);
    case ScalarKind::cast:
      return make_cast(id);
    case ScalarKind::round:
      return builder_.round_to(n.dtype, value(n.args[0]));
    case ScalarKind::reduced:
      return reduced_.at(n.index);
    case ScalarKind::select: {
      if (is_branch(id)) return make_branch(id);
      auto args = same_lanes(n.args);
      return builder_.select(args[0], builder_.cast(type_of(id), args[1]),
                             builder_.cast(type_of(id), args[2]));
    }
    default:
      fail_internal("a uniform scalar is a parameter");
  }
}

// One side of a choice that all lanes share: the parts of a concatenation along an outer axis. Not
// on a GPU, whose threads would need a branch for a few instructions.
bool ScalarLowering::is_branch(ScalarId id) const {
  const ScalarNode& n = region_.dag[id];
  if (plan_.target.kind == DeviceKind::cuda || !varies_[id] || varies_[n.args[0]]) return false;
  auto reads = [&](ScalarId side) {
    std::vector<ScalarId> todo = {side};
    while (!todo.empty()) {
      const ScalarNode& inner = region_.dag[todo.back()];
      ScalarId at = todo.back();
      todo.pop_back();
      if (inner.kind == ScalarKind::read && varies_[at]) return true;
      todo.insert(todo.end(), inner.args.begin(), inner.args.end());
    }
    return false;
  };
  return reads(n.args[1]) && reads(n.args[2]);
}

Id ScalarLowering::make_branch(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  DType type = type_of(id);
  Id zero = is_float(type) ? builder_.real(type, 0) : builder_.integer(type, 0);
  Id condition = value(n.args[0]), result = builder_.var(builder_.splat(zero, lanes_));
  auto side = [&](ScalarId arg) {
    return [this, result, type, arg] {
      enter();
      builder_.set(result, builder_.cast(type, wide(arg)));
      leave();
    };
  };
  builder_.if_then(condition, side(n.args[1]), side(n.args[2]));
  return builder_.get(result);
}

Id ScalarLowering::make_literal(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  if (is_float(n.dtype))
    return builder_.real(register_type(n.dtype), std::bit_cast<double>(n.bits));
  return builder_.integer(narrow_[id] ? DType::i32 : n.dtype, static_cast<std::int64_t>(n.bits));
}

Id ScalarLowering::make_coordinate(ScalarId id) {
  int axis = plan_.axis_of[static_cast<std::size_t>(region_.dag[id].index)];
  if (axis < 0) return builder_.integer(type_of(id), 0);
  Id start = coordinate(axis);
  if (axis == plan_.vector_axis() && lanes_ > 1) start = builder_.ramp(start, lanes_);
  return builder_.cast(type_of(id), start);
}

std::vector<Id> ScalarLowering::same_lanes(const std::vector<ScalarId>& ids) {
  std::vector<Id> values;
  int most = 1;
  for (ScalarId id : ids) {
    values.push_back(value(id));
    most = std::max(most, builder_.type_of(values.back()).lanes);
  }
  for (Id& v : values) v = builder_.splat(v, most);
  return values;
}

// In 32 bits where all operands and the result fit.
Id ScalarLowering::make_apply(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  std::vector<Id> args = same_lanes(n.args);
  if (region_.dag[n.args[0]].dtype == DType::i64 && n.fn != Intrinsic::shl &&
      n.fn != Intrinsic::shr) {
    bool fits = std::all_of(n.args.begin(), n.args.end(), [&](ScalarId a) { return narrow_[a]; });
    bool narrow = fits && (n.dtype != DType::i64 || narrow_[id]);
    for (Id& arg : args) arg = builder_.cast(narrow ? DType::i32 : DType::i64, arg);
  }
  Id result = apply(n, args);
  return n.dtype == DType::i64 ? builder_.cast(type_of(id), result) : result;
}

Id ScalarLowering::apply(const ScalarNode& n, const std::vector<Id>& given) {
  std::vector<Id> args = given;
  if (n.fn == Intrinsic::shl || n.fn == Intrinsic::shr)
    for (std::size_t i = 0; i < args.size(); ++i)
      args[i] = builder_.cast(register_type(region_.dag[n.args[i]].dtype), args[i]);
  bool integer = !is_float(region_.dag[n.args[0]].dtype);
  if (integer && (n.fn == Intrinsic::div || n.fn == Intrinsic::rem))
    return make_integer_division(n, args[0], args[1]);
  if (n.fn == Intrinsic::shl || n.fn == Intrinsic::shr) return make_shift(n, args[0], args[1]);
  return builder_.compute(n.fn, args);
}

// Loop IR wants divisors that are neither 0 nor make the quotient overflow.
Id ScalarLowering::make_integer_division(const ScalarNode& n, Id a, Id b) {
  Range divisor = region_.dag.range(n.args[1]);
  bool safe = n.dtype != DType::u64 && divisor.low > 0;
  if (safe) return builder_.compute(n.fn, {a, b});
  auto [type, lanes] = builder_.type_of(a);
  Id zero = builder_.integer(type, 0, lanes), one = builder_.integer(type, 1, lanes);
  Id is_zero = builder_.eq(b, zero);
  Id divide_by = builder_.select(is_zero, one, b);
  if (is_signed_integer(n.dtype)) {
    // x / -1 is -x and x % -1 is 0, also where the quotient would overflow.
    Id is_minus_one = builder_.eq(b, builder_.integer(type, -1, lanes));
    divide_by = builder_.select(is_minus_one, one, divide_by);
    Id quotient = builder_.compute(n.fn, {a, divide_by});
    Id opposite = n.fn == Intrinsic::div ? builder_.compute(Intrinsic::neg, {a}) : zero;
    quotient = builder_.select(is_minus_one, opposite, quotient);
    return builder_.select(is_zero, zero, quotient);
  }
  return builder_.select(is_zero, zero, builder_.compute(n.fn, {a, divide_by}));
}

// Loop IR wants counts below the width.
Id ScalarLowering::make_shift(const ScalarNode& n, Id a, Id b) {
  auto width = static_cast<std::int64_t>(8 * size_of(n.dtype));
  Range count = region_.dag.range(n.args[1]);
  if (n.dtype != DType::u64 && count.low >= 0 && count.high < width)
    return builder_.compute(n.fn, {a, b});
  int lanes = builder_.type_of(a).lanes;
  Id zero = builder_.integer(n.dtype, 0, lanes), last = builder_.integer(n.dtype, width - 1, lanes);
  Id inside = builder_.le(b, last);
  if (is_signed_integer(n.dtype))
    inside = builder_.compute(Intrinsic::bit_and, {inside, builder_.le(zero, b)});
  Id shifted = builder_.compute(n.fn, {a, builder_.select(inside, b, last)});
  bool keeps_sign = n.fn == Intrinsic::shr && is_signed_integer(n.dtype);
  return keeps_sign ? shifted : builder_.select(inside, shifted, zero);
}

Id ScalarLowering::make_cast(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  Id a = value(n.args[0]);
  DType from = region_.dag[n.args[0]].dtype;
  if (n.dtype == DType::f16 || n.dtype == DType::bf16) {
    // Through f32; a 64-bit source may round twice, as in every library without f64 -> f16.
    return builder_.round_to(n.dtype, builder_.cast(DType::f32, a));
  }
  if (is_float(from) && is_integer(n.dtype))
    return builder_.cast(n.dtype, a, loop::CastMode::saturate);
  return builder_.cast(narrow_[id] ? DType::i32 : n.dtype, a);
}

void ScalarLowering::hoist(const std::vector<ScalarId>& roots) {
  std::vector<bool> needed(region_.dag.size());
  for (ScalarId root : roots) {
    needed[root] = true;
    if (!varies_[root] && !region_.dag.is_literal(root)) value(root);
  }
  for (ScalarId id = region_.dag.size(); id-- > 0;) {
    if (!needed[id] || !varies_[id]) continue;
    const ScalarNode& n = region_.dag[id];
    auto read = plan_.reads.find(id);
    if (n.kind == ScalarKind::read && read != plan_.reads.end()) {
      base(read->second);
      continue;
    }
    for (ScalarId arg : n.args) {
      needed[arg] = true;
      if (!varies_[arg] && !region_.dag.is_literal(arg)) value(arg);
    }
  }
}

// ---- memory

// Constant part plus the steps of all axes but the vector axis.
Id ScalarLowering::base(const Access& access) {
  std::string name = "base " + access.constant.to_string();
  for (const Dim& c : access.coefficients) name += "," + c.to_string();
  for (const auto& [term, stride] : access.terms)
    name += fmt::format("+#{}*{}", term, stride.to_string());
  if (Id* id = known(name)) return *id;
  Id sum = size(access.constant);
  bool is_zero = access.constant == Dim(0);
  for (std::size_t axis = 0; axis < access.coefficients.size(); ++axis) {
    const Dim& c = access.coefficients[axis];
    if (static_cast<int>(axis) == plan_.vector_axis() || c == Dim(0)) continue;
    Id step = c == Dim(1) ? coordinate(static_cast<int>(axis))
                          : builder_.mul(coordinate(static_cast<int>(axis)), size(c));
    sum = is_zero ? step : builder_.add(sum, step);
    is_zero = false;
  }
  for (const auto& [term, stride] : access.terms) {
    Id step = builder_.mul(builder_.cast(index_type(), value(term)), size(stride));
    sum = is_zero ? step : builder_.add(sum, step);
    is_zero = false;
  }
  return frames_.back().named[name] = sum;
}

bool ScalarLowering::starts_at_zero(const Access& access) const {
  auto vector_axis = static_cast<std::size_t>(plan_.vector_axis());
  bool zero = access.constant == Dim(0) && access.terms.empty();
  for (std::size_t axis = 0; axis < access.coefficients.size(); ++axis)
    zero = zero && (axis == vector_axis || access.coefficients[axis] == Dim(0));
  return zero;
}

Id ScalarLowering::address(const Access& access) {
  auto axis = static_cast<std::size_t>(plan_.vector_axis());
  const Dim& c = access.coefficients[axis];
  if (c == Dim(0)) return base(access);
  Id step = c == Dim(1) ? coordinates_[axis] : builder_.mul(coordinates_[axis], size(c));
  return starts_at_zero(access) ? step : builder_.add(base(access), step);
}

int ScalarLowering::align_of(DType dtype) const {
  bool full = plan_.guards.aligned && lanes_ == plan_.lanes &&
              lanes_ * static_cast<int>(size_of(dtype)) % 16 == 0;
  return full ? 16 : 0;
}

bool ScalarLowering::streaming() const { return plan_.strategy == Strategy::flat; }

Id ScalarLowering::make_read(ScalarId id) {
  auto affine = plan_.reads.find(id);
  return affine != plan_.reads.end() ? make_affine_read(id, affine->second) : make_general_read(id);
}

Id ScalarLowering::make_affine_read(ScalarId id, const Access& access) {
  int source = region_.dag[id].index;
  int buffer = source_buffers_[static_cast<std::size_t>(source)];
  DType dtype = region_.dag[id].dtype;
  const Dim& c = access.coefficients[static_cast<std::size_t>(plan_.vector_axis())];
  if (!varies_[id] || lanes_ == 1) return builder_.load(buffer, address(access));
  if (c == Dim(1))
    return builder_.load(buffer, address(access), lanes_, align_of(dtype), streaming());
  if (access.channel >= 0 && c == Dim(access.channels)) return make_group_read(source, access);
  Id steps = builder_.mul(builder_.ramp(index(0), lanes_), builder_.splat(size(c), lanes_));
  return builder_.gather(buffer, builder_.add(builder_.splat(address(access), lanes_), steps));
}

Id ScalarLowering::make_group_read(int source, const Access& access) {
  Access first = access;
  first.constant = access.constant - Dim(access.channel);
  std::string name = fmt::format("group {} {}", source, first.constant.to_string());
  for (const Dim& c : first.coefficients) name += "," + c.to_string();
  for (const auto& [term, stride] : first.terms)
    name += fmt::format("+#{}*{}", term, stride.to_string());
  auto channel = static_cast<std::size_t>(access.channel);
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
    if (auto found = frame->groups.find(name); found != frame->groups.end())
      return found->second[channel];
  DType dtype = region_.sources[static_cast<std::size_t>(source)].dtype;
  int buffer = source_buffers_[static_cast<std::size_t>(source)];
  auto ids = builder_.load_group(buffer, address(first), access.channels, lanes_, align_of(dtype),
                                 streaming());
  return (frames_.back().groups[name] = ids)[channel];
}

// The index is arithmetic on scalars: sum of index * stride over the source's axes.
Id ScalarLowering::make_general_read(ScalarId id) {
  const ScalarNode& n = region_.dag[id];
  const RegionSource& source = region_.sources[static_cast<std::size_t>(n.index)];
  int buffer = source_buffers_[static_cast<std::size_t>(n.index)];
  Dims strides = strides_of(source.value, source.dims,
                            plan_.guards.sources[static_cast<std::size_t>(n.index)]);
  std::vector<Id> own = same_lanes(n.args);
  Id sum = loop::no_id;
  for (std::size_t d = 0; d < own.size(); ++d) {
    Id step = builder_.cast(index_type(), own[d]);
    if (strides[d] != Dim(1))
      step = builder_.mul(step, builder_.splat(size(strides[d]), builder_.type_of(step).lanes));
    sum = d == 0 ? step : builder_.add(sum, step);
  }
  return builder_.type_of(sum).lanes == 1 ? builder_.load(buffer, sum)
                                          : builder_.gather(buffer, sum);
}

}  // namespace fuseline
