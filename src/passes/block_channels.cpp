// One walk through the graph: every value has a plain form, a blocked form, or both.
#include "passes/block_channels.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fuseline/ops.hpp"
#include "graph/op_table.hpp"
#include "passes/blocked_image.hpp"
#include "passes/rewriter.hpp"

namespace fuseline {
namespace {

// An operand below this many channels is read as it is: three colors are no block.
constexpr std::int64_t least_blocked_channels = 8;

class ChannelBlocker {
 public:
  ChannelBlocker(const Graph& graph, const Target& target)
      : from_(graph), rewriter_(graph), block_(target.channel_block) {}

  Graph run() {
    for (const Node& node : from_.nodes()) {
      to().set_origin(node.origin);
      if (auto image = blocked(node))
        images_.emplace(node.output, *image);
      else
        copy(node);
    }
    to().set_origin({});
    for (const NamedValue& output : from_.outputs()) plain(output.value);
    return rewriter_.finish();
  }

 private:
  const Dims& dims(ValueId old) const { return from_.type(old).dims; }
  Graph& to() { return rewriter_.graph(); }

  void copy(const Node& node) {
    for (ValueId input : node.inputs) plain(input);
    rewriter_.copy(node);
  }

  // ---- the two forms

  Value plain(ValueId old) {
    auto image = images_.find(old);
    if (image == images_.end() || done_.contains(old)) return to().value(rewriter_[old]);
    Value value = to_plain(image->second);
    rewriter_.replace(old, value.id());
    done_.insert(old);
    return value;
  }

  std::int64_t block_for(std::int64_t channels) const { return block_ > 0 ? block_ : channels; }

  BlockedImage blocked_form(ValueId old) {
    auto known = images_.find(old);
    if (known != images_.end()) return known->second;
    std::int64_t channels = dims(old)[1].constant();
    BlockedImage image = to_blocks(plain(old), block_for(channels));
    images_.emplace(old, image);
    done_.insert(old);
    return image;
  }

  const BlockedImage* image_of(ValueId old) const {
    auto found = images_.find(old);
    return found == images_.end() ? nullptr : &found->second;
  }
  bool any_image(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId v) { return image_of(v) != nullptr; });
  }

  // ---- nodes

  std::optional<BlockedImage> blocked(const Node& node) {
    if (node.op == OpCode::conv || node.op == OpCode::conv_transpose) return convolution(node);
    if (!any_image(node)) return std::nullopt;
    switch (node.op) {
      case OpCode::concat:
        return concatenation(node);
      case OpCode::slice:
        return cut(node);
      case OpCode::window:
        return neighborhoods(node);
      case OpCode::reshape:
        return flat_kernel(node);
      case OpCode::pad:
        return padding(node);
      case OpCode::gather:
        return gathered(node);
      default:
        break;
    }
    OpGroup group = info(node.op).group;
    if (group == OpGroup::elementwise || node.op == OpCode::cast) return elementwise(node);
    if (group == OpGroup::reduction && !info(node.op).space) return reduction(node);
    return std::nullopt;
  }

  std::optional<BlockedImage> convolution(const Node& node) {
    const Dims &x = dims(node.inputs[0]), &y = dims(node.output);
    if (from_.type(node.output).dtype != DType::f32 && from_.type(node.output).dtype != DType::bf16)
      return std::nullopt;
    if (node.attributes.has("x_block") || node.attributes.has("y_block")) return std::nullopt;
    if (!x[1].is_constant() || !y[1].is_constant() || x.size() > 5) return std::nullopt;
    std::int64_t from = x[1].constant(), to = y[1].constant();
    std::int64_t groups = node.attributes.integer("groups");
    if (groups > 1 && !whole_groups(from, to, groups)) return std::nullopt;
    bool read_plain = from < least_blocked_channels && !image_of(node.inputs[0]);
    Attributes attributes = node.attributes;
    Value operand = read_plain ? plain(node.inputs[0]) : readable(node.inputs[0], attributes);
    attributes.set("y_block", block_for(to));
    Value result = this->to().apply(node.op, {operand, plain(node.inputs[1])}, attributes);
    return BlockedImage{result, block_for(to), to, true, 0};
  }

  // Groups that begin and end with a block, or are single channels.
  bool whole_groups(std::int64_t from, std::int64_t to, std::int64_t groups) const {
    if (groups == from && from == to) return true;
    return block_ > 0 && from / groups % block_ == 0 && to / groups % block_ == 0;
  }

  // As a convolution reads it: nothing but zeros in lanes without a channel.
  Value readable(ValueId old, Attributes& attributes) {
    BlockedImage image = blocked_form(old);
    if (!image.clean) {
      image = cleaned(image);
      images_.insert_or_assign(old, image);
    }
    attributes.set("x_block", image.block);
    return image.value;
  }

  std::optional<BlockedImage> elementwise(const Node& node) {
    const Dims& result = dims(node.output);
    if (result.size() < 3 || !result[1].is_constant()) return std::nullopt;
    std::int64_t channels = result[1].constant(), block = block_for(channels);
    std::vector<Value> operands;
    for (ValueId input : node.inputs)
      if (const BlockedImage* image = image_of(input))
        if (image->channels != channels || image->extra > 0 || dims(input).size() != result.size())
          return std::nullopt;
    for (ValueId input : node.inputs)
      operands.push_back(image_of(input)
                             ? images_.at(input).value
                             : broadcast_operand(plain(input), result.size(), channels, block));
    Value value = to().apply(node.op, operands, node.attributes);
    return BlockedImage{value, block, channels, channels % block == 0, 0};
  }

  // Along the channels, in whole blocks but for the last part; or along another axis.
  std::optional<BlockedImage> concatenation(const Node& node) {
    const Dims& result = dims(node.output);
    std::int64_t axis = node.attributes.integer("axis");
    if (result.size() < 3 || !result[1].is_constant()) return std::nullopt;
    std::int64_t channels = result[1].constant(), block = block_for(channels);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Dim& own = dims(node.inputs[i])[1];
      const BlockedImage* image = image_of(node.inputs[i]);
      if (!own.is_constant() || (image && image->extra > 0)) return std::nullopt;
      bool last = i + 1 == node.inputs.size();
      if (axis == 1 && block_ > 0 && !last && own.constant() % block_ != 0) return std::nullopt;
    }
    std::vector<Value> parts;
    bool clean = true;
    for (ValueId input : node.inputs) {
      BlockedImage part = blocked_form(input);
      clean = clean && part.clean;
      parts.push_back(part.value);
    }
    auto last_axis = static_cast<int>(result.size());
    Value value = concat(parts, axis == 1 && block_ == 0 ? last_axis : static_cast<int>(axis));
    return BlockedImage{value, block, channels, clean, 0};
  }

  // A range of channels in whole blocks, or of places.
  std::optional<BlockedImage> cut(const Node& node) {
    const BlockedImage& image = *image_of(node.inputs[0]);
    Dims starts = node.attributes.dims("starts"), sizes = node.attributes.dims("dims");
    std::vector<std::int64_t> steps(starts.size(), 1);
    if (node.attributes.has("steps")) steps = node.attributes.integers("steps");
    if (image.extra > 0 || steps[1] != 1 || !starts[1].is_constant() || !sizes[1].is_constant())
      return std::nullopt;
    std::int64_t start = starts[1].constant(), channels = sizes[1].constant();
    bool whole = start % image.block == 0 && channels % image.block == 0;
    if (block_ > 0 && !whole && channels != image.channels) return std::nullopt;
    Dim lane_start = block_ > 0 ? Dim(0) : starts[1];
    starts[1] = block_ > 0 ? Dim(start / image.block) : Dim(0);
    sizes[1] = block_ > 0 ? Dim((channels + image.block - 1) / image.block) : Dim(1);
    starts.push_back(lane_start);
    sizes.emplace_back(block_for(channels));
    steps.push_back(1);
    Value value = slice(image.value, starts, sizes, steps);
    return BlockedImage{value, block_for(channels), channels, image.clean, 0};
  }

  std::optional<BlockedImage> neighborhoods(const Node& node) {
    const BlockedImage* image = image_of(node.inputs[0]);
    const Dims& x = dims(node.inputs[0]);
    std::int64_t trail = node.attributes.integer_or("trail", 0);
    std::size_t kernel = node.attributes.integers("kernel").size();
    if (!image || image->extra > 0 || kernel + static_cast<std::size_t>(trail) + 2 != x.size())
      return std::nullopt;
    Attributes attributes = node.attributes;
    attributes.set("trail", trail + 1);
    Value value = to().apply(OpCode::window, {image->value, plain(node.inputs[1])}, attributes);
    // Windows in the border hold the value outside, in every lane.
    return BlockedImage{value, image->block, image->channels, image->channels % image->block == 0,
                        static_cast<int>(kernel)};
  }

  // The kernel's axes behind an image as one.
  std::optional<BlockedImage> flat_kernel(const Node& node) {
    BlockedImage image = *image_of(node.inputs[0]);
    const Dims &old = dims(node.inputs[0]), &now = dims(node.output);
    auto extra = static_cast<std::size_t>(image.extra);
    std::size_t lead = old.size() - extra;
    bool flattens = extra > 1 && now.size() == lead + 1 &&
                    std::equal(old.begin(), old.begin() + static_cast<long>(lead), now.begin());
    if (!flattens) return std::nullopt;
    const Dims& held = image.value.dims();
    Dims flat(held.begin(), held.end() - image.extra);
    flat.push_back(now.back());
    image.value = fuseline::reshape(image.value, flat);
    image.extra = 1;
    return image;
  }

  std::optional<BlockedImage> padding(const Node& node) {
    const BlockedImage* image = image_of(node.inputs[0]);
    if (!image || image->extra > 0) return std::nullopt;
    Attributes attributes = node.attributes;
    for (const char* side : {"before", "after"}) {
      Dims amounts = attributes.dims(side);
      if (amounts[1] != Dim(0)) return std::nullopt;
      amounts.emplace_back(0);
      attributes.set(side, amounts);
    }
    Value value = to().apply(OpCode::pad, {image->value, plain(node.inputs[1])}, attributes);
    bool same = attributes.text("mode") != "constant" || image->channels % image->block == 0;
    return BlockedImage{value, image->block, image->channels, image->clean && same, 0};
  }

  // Places picked by a list: what resizing to nearest neighbors is made of.
  std::optional<BlockedImage> gathered(const Node& node) {
    const BlockedImage* image = image_of(node.inputs[0]);
    if (!image || image->extra > 0 || node.attributes.integer("axis") < 2 ||
        dims(node.inputs[1]).size() != 1)
      return std::nullopt;
    Value value =
        to().apply(OpCode::gather, {image->value, plain(node.inputs[1])}, node.attributes);
    return BlockedImage{value, image->block, image->channels, image->clean, 0};
  }

  // Over places or over the kernel's axes, never over channels.
  std::optional<BlockedImage> reduction(const Node& node) {
    BlockedImage image = *image_of(node.inputs[0]);
    auto rank = static_cast<int>(dims(node.inputs[0]).size());
    std::vector<int> axes = reduced_axes(node, static_cast<std::size_t>(rank));
    bool keep = node.attributes.integer_or("keepdims", 0) != 0;
    int first_extra = rank - image.extra;
    bool over_extra = image.extra > 0 && static_cast<int>(axes.size()) == image.extra &&
                      axes.front() == first_extra && !keep;
    bool over_places = image.extra == 0 && keep && axes.front() >= 2;
    if (!over_extra && !over_places) return std::nullopt;
    std::vector<std::int64_t> moved;
    for (int axis : axes) moved.push_back(axis + (over_extra ? 1 : 0));
    Attributes attributes = node.attributes;
    attributes.set("axes", moved);
    image.value = to().apply(node.op, {image.value}, attributes);
    image.extra = 0;
    image.clean = image.channels % image.block == 0;
    return image;
  }

  const Graph& from_;
  Rewriter rewriter_;
  std::int64_t block_;
  std::map<ValueId, BlockedImage> images_;
  std::set<ValueId> done_;  // those of images_ that have a plain form, too
};

}  // namespace

Graph block_channels(const Graph& graph, const Target& target) {
  return ChannelBlocker(graph, target).run();
}

}  // namespace fuseline
