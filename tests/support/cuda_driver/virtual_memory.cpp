// Memory of the simulated device: allocations, and pieces that are mapped to reserved addresses.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "support/cuda_driver/simulated.hpp"

namespace fuseline::standin {
namespace {

constexpr std::size_t granularity = 4096;  // a device has 2 MiB; small frames are to grow, too

// Memory lives as long as its handle or a mapping does.
struct Piece {
  std::size_t bytes = 0;
  bool handle = true;
  int mappings = 0;
};
struct Mapping {
  std::size_t bytes = 0;
  MemoryHandle piece = 0;
  bool accessible = false;
};

std::map<MemoryHandle, Piece>& pieces() {
  static auto* all = new std::map<MemoryHandle, Piece>;
  return *all;
}
std::map<Pointer, Mapping>& mappings() {
  static auto* all = new std::map<Pointer, Mapping>;
  return *all;
}

void drop_unused(MemoryHandle handle) {
  const Piece& piece = pieces().at(handle);
  if (piece.handle || piece.mappings > 0) return;
  Memory::all().drop(piece.bytes);
  pieces().erase(handle);
}

bool overlaps_a_mapping(Pointer address, std::size_t bytes) {
  return std::any_of(mappings().begin(), mappings().end(), [&](const auto& known) {
    return known.first < address + bytes && address < known.first + known.second.bytes;
  });
}

}  // namespace

Result cuMemGetInfo_v2(SimulatedDevice, std::size_t* free, std::size_t* total) {
  if (Result why = usable()) return why;
  *total = Memory::all().limit();
  *free = *total - std::min(*total, Memory::all().in_use());
  return success;
}

Result cuMemAlloc_v2(SimulatedDevice, Pointer* memory, std::size_t bytes) {
  if (Result why = usable()) return why;
  if (bytes == 0) return misuse("no bytes were allocated");
  *memory = Memory::all().allocate(bytes);
  return *memory ? success : error_out_of_memory;
}

Result cuMemFree_v2(SimulatedDevice, Pointer memory) {
  if (Result why = usable()) return why;
  if (Result why = drain_all()) return why;  // the driver waits here, unlike in cuMemUnmap
  return Memory::all().free(memory) ? success : misuse("memory freed that is not allocated");
}

Result cuDeviceTotalMem_v2(SimulatedDevice, std::size_t* bytes, Device) {
  *bytes = Memory::all().limit();
  return success;
}

// As of pageable memory, which the driver does not know.
Result cuPointerGetAttribute(SimulatedDevice, void*, PointerAttribute, Pointer) {
  return error_invalid_value;
}

Result cuMemHostAlloc(SimulatedDevice, void** memory, std::size_t bytes, unsigned) {
  if (Result why = usable()) return why;
  *memory = std::malloc(bytes);
  return *memory ? success : error_out_of_memory;
}

Result cuMemFreeHost(SimulatedDevice, void* memory) {
  std::free(memory);
  return success;
}

Result cuMemAddressReserve(SimulatedDevice, Pointer* address, std::size_t bytes, std::size_t,
                           Pointer, unsigned long long) {
  if (Result why = usable()) return why;
  if (bytes == 0 || bytes % granularity != 0) return misuse("a reservation of no whole pieces");
  *address = Memory::all().reserve(bytes);
  return *address ? success : error_out_of_memory;
}

Result cuMemAddressFree(SimulatedDevice, Pointer address, std::size_t bytes) {
  if (Result why = usable()) return why;
  if (overlaps_a_mapping(address, bytes)) return misuse("addresses given back with memory there");
  return Memory::all().give_back(address, bytes) ? success : misuse("addresses given back twice");
}

Result cuMemGetAllocationGranularity(SimulatedDevice, std::size_t* bytes, const MemoryProperties*,
                                     int) {
  *bytes = granularity;
  return success;
}

Result cuMemCreate(SimulatedDevice, MemoryHandle* handle, std::size_t bytes,
                   const MemoryProperties*, unsigned long long) {
  static MemoryHandle next = 1;
  if (Result why = usable()) return why;
  if (bytes == 0 || bytes % granularity != 0) return misuse("memory of no whole pieces");
  if (!Memory::all().take(bytes)) return error_out_of_memory;
  *handle = next++;
  pieces()[*handle] = {bytes};
  return success;
}

Result cuMemRelease(SimulatedDevice, MemoryHandle handle) {
  if (Result why = usable()) return why;
  auto found = pieces().find(handle);
  if (found == pieces().end() || !found->second.handle) return misuse("memory released twice");
  found->second.handle = false;
  drop_unused(handle);
  return success;
}

Result cuMemMap(SimulatedDevice, Pointer address, std::size_t bytes, std::size_t offset,
                MemoryHandle handle, unsigned long long) {
  if (Result why = usable()) return why;
  auto found = pieces().find(handle);
  if (found == pieces().end() || !found->second.handle) return misuse("released memory was mapped");
  if (offset + bytes > found->second.bytes) return misuse("more was mapped than there is");
  if (!Memory::all().is_reserved(address, bytes)) return misuse("mapped to no reserved address");
  if (overlaps_a_mapping(address, bytes)) return misuse("mapped to an address in use");
  mappings()[address] = {bytes, handle};
  ++found->second.mappings;
  return success;
}

Result cuMemUnmap(SimulatedDevice, Pointer address, std::size_t bytes) {
  if (Result why = usable()) return why;
  auto found = mappings().find(address);
  if (found == mappings().end() || found->second.bytes != bytes)
    return misuse("unmapped what is not mapped");
  if (found->second.accessible) Memory::all().close(address);
  MemoryHandle handle = found->second.piece;
  mappings().erase(found);
  --pieces().at(handle).mappings;
  drop_unused(handle);
  return success;
}

Result cuMemSetAccess(SimulatedDevice, Pointer address, std::size_t bytes, const MemoryAccess*,
                      std::size_t) {
  if (Result why = usable()) return why;
  auto found = mappings().find(address);
  if (found == mappings().end() || found->second.bytes != bytes)
    return misuse("access to what is not mapped");
  if (!found->second.accessible) Memory::all().open(address, bytes);
  found->second.accessible = true;
  return success;
}

}  // namespace fuseline::standin
