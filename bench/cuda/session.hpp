// What all rows of a CUDA benchmark share: the device, one stream, memory, hand-written kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/extra_driver.hpp"
#include "device/cuda/driver.hpp"
#include "program/device.hpp"

namespace fuseline::bench {

struct HandKernel {
  driver_api::Function function = nullptr;
  int registers = 0;
  int spill_bytes = 0;
};

class Session {
 public:
  explicit Session(Device& device);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Device& device() const { return device_; }
  driver_api::Context context() const { return context_; }
  driver_api::Stream stream() const { return stream_; }
  // Device memory, filled with zeros; it lives as long as the session.
  char* allocate(std::size_t bytes);
  void upload(void* to, const void* from, std::size_t bytes);
  void download(void* to, const void* from, std::size_t bytes);
  void fill(void* memory, unsigned char byte, std::size_t bytes);
  void wait();
  // Compiles CUDA C; its kernels are found by name from then on.
  void compile(const std::string& source, const std::string& name);
  HandKernel kernel(const std::string& name) const;
  int attribute(driver_api::Attribute which) const;

 private:
  Device& device_;
  driver_api::Context context_ = nullptr;
  driver_api::Stream stream_ = nullptr;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<driver_api::Module> modules_;
};

// A CUDA graph: replay() queues it on the session's stream.
class Recorded {
 public:
  Recorded(Session& session, driver_api::Graph graph);
  ~Recorded();
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  void replay(int times) const;

 private:
  Session& session_;
  driver_api::Graph graph_;
  driver_api::Exec exec_ = nullptr;
};

// Builds a graph by hand: each node waits for the one before.
class Recorder {
 public:
  explicit Recorder(Session& session);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  // Arguments are 8 bytes each.
  void launch(driver_api::Function function, std::int64_t blocks, int threads,
              std::span<const std::uint64_t> arguments);
  void copy(void* to, const void* from, std::size_t bytes);
  std::shared_ptr<Recorded> finish();

 private:
  const driver_api::Node* before() const { return last_ ? &last_ : nullptr; }
  Session& session_;
  driver_api::Graph graph_ = nullptr;
  driver_api::Node last_ = nullptr;
};

}  // namespace fuseline::bench
