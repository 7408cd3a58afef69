// An Arena whose address space is reserved once and mapped as it grows.
#pragma once

#include <vector>

#include "device/cuda/driver.hpp"
#include "program/device.hpp"

namespace fuseline::cuda {

class CudaArena final : public Arena {
 public:
  // Reserves as much address space as the device has memory.
  CudaArena(driver_api::Context context, driver_api::Device device, std::string device_name);
  ~CudaArena() override;
  void* grow(std::size_t bytes) override;
  bool moves() const override { return false; }

 private:
  void map(std::size_t bytes);

  driver_api::Context context_;
  driver_api::MemoryProperties properties_ = {};
  std::string device_name_;
  std::size_t granularity_ = 0;
  std::size_t reserved_ = 0;
  std::size_t mapped_ = 0;
  driver_api::Pointer base_ = 0;
  struct Piece {
    std::size_t offset, bytes;
  };
  std::vector<Piece> pieces_;
};

}  // namespace fuseline::cuda
