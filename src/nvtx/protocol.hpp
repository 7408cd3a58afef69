// What a program and a tool say to each other through NVTX, version 3: the part that is used here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuseline::nvtx {

// Functions that a tool may take over, by module and place. Place 0 of a module is none.
enum Module : unsigned { core = 1, cuda = 2, opencl = 3, cuda_runtime = 4, core2 = 5, sync = 6 };
inline constexpr unsigned modules = 7;
// Of each module, place 0 included.
inline constexpr unsigned places[modules] = {0, 16, 9, 15, 7, 16, 7};

// Of `core`.
enum CorePlace : unsigned {
  range_start_ex = 4,
  range_start_a = 5,
  range_start_w = 6,
  range_end = 7,
  range_push_ex = 8,
  range_push_a = 9,
  range_push_w = 10,
  range_pop = 11
};
// Of `core2`.
enum Core2Place : unsigned {
  domain_range_start_ex = 2,
  domain_range_end = 3,
  domain_range_push_ex = 4,
  domain_range_pop = 5,
  domain_register_string_a = 10,
  domain_register_string_w = 11,
  domain_create_a = 12,
  domain_create_w = 13,
  domain_destroy = 14
};

enum MessageType : std::int32_t {
  message_unknown = 0,
  message_ascii = 1,
  message_unicode = 2,
  message_registered = 3
};

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;  // characters, wide characters, or what registering a string returned
};
inline constexpr std::uint16_t version = 3;
inline constexpr int no_tracking = -2;  // what a pop without a push returns

using RangeId = std::uint64_t;
using Handle = const void*;  // of a domain or a string, made by the tool; null: the default domain

using RangeStartEx = RangeId(const Attributes*);
using RangeStartA = RangeId(const char*);
using RangeStartW = RangeId(const wchar_t*);
using RangeEnd = void(RangeId);
using RangePushEx = int(const Attributes*);
using RangePushA = int(const char*);
using RangePushW = int(const wchar_t*);
using RangePop = int();
using DomainRangeStartEx = RangeId(Handle, const Attributes*);
using DomainRangeEnd = void(Handle, RangeId);
using DomainRangePushEx = int(Handle, const Attributes*);
using DomainRangePop = int(Handle);
using RegisterStringA = Handle(Handle, const char*);
using RegisterStringW = Handle(Handle, const wchar_t*);
using DomainCreateA = Handle(const char*);
using DomainCreateW = Handle(const wchar_t*);

// The tool's entry gets a function that gives tables. The table of callbacks gives, for a module,
// an array of the addresses of the program's function pointers; the tool writes its own into them.
using Function = void (*)();
using FunctionTable = Function**;
enum Table : std::uint32_t { table_callbacks = 1, table_version = 3 };
struct CallbackTable {
  std::size_t size;
  int (*functions_of)(Module, FunctionTable* table, unsigned* places);
};
struct VersionTable {
  std::size_t size;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_tool_version)(std::uint32_t);
};
using GetTable = const void*(std::uint32_t);
using InitializeTool = int(GetTable*);  // 0: the tool does not want to be used
inline constexpr const char* initialize_tool = "InitializeInjectionNvtx2";

}  // namespace fuseline::nvtx
