// The shared arrays of a simulated block, with a record of who touched what between barriers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "emit/cuda_c/host/interface.hpp"

namespace fuseline::host {

class SharedMemory {
 public:
  // Forgets the arrays of the block before.
  void begin_block() { arrays_.clear(); }
  // Between two barriers the order of the threads' accesses is nobody's promise.
  void pass_barrier() { ++interval_; }

  void* array(const char* name, std::int64_t elements, int bytes, Poison poison);
  // What is wrong with this access, empty where nothing is.
  std::string touch(const char* name, std::int64_t index, bool write, bool atomic, int thread);

 private:
  struct Record {
    std::uint64_t write_interval = 0, read_interval = 0;
    int writer = -1, reader = -1;
    bool many_readers = false, atomic_write = false, written = false;
  };
  struct Array {
    std::string name;
    std::vector<std::uint64_t> words;  // 8-byte words, moved to a 16-byte boundary below
    std::vector<Record> records;
    void* data = nullptr;
  };
  Array& find(const char* name);

  std::deque<Array> arrays_;
  std::uint64_t interval_ = 1;
};

}  // namespace fuseline::host
