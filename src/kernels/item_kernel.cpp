// Items, blocks and addresses.
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

constexpr std::int64_t cpu_elements = 4096;  // of an item of each_element

}  // namespace

ItemKernel::ItemKernel(std::string name, const Target& target)
    : gpu_(is_gpu(target)), kernel_(std::make_shared<loop::Kernel>()), builder_(*kernel_) {
  kernel_->name = std::move(name);
  kernel_->threads = gpu_ ? gpu_threads : 1;
}

int ItemKernel::read(std::string name, DType dtype, Argument from) {
  launch_.arguments.push_back(from);
  return builder_.add_buffer({std::move(name), dtype, false});
}

int ItemKernel::write(std::string name, DType dtype, Argument to) {
  launch_.arguments.push_back(to);
  return builder_.add_buffer({std::move(name), dtype, true});
}

Id ItemKernel::size(std::string name, std::int64_t value) {
  launch_.params.push_back(static_cast<std::uint64_t>(value));
  return builder_.param(builder_.add_param({std::move(name), DType::i64}));
}

void ItemKernel::each_item(std::int64_t items, const std::function<void(Id)>& body) {
  loop::Builder& b = builder_;
  launch_.blocks = gpu_ ? ceil_of(items, gpu_threads) : items;
  if (!gpu_) return body(b.block_id());
  Id count = size("items", items);
  Id item = b.add(b.mul(b.block_id(), threads()), thread());
  b.if_then(b.lt(item, count), [&] { body(item); });
}

void ItemKernel::each_element(std::int64_t count, const std::function<void(Id)>& body) {
  if (gpu_) return each_item(count, body);
  loop::Builder& b = builder_;
  Id total = size("elements", count), step = number(cpu_elements);
  each_item(ceil_of(count, cpu_elements), [&](Id item) {
    Id first = b.mul(item, step);
    b.for_range(first, b.min(b.add(first, step), total), number(1), body);
  });
}

void ItemKernel::each_block(std::int64_t items, const std::function<void(Id)>& body) {
  launch_.blocks = items;
  body(builder_.block_id());
}

Id ItemKernel::thread() {
  return gpu_ ? builder_.cast(DType::i64, builder_.thread_id()) : number(0);
}
Id ItemKernel::threads() {
  return gpu_ ? builder_.cast(DType::i64, builder_.thread_count()) : number(1);
}
void ItemKernel::barrier() {
  if (gpu_) builder_.barrier();
}

Launch ItemKernel::finish() {
  launch_.kernel = kernel_;
  return std::move(launch_);
}

Id offset_of(ItemKernel& k, const std::string& name, const Operand& tensor, Id linear) {
  loop::Builder& b = k.builder();
  Id offset = k.number(0);
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    std::string own = name + std::to_string(axis);
    Id stride = k.size(own + "_stride", tensor.strides[axis]);
    Id place = linear;
    if (axis > 0) {
      Id extent = k.size(own + "_size", tensor.shape[axis]);
      place = b.rem(linear, extent);
      linear = b.div(linear, extent);
    }
    offset = b.add(offset, b.mul(place, stride));
  }
  return offset;
}

namespace {

// Neighbouring axes that are stepped through alike become one.
Operand merged(const Operand& tensor) {
  Operand result{tensor.dtype, {}, {}};
  for (std::size_t k = 0; k < tensor.shape.size(); ++k) {
    bool joins =
        !result.shape.empty() && result.strides.back() == tensor.strides[k] * tensor.shape[k];
    if (joins) {
      result.shape.back() *= tensor.shape[k];
      result.strides.back() = tensor.strides[k];
    } else {
      result.shape.push_back(tensor.shape[k]);
      result.strides.push_back(tensor.strides[k]);
    }
  }
  return result;
}

Operand without_axis(Operand tensor, std::size_t axis) {
  tensor.shape.erase(tensor.shape.begin() + static_cast<long>(axis));
  tensor.strides.erase(tensor.strides.begin() + static_cast<long>(axis));
  return merged(tensor);
}

}  // namespace

Rows::Rows(ItemKernel& k, std::string name, const Operand& tensor, std::size_t axis)
    : k_(k),
      name_(std::move(name)),
      rest_(without_axis(tensor, axis)),
      stride_(k.size(name_ + "_step", tensor.strides[axis])) {}

void Rows::start(Id row) { base_ = offset_of(k_, name_, rest_, row); }
Id Rows::at(Id place) {
  loop::Builder& b = k_.builder();
  return b.add(base_, b.mul(place, stride_));
}

}  // namespace fuseline::kernels
