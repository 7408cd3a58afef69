// Dim: a size that is a number, a name, or arithmetic over them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline {

// Values of named sizes, by name.
using DimBindings = std::map<std::string, std::int64_t, std::less<>>;

// An exact integer expression, kept in normal form (a polynomial over atoms), so that equal
// arithmetic compares equal: 3 * H * W == W * (H + H + H). Immutable and cheap to copy.
//
// Atoms: a symbol (a size read off an input's shape), an operand (an element of a small integer
// input, read on the host; its value belongs to the size key), a bounded size (a bound and a count
// that lives in device memory), a late size (known only after a node ran), and the operations that
// are not polynomial: floor and ceiling division, minimum, maximum, comparison.
class Dim {
 public:
  enum class Kind : std::uint8_t {
    symbol,
    operand,
    bounded,
    late,
    floor_div,
    ceil_div,
    min,
    max,
    less,
    equal
  };

  Dim() : Dim(0) {}
  Dim(std::int64_t value);  // NOLINT: sizes are written as plain numbers
  Dim(int value) : Dim(static_cast<std::int64_t>(value)) {}  // NOLINT

  static Dim symbol(std::string name);
  // Element `position` of the integer graph input `input`.
  static Dim operand(std::string input, int position);
  // At most `bound`; the true count is the scalar value `count` in device memory.
  static Dim bounded(Dim bound, std::string count);
  // Known once the node that makes the value `name` has run.
  static Dim late(std::string name);

  bool is_constant() const;
  std::int64_t constant() const;           // only if is_constant()
  bool is_symbol() const;                  // a bare symbol
  std::string symbol_name() const;         // only if is_symbol()
  std::vector<std::string> names() const;  // every symbol and operand inside, sorted
  bool has(Kind kind) const;               // an atom of that kind is inside

  // Throws Error when a name is missing or the result overflows 64 bits. A bounded size
  // evaluates to its bound. Division by zero is an Error.
  std::int64_t evaluate(const DimBindings& bindings) const;

  // "3*H*W + 1"; parse() reads it back.
  std::string to_string() const;
  static Dim parse(std::string_view text);

  bool operator==(const Dim& other) const;
  bool operator<(const Dim& other) const;  // some total order, for use as a key

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim ceil_div(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend Dim less(const Dim& a, const Dim& b);   // 1 or 0
  friend Dim equal(const Dim& a, const Dim& b);  // 1 or 0

 private:
  struct Atom;
  struct Poly;
  explicit Dim(std::shared_ptr<const Poly> poly) : poly_(std::move(poly)) {}
  static Dim of_atom(Atom atom);
  static Dim binary_atom(Kind kind, const Dim& a, const Dim& b);
  std::shared_ptr<const Poly> poly_;
};

using Dims = std::vector<Dim>;

std::string to_string(const Dims& dims);  // "[H, W, 3]"
Dim product(const Dims& dims);            // 1 for none

}  // namespace fuseline
