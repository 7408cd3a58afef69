// Dim: normal form, arithmetic and evaluation.
#include "fuseline/dim.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/fail.hpp"

namespace fuseline {

struct Dim::Atom {
  Kind kind;
  std::string name;           // symbol, operand's input, bounded's count, late
  std::int64_t position = 0;  // operand
  std::vector<Dim> args;      // bound; or both sides
  std::string text;           // canonical: equal text is equal atom
};

// Sum of coefficient * product of atoms. A monomial's atoms are sorted by text, monomials are
// sorted by their joined text, no coefficient is zero.
struct Dim::Poly {
  struct Term {
    std::int64_t coefficient;
    std::vector<std::shared_ptr<const Atom>> atoms;
    std::string key;
  };
  std::vector<Term> terms;
  std::string text;
};

namespace {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) fail("size arithmetic overflows 64 bits: {} + {}", a, b);
  return r;
}
std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) fail("size arithmetic overflows 64 bits: {} * {}", a, b);
  return r;
}
std::int64_t floor_div_value(std::int64_t a, std::int64_t b) {
  if (b == 0) fail("size arithmetic divides {} by zero", a);
  if (b == -1) return checked_mul(a, -1);  // the smallest number has no opposite
  std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
std::int64_t apply(Dim::Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Dim::Kind::floor_div:
      return floor_div_value(a, b);
    case Dim::Kind::ceil_div: {
      std::int64_t down = floor_div_value(a, b);
      return b == -1 || a % b == 0 ? down : down + 1;
    }
    case Dim::Kind::min:
      return std::min(a, b);
    case Dim::Kind::max:
      return std::max(a, b);
    case Dim::Kind::less:
      return a < b;
    case Dim::Kind::equal:
      return a == b;
    default:
      fail_internal("not a binary size operation");
  }
}
const char* function_name(Dim::Kind kind) {
  switch (kind) {
    case Dim::Kind::floor_div:
      return "floor_div";
    case Dim::Kind::ceil_div:
      return "ceil_div";
    case Dim::Kind::min:
      return "min";
    case Dim::Kind::max:
      return "max";
    case Dim::Kind::less:
      return "less";
    case Dim::Kind::equal:
      return "equal";
    case Dim::Kind::operand:
      return "operand";
    case Dim::Kind::bounded:
      return "bounded";
    case Dim::Kind::late:
      return "late";
    case Dim::Kind::symbol:
      return "symbol";
  }
  return "?";
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':' ||
         c == '$';
}
void check_name(const std::string& name) {
  bool ok = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
            std::all_of(name.begin(), name.end(), is_name_char);
  if (!ok)
    fail("size name \"{}\": letters, digits, '_', '.', ':' and '$' only, no digit first", name);
}

// Terms of a sum, or factors of a term. Sizes that people write have a few; text from elsewhere
// must not take all memory or time.
void check_complexity(std::size_t parts) {
  constexpr std::size_t limit = 1024;
  if (parts > limit) fail("size arithmetic: an expression of more than {} parts", limit);
}
void check_length(const std::string& text) {
  constexpr std::size_t limit = 65536;
  if (text.size() > limit) fail("size arithmetic: an expression of more than {} characters", limit);
}

template <class Term>
std::string term_text(const Term& term) {
  if (term.key.empty()) return std::to_string(term.coefficient);
  if (term.coefficient == 1) return term.key;
  if (term.coefficient == -1) return "-" + term.key;
  return std::to_string(term.coefficient) + "*" + term.key;
}

template <class Poly>
std::shared_ptr<const Poly> normalise(std::vector<typename Poly::Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  auto poly = std::make_shared<Poly>();
  for (auto& term : terms) {
    if (!poly->terms.empty() && poly->terms.back().key == term.key)
      poly->terms.back().coefficient =
          checked_add(poly->terms.back().coefficient, term.coefficient);
    else
      poly->terms.push_back(std::move(term));
  }
  std::erase_if(poly->terms, [](const auto& term) { return term.coefficient == 0; });
  // Constant last, as people write it.
  for (std::size_t i = 0; i < poly->terms.size(); ++i) {
    const auto& term = poly->terms[(i + (poly->terms[0].key.empty() ? 1 : 0)) % poly->terms.size()];
    std::string text = term_text(term);
    if (i == 0)
      poly->text = text;
    else if (text[0] == '-')
      poly->text += " - " + text.substr(1);
    else
      poly->text += " + " + text;
    check_length(poly->text);
  }
  if (poly->terms.empty()) poly->text = "0";
  return poly;
}

}  // namespace

Dim::Dim(std::int64_t value) {
  // Small constants are everywhere: share them.
  static const auto small = [] {
    std::vector<std::shared_ptr<const Poly>> table;
    for (std::int64_t v = 0; v <= 16; ++v)
      table.push_back(v == 0 ? normalise<Poly>({}) : normalise<Poly>({{v, {}, ""}}));
    return table;
  }();
  if (value >= 0 && value <= 16)
    poly_ = small[static_cast<std::size_t>(value)];
  else
    poly_ = normalise<Poly>({{value, {}, ""}});
}

Dim Dim::of_atom(Atom atom) {
  auto shared = std::make_shared<const Atom>(std::move(atom));
  return Dim(normalise<Poly>({{1, {shared}, shared->text}}));
}

Dim Dim::symbol(std::string name) {
  check_name(name);
  Atom atom{Kind::symbol, name, 0, {}, name};
  return of_atom(std::move(atom));
}

Dim Dim::operand(std::string input, int position) {
  check_name(input);
  std::string text = "operand(" + input + ", " + std::to_string(position) + ")";
  return of_atom({Kind::operand, std::move(input), position, {}, std::move(text)});
}

Dim Dim::bounded(Dim bound, std::string count) {
  check_name(count);
  std::string text = "bounded(" + bound.to_string() + ", " + count + ")";
  return of_atom({Kind::bounded, std::move(count), 0, {std::move(bound)}, std::move(text)});
}

Dim Dim::late(std::string name) {
  check_name(name);
  std::string text = "late(" + name + ")";
  return of_atom({Kind::late, std::move(name), 0, {}, std::move(text)});
}

Dim Dim::binary_atom(Kind kind, const Dim& a, const Dim& b) {
  std::string text =
      std::string(function_name(kind)) + "(" + a.to_string() + ", " + b.to_string() + ")";
  return of_atom({kind, {}, 0, {a, b}, std::move(text)});
}

bool Dim::is_constant() const {
  return poly_->terms.empty() || (poly_->terms.size() == 1 && poly_->terms[0].atoms.empty());
}

std::int64_t Dim::constant() const {
  require(is_constant(), "constant() of a symbolic size");
  return poly_->terms.empty() ? 0 : poly_->terms[0].coefficient;
}

bool Dim::is_symbol() const {
  const auto& terms = poly_->terms;
  return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1 &&
         terms[0].atoms[0]->kind == Kind::symbol;
}

std::string Dim::symbol_name() const {
  require(is_symbol(), "symbol_name() of an expression");
  return poly_->terms[0].atoms[0]->name;
}

std::vector<std::string> Dim::names() const {
  std::set<std::string> found;
  for (const auto& term : poly_->terms)
    for (const auto& atom : term.atoms) {
      if (atom->kind == Kind::symbol || atom->kind == Kind::operand || atom->kind == Kind::late)
        found.insert(atom->text);
      for (const Dim& arg : atom->args)
        for (auto& name : arg.names()) found.insert(std::move(name));
    }
  return {found.begin(), found.end()};
}

bool Dim::has(Kind kind) const {
  for (const auto& term : poly_->terms)
    for (const auto& atom : term.atoms) {
      if (atom->kind == kind) return true;
      for (const Dim& arg : atom->args)
        if (arg.has(kind)) return true;
    }
  return false;
}

std::int64_t Dim::evaluate(const DimBindings& bindings) const {
  std::int64_t sum = 0;
  for (const auto& term : poly_->terms) {
    std::int64_t value = term.coefficient;
    for (const auto& atom : term.atoms) {
      std::int64_t factor;
      if (atom->kind == Kind::bounded) {
        factor = atom->args[0].evaluate(bindings);
      } else if (!atom->args.empty()) {
        factor =
            apply(atom->kind, atom->args[0].evaluate(bindings), atom->args[1].evaluate(bindings));
      } else {
        auto found = bindings.find(atom->text);
        if (found == bindings.end()) fail("size {}: no value is known for it", atom->text);
        factor = found->second;
      }
      value = checked_mul(value, factor);
    }
    sum = checked_add(sum, value);
  }
  return sum;
}

std::string Dim::to_string() const { return poly_->text; }
bool Dim::operator==(const Dim& other) const {
  return poly_ == other.poly_ || poly_->text == other.poly_->text;
}
bool Dim::operator<(const Dim& other) const { return poly_->text < other.poly_->text; }

Dim operator+(const Dim& a, const Dim& b) {
  auto terms = a.poly_->terms;
  check_complexity(terms.size() + b.poly_->terms.size());
  terms.insert(terms.end(), b.poly_->terms.begin(), b.poly_->terms.end());
  return Dim(normalise<Dim::Poly>(std::move(terms)));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  std::vector<Dim::Poly::Term> terms;
  check_complexity(a.poly_->terms.size() * b.poly_->terms.size());
  for (const auto& x : a.poly_->terms)
    for (const auto& y : b.poly_->terms) {
      check_complexity(x.atoms.size() + y.atoms.size());
      Dim::Poly::Term term{checked_mul(x.coefficient, y.coefficient), x.atoms, {}};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(),
                [](const auto& p, const auto& q) { return p->text < q->text; });
      for (const auto& atom : term.atoms) {
        term.key += (term.key.empty() ? "" : "*") + atom->text;
        check_length(term.key);
      }
      terms.push_back(std::move(term));
    }
  return Dim(normalise<Dim::Poly>(std::move(terms)));
}

namespace {

// The quotient when every coefficient divides exactly.
template <class Terms>
bool all_divisible(const Terms& terms, std::int64_t divisor) {
  if (divisor <= 1) return divisor == 1;
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return term.coefficient % divisor == 0; });
}

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return floor_div_value(a.constant(), b.constant());
  if (b == Dim(1)) return a;
  if (b.is_constant() && all_divisible(a.poly_->terms, b.constant())) {
    auto terms = a.poly_->terms;
    for (auto& term : terms) term.coefficient /= b.constant();
    return Dim(normalise<Dim::Poly>(std::move(terms)));
  }
  return Dim::binary_atom(Dim::Kind::floor_div, a, b);
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant())
    return apply(Dim::Kind::ceil_div, a.constant(), b.constant());
  if (b.is_constant() && all_divisible(a.poly_->terms, b.constant())) return floor_div(a, b);
  return Dim::binary_atom(Dim::Kind::ceil_div, a, b);
}

namespace {

std::optional<Dim> fold(Dim::Kind kind, const Dim& a, const Dim& b) {
  if (!a.is_constant() || !b.is_constant()) return std::nullopt;
  return Dim(apply(kind, a.constant(), b.constant()));
}

}  // namespace

Dim min(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (auto folded = fold(Dim::Kind::min, a, b)) return *folded;
  return b < a ? Dim::binary_atom(Dim::Kind::min, b, a) : Dim::binary_atom(Dim::Kind::min, a, b);
}
Dim max(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (auto folded = fold(Dim::Kind::max, a, b)) return *folded;
  return b < a ? Dim::binary_atom(Dim::Kind::max, b, a) : Dim::binary_atom(Dim::Kind::max, a, b);
}
Dim less(const Dim& a, const Dim& b) {
  if (a == b) return 0;
  if (auto folded = fold(Dim::Kind::less, a, b)) return *folded;
  return Dim::binary_atom(Dim::Kind::less, a, b);
}
Dim equal(const Dim& a, const Dim& b) {
  if (a == b) return 1;
  if (auto folded = fold(Dim::Kind::equal, a, b)) return *folded;
  return b < a ? Dim::binary_atom(Dim::Kind::equal, b, a)
               : Dim::binary_atom(Dim::Kind::equal, a, b);
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + dims[i].to_string();
  return text + "]";
}

Dim product(const Dims& dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

namespace {

// Grammar: sum := ['-'] term {('+'|'-') term};  term := factor {'*' factor};
//          factor := number | name | function '(' arguments ')' | '(' sum ')'
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Dim whole() {
    Dim result = sum();
    skip_space();
    if (at_ != text_.size()) error("unexpected text");
    return result;
  }

 private:
  static constexpr int max_depth = 64;  // hostile text must not exhaust the stack

  [[noreturn]] void error(const char* what) {
    bool is_long = text_.size() > 80;
    fail("size \"{}{}\": {} at position {}", text_.substr(0, 80), is_long ? "..." : "", what, at_);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) error(c == ')' ? "')' expected" : c == '(' ? "'(' expected" : "',' expected");
  }

  Dim sum() {
    if (++depth_ > max_depth) error("nested too deeply");
    Dim result = take('-') ? Dim(-1) * term() : term();
    for (;;) {
      if (take('+'))
        result = result + term();
      else if (take('-'))
        result = result - term();
      else
        break;
    }
    --depth_;
    return result;
  }

  Dim term() {
    Dim result = factor();
    while (take('*')) result = result * factor();
    return result;
  }

  Dim factor() {
    skip_space();
    if (take('(')) {
      Dim result = sum();
      expect(')');
      return result;
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    std::string word = name();
    if (!take('(')) return Dim::symbol(word);
    Dim result = call(word);
    expect(')');
    return result;
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    bool any = false;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = checked_add(checked_mul(value, 10), text_[at_++] - '0');
      any = true;
    }
    if (!any) error("number expected");
    return value;
  }

  std::string name() {
    skip_space();
    std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (at_ == start) error("name or number expected");
    return std::string(text_.substr(start, at_ - start));
  }

  Dim call(const std::string& function) {
    if (function == "late") return Dim::late(name());
    if (function == "operand") {
      std::string input = name();
      expect(',');
      std::int64_t position = number();
      if (position > 65535) error("no list of sizes is so long");
      return Dim::operand(input, static_cast<int>(position));
    }
    Dim a = sum();
    expect(',');
    if (function == "bounded") return Dim::bounded(a, name());
    Dim b = sum();
    if (function == "floor_div") return floor_div(a, b);
    if (function == "ceil_div") return ceil_div(a, b);
    if (function == "min") return fuseline::min(a, b);
    if (function == "max") return fuseline::max(a, b);
    if (function == "less") return less(a, b);
    if (function == "equal") return equal(a, b);
    error("unknown function");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim Dim::parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace fuseline
