// Small tensors from lists, and the message of an expected Error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fuseline/error.hpp"
#include "fuseline/graph.hpp"

namespace fuseline::testing {

using Inputs = std::vector<std::pair<std::string, Tensor>>;

// A dense tensor with the given elements in row-major order.
template <class T>
Tensor tensor(Shape shape, const std::vector<T>& elements) {
  Tensor result = Tensor::allocate(dtype_of<T>(), std::move(shape));
  EXPECT_EQ(result.size(), static_cast<std::int64_t>(elements.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) result.as<T>()[i] = elements[i];
  return result;
}

template <class T>
Tensor zeros(Shape shape) {
  auto count = static_cast<std::size_t>(element_count(shape));
  return tensor<T>(std::move(shape), std::vector<T>(count));
}

template <class T>
std::vector<T> elements(const Tensor& dense) {
  EXPECT_EQ(dense.dtype(), dtype_of<T>());
  EXPECT_TRUE(dense.is_dense());
  return std::vector<T>(dense.as<T>(), dense.as<T>() + dense.size());
}

// The message of the Error that `action` throws; a test failure when it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

}  // namespace fuseline::testing
