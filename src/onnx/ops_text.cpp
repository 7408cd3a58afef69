// TfIdfVectorizer: how often runs of tokens occur.
#include <algorithm>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

// The n-grams of one length: their tokens, one after the other, and the columns of the result.
struct Grams {
  std::int64_t length = 0;
  std::vector<std::int64_t> tokens, columns;
};

std::vector<Grams> grams_of(Context& c) {
  std::vector<std::int64_t> pool = c.integer_list("pool_int64s");
  std::vector<std::int64_t> starts = c.integer_list("ngram_counts");
  std::vector<std::int64_t> columns = c.integer_list("ngram_indexes");
  if (pool.empty()) fail("attribute pool_int64s is needed; strings are not supported");
  std::int64_t shortest = c.integer("min_gram_length"), longest = c.integer("max_gram_length");
  auto size = static_cast<std::int64_t>(pool.size());
  std::vector<Grams> all;
  std::size_t column = 0;
  for (std::size_t n = 0; n < starts.size(); ++n) {
    std::int64_t first = starts[n], end = n + 1 < starts.size() ? starts[n + 1] : size;
    auto length = static_cast<std::int64_t>(n) + 1;
    if (first < 0 || end < first || end > size || (end - first) % length != 0)
      fail("attribute ngram_counts: {} to {} of {} tokens are no {}-grams", first, end, size,
           length);
    Grams grams{length, {pool.begin() + first, pool.begin() + end}, {}};
    for (std::int64_t i = first; i < end; i += length, ++column) {
      if (column >= columns.size()) fail("attribute ngram_indexes has {} entries", columns.size());
      grams.columns.push_back(columns[column]);
    }
    if (length >= shortest && length <= longest && !grams.columns.empty())
      all.push_back(std::move(grams));
  }
  return all;
}

// How often each n-gram occurs in the rows of x [B,N] with `step` from token to token: [B,G].
Value occurrences(const Value& x, const Grams& grams, std::int64_t step) {
  Graph& graph = x.graph();
  auto count = static_cast<std::int64_t>(grams.columns.size());
  Dim places = x.dims()[1] - (grams.length - 1) * step;
  if (!places.is_constant()) fail("the number of tokens, {}, must be known", places.to_string());
  if (places.constant() <= 0)
    return broadcast_to(graph.constant(DType::i64, std::int64_t{0}), {x.dims()[0], count});
  Value tokens = integer_constant(graph, grams.tokens, {1, count, grams.length});
  Value all = graph.constant(DType::bool_, std::int64_t{1});
  for (std::int64_t k = 0; k < grams.length; ++k) {
    Value here = unsqueeze(part(x, 1, k * step, places), {1});
    all = all & (here == unsqueeze(pick(tokens, 2, k), {2}));
  }
  return fuseline::count(all, {2});
}

void tf_idf_vectorizer(Context& c) {
  Value x = cast(c.in(0), DType::i64);
  bool batch = x.dims().size() == 2;
  if (!batch) x = reshape(x, {1, product(x.dims())});
  std::vector<std::int64_t> columns = c.integer_list("ngram_indexes");
  if (columns.empty()) fail("attribute ngram_indexes is needed");
  std::int64_t width = *std::max_element(columns.begin(), columns.end()) + 1;
  // Column 0 of what is picked from holds zeros: that of no n-gram.
  std::vector<std::int64_t> source(static_cast<std::size_t>(width), 0);
  std::vector<Value> parts = {
      broadcast_to(c.graph.constant(DType::i64, std::int64_t{0}), {x.dims()[0], 1})};
  std::int64_t next = 1;
  for (const Grams& grams : grams_of(c)) {
    std::int64_t skips = grams.length > 1 ? c.integer("max_skip_count") : 0;
    Value found = occurrences(x, grams, 1);
    for (std::int64_t skip = 1; skip <= skips; ++skip)
      found = found + occurrences(x, grams, skip + 1);
    parts.push_back(found);
    for (std::int64_t column : grams.columns) source.at(static_cast<std::size_t>(column)) = next++;
  }
  Value counts = gather(concat_many(parts, 1), integer_constant(c.graph, source, {width}), 1);
  std::string mode = c.choice("mode", "TF", {"TF", "IDF", "TFIDF"});
  Value y = cast(mode == "IDF" ? minimum(counts, 1) : counts, DType::f32);
  std::vector<double> weights = c.real_list("weights");
  if (mode != "TF" && !weights.empty()) {
    Tensor by_column = Tensor::allocate(DType::f32, {width});
    std::fill_n(by_column.as<float>(), width, 1.0f);
    for (std::size_t i = 0; i < std::min(weights.size(), columns.size()); ++i)
      by_column.as<float>()[columns[i]] = static_cast<float>(weights[i]);
    y = y * c.graph.constant(by_column);
  }
  c.out(batch ? y : reshape(y, {width}));
}

constexpr OperatorRow rows[] = {
    {"TfIdfVectorizer", 9, tf_idf_vectorizer},
};

}  // namespace

std::span<const OperatorRow> text_operators() { return rows; }

}  // namespace fuseline::onnx
