// What a compiled host text and the simulator say to each other. The declarations are compiled
// here and, as text, at the head of every host source.
#pragma once

namespace fuseline::host {

#define FUSELINE_CODE_AND_TEXT(name, ...) \
  __VA_ARGS__                             \
  inline constexpr const char name[] = #__VA_ARGS__;

// clang-format off
FUSELINE_CODE_AND_TEXT(interface_text,
  // One pointer argument.
  struct Memory {
    void* data;
    long long elements;
    const char* name;
  };
  enum Fault { out_of_range, misaligned };
  enum Poison { poison_integer, poison_float };
  // Set by the simulator before a thread runs, and the calls that a thread makes. Lines are those
  // of the kernel's text.
  struct Host {
    long long block;
    long long blocks;
    int thread;
    int threads;
    // Does not return.
    void (*fault)(Fault kind, const char* name, long long index, long long count,
                  long long elements);
    void (*wait_at_barrier)(int line);
    void (*warp_shuffle)(void* value, int bytes, int distance, int line);
    int (*warp_ballot)(bool holds, int line);
    // The block's array of that name; filled with poison when the first thread asks.
    void* (*shared)(const char* name, long long elements, int bytes, Poison poison);
    void (*touch)(const char* name, long long index, long long count, bool write, bool atomic);
  };
  struct Entry {
    void (*call)(const Memory* memory, const unsigned long long* params);
    int memory_count;
    int param_count;
  };
)
// clang-format on

}  // namespace fuseline::host
