// Our own ranges for tools that read NVTX. Off, a range costs one load and one branch.
#pragma once

#include <string>
#include <string_view>

#include "nvtx/protocol.hpp"

namespace fuseline::nvtx {

// The program's end of a connection to one tool. The process has one such, by `attached`.
class Client {
 public:
  // Opens the tool's library. Throws Error where it is no such library or declines.
  explicit Client(const char* library);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The function that the tool put there; nullptr where it takes no interest.
  template <class Signature>
  Signature* at(Module module, unsigned place) const {
    return reinterpret_cast<Signature*>(functions_[module][place]);
  }

  void push(const std::string& name) const;  // on this thread, in our domain
  void pop() const;

 private:
  static constexpr unsigned most_places = 16;
  static const void* table_of(std::uint32_t id);
  static int functions_of(Module module, FunctionTable* table, unsigned* count);

  Function functions_[modules][most_places] = {};
  Function* addresses_[modules][most_places + 1] = {};
  Handle domain_ = nullptr;
};

// Of the tool that NVTX_INJECTION64_PATH names; nullptr without one. One that cannot be used is
// told in the log, once.
const Client* attached();

// A range of the domain "Fuseline" that lasts as long as the object.
class Range {
 public:
  explicit Range(std::string_view name) : client_(attached()) {
    if (client_) client_->push(std::string(name));
  }
  ~Range() {
    if (client_) client_->pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const Client* client_;
};

}  // namespace fuseline::nvtx
