// Random graphs with inputs.
#include "fuzz/random_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "fuseline/ops.hpp"
#include "graph/check_sizes.hpp"
#include "graph/op_table.hpp"
#include "graph/scalar.hpp"

namespace fuseline::fuzz {
namespace {

constexpr std::int64_t max_elements = 12000;    // evaluate is slow by design
constexpr std::int64_t large_elements = 90000;  // several blocks of a CPU kernel

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

const std::vector<DType> numbers = {DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32,
                                    DType::i32, DType::u64, DType::i64, DType::f16, DType::bf16,
                                    DType::f32, DType::f64, DType::f32, DType::u8};

// Whether an operation may start with an operand of this type.
bool can_begin(TypeRule rule, DType dtype) {
  return rule == TypeRule::choose ? is_bool(dtype) : accepts(rule, dtype);
}

class Generator {
 public:
  Generator(std::uint64_t seed, int max_operations) : random_(seed), most_(max_operations) {
    case_.graph = std::make_unique<Graph>();
  }

  Case run() {
    choose_sizes();
    add_inputs();
    int operations = 2 + static_cast<int>(random_.below(12));
    for (int i = 0; i < std::min(operations, most_); ++i) add_operation();
    add_outputs();
    return std::move(case_);
  }

 private:
  Graph& graph() { return *case_.graph; }

  void choose_sizes() {
    const std::vector<std::int64_t> small = {0,  1,  2,  3,  5,  7,  8,  13,  15, 16,
                                             17, 31, 32, 33, 63, 64, 65, 127, 129};
    const std::vector<std::int64_t> long_sizes = {257, 1023, 1025, 2049, 4099};
    large_ = random_.chance(8);
    for (int round = 0; round < 2; ++round) {
      DimBindings sizes;
      sizes["H"] = random_.pick(small);
      sizes["W"] = large_ ? random_.pick(long_sizes) : random_.pick(small);
      sizes["K"] = 1 + random_.below(6);
      if (random_.chance(90))
        for (auto& [name, size] : sizes) size = std::max<std::int64_t>(size, 1);
      case_.sizes.push_back(sizes);
    }
  }

  std::int64_t limit() const { return large_ ? large_elements : max_elements; }

  bool fits(const Dims& dims) const {
    for (const DimBindings& sizes : case_.sizes) {
      std::int64_t count = 1;
      for (const Dim& dim : dims) {
        std::int64_t size = dim.evaluate(sizes);
        if (size < 0 || size > 100000) return false;
        count *= size;
        if (count > limit()) return false;
      }
    }
    return true;
  }

  Dim random_dim() {
    switch (random_.below(6)) {
      case 0:
        return Dim::symbol("H");
      case 1:
        return Dim::symbol("W");
      case 2:
        return Dim::symbol("K");
      case 3:
        return 3;
      case 4:
        return 1;
      default:
        return 1 + random_.below(5);
    }
  }

  void add_inputs() {
    // Gives every symbol a value, whatever the others use.
    graph().input("sizes", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), Dim::symbol("K")});
    auto count = 1 + random_.below(3);
    for (std::int64_t i = 0; i < count; ++i) {
      Dims dims;
      if (i > 0 && random_.chance(50)) {
        dims = random_.pick(pool_).dims();  // operands that meet
      } else if (random_.chance(30)) {
        dims = {Dim::symbol("H"), Dim::symbol("W"), random_.chance(80) ? Dim(3) : Dim(4)};
      } else {
        do {
          dims.clear();
          for (auto rank = random_.below(5); rank > 0; --rank) dims.push_back(random_dim());
        } while (!fits(dims));
      }
      bool picture = dims.size() == 3 && dims[2].is_constant() && dims[2].constant() >= 3 &&
                     random_.chance(70);
      if (!fits(dims)) dims = {Dim::symbol("W"), 3};
      DType dtype = picture ? DType::u8 : random_.chance(8) ? DType::bool_ : random_.pick(numbers);
      pool_.push_back(graph().input("in" + std::to_string(i), dtype, dims));
    }
  }

  // A value that meets `other` in an elementwise operation.
  Value partner(const Value& other) {
    std::vector<Value> fitting;
    for (const Value& v : pool_)
      if (v.dtype() == other.dtype() && (v.dims() == other.dims() || v.dims().empty()))
        fitting.push_back(v);
    if (!fitting.empty() && random_.chance(70)) return random_.pick(fitting);
    return random_constant(other.dtype());
  }

  Value random_constant(DType dtype) {
    if (is_bool(dtype)) return graph().constant(dtype, random_.below(2));
    if (is_float(dtype)) return graph().constant(dtype, std::round(random_.real(-3, 3) * 8) / 8);
    Range range = full_range(dtype);
    std::int64_t value = random_.chance(20) ? range.high : random_.below(100);
    return graph().constant(dtype, std::min(value, range.high));
  }

  void add_operation() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      std::optional<Value> value = try_operation();
      if (!value || !fits(value->dims())) continue;
      pool_.push_back(*value);
      return;
    }
  }

  std::optional<Value> try_operation() {
    // Later values are more interesting than inputs.
    auto last = static_cast<std::int64_t>(pool_.size());
    Value x = pool_[static_cast<std::size_t>(random_.chance(60) ? last - 1 : random_.below(last))];
    switch (random_.below(11)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return elementwise(x);
      case 10:
        return with_own_kernels(x);
      case 4:
        return convert(x);
      case 5:
      case 6:
        return index_map(x);
      case 7:
        return reduction(x);
      case 8:
        return pixels(x);
      default:
        return combination(x);
    }
  }

  std::optional<Value> elementwise(const Value& x) {
    std::vector<OpCode> fitting;
    for (std::size_t i = 0; i < op_table().size(); ++i) {
      const OpInfo& row = op_table()[i];
      if (row.group != OpGroup::elementwise) continue;
      if (can_begin(row.rule, x.dtype())) fitting.push_back(static_cast<OpCode>(i));
    }
    OpCode op = random_.pick(fitting);
    const OpInfo& row = info(op);
    std::vector<Value> operands = {x};
    if (row.rule == TypeRule::choose) {
      Value a = random_.pick(pool_);
      operands = {x, a, partner(a)};
      if (a.dims() != x.dims() && !a.dims().empty()) return std::nullopt;
    } else {
      while (static_cast<int>(operands.size()) < row.least_operands) operands.push_back(partner(x));
    }
    if (operands.size() == 2 && random_.chance(30)) std::swap(operands[0], operands[1]);
    return graph().apply(op, operands);
  }

  std::optional<Value> convert(const Value& x) {
    DType to = random_.chance(10) ? DType::bool_ : random_.pick(numbers);
    Rounding rounding = random_.chance(50) ? Rounding::nearest : Rounding::trunc;
    return random_.chance(30) ? saturate_cast(x, to, rounding) : cast(x, to, rounding);
  }

  std::optional<Value> index_map(const Value& x) {
    const Dims& dims = x.dims();
    auto rank = static_cast<std::int64_t>(dims.size());
    if (rank == 0) return broadcast_to(x, {Dim::symbol("W"), random_dim()});
    switch (random_.below(8)) {
      case 0: {
        std::vector<std::int64_t> perm;
        for (std::int64_t i = 0; i < rank; ++i) perm.insert(perm.begin() + random_.below(i + 1), i);
        return transpose(x, perm);
      }
      case 1:
        return reshape(x, {product(dims)});
      case 2: {  // split off or merge axes
        if (rank >= 2 && random_.chance(50)) {
          Dims merged(dims.begin() + 1, dims.end());
          merged[0] = dims[0] * dims[1];
          return reshape(x, merged);
        }
        Dims wider = dims;
        wider.insert(wider.begin() + random_.below(rank + 1), Dim(1));
        return reshape(x, wider);
      }
      case 3: {
        Dims wide = dims;
        wide.insert(wide.begin(), random_dim());
        return broadcast_to(x, wide);
      }
      case 4:
        return random_slice(x);
      case 5: {
        Dims before(dims.size(), Dim(0)), after(dims.size(), Dim(0));
        auto axis = static_cast<std::size_t>(random_.below(rank));
        before[axis] = random_.below(3);
        after[axis] = random_.below(4);
        const char* modes[] = {"constant", "edge", "reflect", "wrap"};
        bool empty = false;  // has nothing to repeat
        for (const DimBindings& s : case_.sizes) empty = empty || dims[axis].evaluate(s) == 0;
        return pad(x, before, after, modes[empty ? 0 : random_.below(4)],
                   is_bool(x.dtype()) ? 1 : 5);
      }
      case 6: {
        auto axis = static_cast<int>(random_.below(rank));
        if (dims[static_cast<std::size_t>(axis)] == Dim(0)) return std::nullopt;
        Tensor indices = Tensor::allocate(DType::i32, {1 + random_.below(4)});
        for (std::int64_t i = 0; i < indices.size(); ++i)
          indices.as<std::int32_t>()[i] = static_cast<std::int32_t>(random_.below(9) - 4);
        return gather(x, graph().constant(indices), axis);
      }
      default: {
        std::vector<Value> same;
        for (const Value& v : pool_)
          if (v.dtype() == x.dtype() && v.dims() == dims) same.push_back(v);
        return concat({x, random_.pick(same)}, static_cast<int>(random_.below(rank)));
      }
    }
  }

  std::optional<Value> random_slice(const Value& x) {
    Dims starts, sizes;
    std::vector<std::int64_t> steps;
    for (const Dim& dim : x.dims()) {
      std::int64_t least = dim.evaluate(case_.sizes[0]);
      for (const DimBindings& s : case_.sizes) least = std::min(least, dim.evaluate(s));
      switch (random_.below(4)) {
        case 0:
          if (least < 3) return std::nullopt;
          starts.push_back(1);
          sizes.push_back(dim - 2);
          steps.push_back(1);
          break;
        case 1:  // backwards
          if (least < 1) return std::nullopt;
          starts.push_back(dim - 1);
          sizes.push_back(dim);
          steps.push_back(-1);
          break;
        case 2:  // every other one
          starts.push_back(0);
          sizes.push_back(ceil_div(dim, 2));
          steps.push_back(2);
          break;
        default:
          starts.push_back(0);
          sizes.push_back(dim);
          steps.push_back(1);
      }
    }
    return slice(x, starts, sizes, steps);
  }

  std::optional<Value> reduction(const Value& x) {
    if (is_bool(x.dtype())) return count(x);
    auto rank = static_cast<std::int64_t>(x.dims().size());
    bool keep = random_.chance(30);
    if (rank > 0 && random_.chance(25)) {
      auto axis = static_cast<int>(random_.below(rank));
      return random_.chance(50) ? arg_max(x, axis, keep) : arg_min(x, axis, keep);
    }
    std::vector<std::int64_t> axes;
    if (!random_.chance(40))
      for (std::int64_t axis = 0; axis < rank; ++axis)
        if (random_.chance(50)) axes.push_back(axis);
    switch (random_.below(6)) {
      case 0:
        return reduce_max(x, axes, keep);
      case 1:
        return reduce_min(x, axes, keep);
      case 2:
        return mean(x, axes, keep);
      case 3:
        return count(x, axes, keep);
      case 4:
        return is_float(x.dtype()) ? std::nullopt : std::optional(reduce_prod(x, axes, keep));
      default:
        return reduce_sum(x, axes, keep);
    }
  }

  std::optional<Value> pixels(const Value& x) {
    for (std::size_t i = pool_.size(); i-- > 0;) {
      const Value& v = pool_[i];
      bool rgb = v.dtype() == DType::u8 && !v.dims().empty() &&
                 (v.dims().back() == Dim(3) || v.dims().back() == Dim(4));
      if (!rgb || random_.chance(20)) continue;
      switch (random_.below(4)) {
        case 0:
          return gray(v, GrayMode::bt601_q15);
        case 1:
          return gray(v, random_.chance(50) ? GrayMode::bt601_q16 : GrayMode::bt709);
        case 2:
          return rgb_to_hsv(v);
        default:
          return in_range(
              v, std::vector<double>(static_cast<std::size_t>(v.dims().back().constant()), 40),
              std::vector<double>(static_cast<std::size_t>(v.dims().back().constant()), 210));
      }
    }
    bool picture = x.dims().size() == 2 && !is_bool(x.dtype()) && x.dims()[0] != Dim(0);
    for (const DimBindings& s : case_.sizes)
      for (const Dim& dim : x.dims()) picture = picture && dim.evaluate(s) > 0;
    if (!picture) return std::nullopt;
    return resize(x, x.dims()[0] + 3, ceil_div(x.dims()[1], 2) + 1,
                  random_.chance(50) ? ResizeMode::nearest : ResizeMode::linear,
                  random_.chance(50) ? "half_pixel" : "asymmetric");
  }

  // Order, prefixes, placing, bits.
  std::optional<Value> with_own_kernels(const Value& x) {
    auto rank = static_cast<std::int64_t>(x.dims().size());
    if (rank == 0 || random_.chance(15)) return other_bits(x);
    auto axis = static_cast<int>(random_.below(rank));
    switch (random_.below(3)) {
      case 0:
        return sort_indices(x, axis, random_.chance(50));
      case 1: {
        if (is_bool(x.dtype())) return std::nullopt;
        const Combine all[] = {Combine::add, Combine::min, Combine::max, Combine::mul};
        Combine combine = all[random_.below(is_float(x.dtype()) ? 3 : 4)];
        return scan(x, axis, {combine, random_.chance(40), random_.chance(40)});
      }
      default:
        return scattered(x);
    }
  }

  std::optional<Value> other_bits(const Value& x) {
    std::vector<DType> fitting;
    for (DType dtype : numbers)
      if (size_of(dtype) == size_of(x.dtype())) fitting.push_back(dtype);
    return bit_cast(x, random_.pick(fitting));
  }

  // Rows of x put into a part of it that is turned around.
  std::optional<Value> scattered(const Value& x) {
    Dim rows = x.dims()[0], columns = 1;
    for (std::size_t k = 1; k < x.dims().size(); ++k) columns = columns * x.dims()[k];
    Value data = reshape(x, {rows, columns});
    if (random_.chance(30)) {
      Value order = sort_indices(pick(pad(data, {0, 0}, {0, 1}), 1, 0), 0, true);
      return fuseline::scatter(data, order, data, Combine::set, true);
    }
    const Combine all[] = {Combine::set, Combine::min, Combine::max, Combine::add};
    Combine combine = all[random_.below(is_bool(x.dtype()) ? 1 : 4)];
    Value places = iota(graph(), {rows}, 0, DType::i64) * (2 + random_.below(3));
    Value folded = fuseline::mod(places, graph().constant(DType::i64, 1 + random_.below(9)));
    return fuseline::scatter(data, folded, data, combine);
  }

  // Things that programs do in several steps.
  std::optional<Value> combination(const Value& x) {
    if (x.dims().empty() || is_bool(x.dtype())) return std::nullopt;
    if (random_.chance(50)) {
      auto axis = static_cast<int>(random_.below(static_cast<std::int64_t>(x.dims().size())));
      return iota(graph(), x.dims(), axis, x.dtype()) + x;
    }
    return where(x > partner(x), x, partner(x));
  }

  void add_outputs() {
    auto wanted = 1 + random_.below(3);
    std::vector<ValueId> used;
    for (std::size_t i = pool_.size();
         i-- > 0 && static_cast<std::int64_t>(used.size()) < wanted;) {
      if (!used.empty() && random_.chance(40)) continue;
      used.push_back(pool_[i].id());
      graph().output("out" + std::to_string(used.size()), pool_[i]);
    }
  }

  Random random_;
  int most_;
  bool large_ = false;
  Case case_;
  std::vector<Value> pool_;
};

Number random_number(Random& random, DType dtype) {
  Number n{.bits = 0};
  if (is_bool(dtype)) {
    n.u = static_cast<std::uint64_t>(random.below(2));
  } else if (is_float(dtype)) {
    n.d = random.real(-4, 4);
    if (random.chance(2)) {
      const double special[] = {0.0,
                                -0.0,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(),
                                1e-40};
      n.d = special[random.below(6)];
    }
    n = round_to(n, dtype);
  } else {
    Range range = full_range(dtype);
    if (random.chance(5))
      n.i = random.chance(50) ? range.low : range.high;
    else if (random.chance(70))
      n.i = random.below(std::min<std::int64_t>(range.high, 300) + 1);
    else
      n = convert({.u = static_cast<std::uint64_t>(random.below(std::int64_t{1} << 62)) * 7},
                  DType::u64, dtype);
  }
  return n;
}

}  // namespace

Case random_case(std::uint64_t seed, int max_operations) {
  return Generator(seed, max_operations).run();
}

GuardedTensor::GuardedTensor(DType dtype, Shape shape, std::size_t offset_elements) {
  constexpr std::size_t guard = 64;
  std::size_t width = size_of(dtype);
  auto bytes = static_cast<std::size_t>(element_count(shape)) * width;
  memory_.assign(bytes + 3 * guard + offset_elements * width, 0xa5);
  auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  begin_ = guard + (64 - address % 64) % 64 + offset_elements * width;
  end_ = begin_ + bytes;
  tensor_ = Tensor(static_cast<void*>(memory_.data() + begin_), dtype, std::move(shape));
}

void GuardedTensor::poison() {
  std::fill(memory_.begin() + static_cast<long>(begin_), memory_.begin() + static_cast<long>(end_),
            0xcd);
}

bool GuardedTensor::guards_intact() const {
  auto intact = [](std::uint8_t byte) { return byte == 0xa5; };
  return std::all_of(memory_.begin(), memory_.begin() + static_cast<long>(begin_), intact) &&
         std::all_of(memory_.begin() + static_cast<long>(end_), memory_.end(), intact);
}

TensorMap random_inputs(const Graph& graph, const DimBindings& sizes, std::uint64_t seed) {
  Random random(seed);
  TensorMap inputs;
  for (const NamedValue& input : graph.inputs()) {
    const ValueType& type = graph.type(input.value);
    Shape shape = shape_of(type.dims, sizes);
    // Wider memory than the tensor: a base off alignment, and sometimes a pitch.
    Shape wide = shape;
    if (!wide.empty() && random.chance(30)) wide.back() += 1 + random.below(5);
    auto offset = random.below(16);
    Tensor memory = Tensor::allocate(type.dtype, {element_count(wide) + offset});
    auto width = static_cast<std::int64_t>(size_of(type.dtype));
    for (std::int64_t i = 0; i < memory.size(); ++i)
      store_number(memory.as<char>() + i * width, type.dtype, random_number(random, type.dtype));
    inputs.emplace_back(input.name, memory.view(offset, shape, dense_strides(wide)));
  }
  return inputs;
}

}  // namespace fuseline::fuzz
