// A loader for relocatable x86-64 ELF files: sections in one mapping, relocations, then execute
// permission. Files come from the cache, so every offset is checked before it is followed.
#include "device/cpu/object_image.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

namespace fuseline::cpu {

ObjectImage::~ObjectImage() { munmap(memory_, bytes_); }

#if defined(__x86_64__)

namespace {

// Why an object is not loaded here.
struct Unsuitable {
  const char* reason;
};

void demand(bool holds, const char* reason) {
  if (!holds) throw Unsuitable{reason};
}

// A jump through the address that follows it.
constexpr std::size_t stub_bytes = 16;
constexpr unsigned char jump_indirect[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0xcc, 0xcc};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {
    header_ = at<Elf64_Ehdr>(0);
    demand(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0, "not an ELF file");
    demand(header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_machine == EM_X86_64 &&
               header_.e_type == ET_REL,
           "not a relocatable x86-64 object");
    demand(header_.e_shentsize == sizeof(Elf64_Shdr), "unexpected section headers");
    for (unsigned i = 0; i < header_.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  template <class T>
  T at(std::uint64_t offset) const {
    demand(offset <= file_.size() && file_.size() - offset >= sizeof(T), "a truncated object");
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }
  const std::byte* bytes(std::uint64_t offset, std::uint64_t count) const {
    demand(offset <= file_.size() && file_.size() - offset >= count, "a truncated object");
    return file_.data() + offset;
  }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr& section(std::size_t index) const {
    demand(index < sections_.size(), "a section that does not exist");
    return sections_[index];
  }
  std::string text(std::size_t string_section, std::uint64_t offset) const {
    const Elf64_Shdr& s = section(string_section);
    const std::byte* all = bytes(s.sh_offset, s.sh_size);
    demand(offset < s.sh_size, "a name outside its table");
    auto* start = reinterpret_cast<const char*>(all) + offset;
    return {start, strnlen(start, s.sh_size - offset)};
  }

 private:
  std::span<const std::byte> file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
};

class Linker {
 public:
  Linker(std::span<const std::byte> object, ObjectImage::Resolve resolve)
      : reader_(object), resolve_(resolve) {
    layout();
  }

  std::size_t bytes() const { return bytes_; }

  void place(std::byte* memory) {
    memory_ = memory;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const Elf64_Shdr& s = reader_.section(i);
      if (offsets_[i] != absent && s.sh_size > 0)
        std::memcpy(memory_ + offsets_[i], reader_.bytes(s.sh_offset, s.sh_size), s.sh_size);
    }
    for (const Elf64_Shdr& s : reader_.sections()) {
      demand(s.sh_type != SHT_REL, "relocations without addends");
      if (s.sh_type != SHT_RELA || !is_placed(s.sh_info)) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= s.sh_size; at += sizeof(Elf64_Rela))
        relocate(s, reader_.at<Elf64_Rela>(s.sh_offset + at));
    }
  }

  void* find(const std::string& name) const {
    for (const Elf64_Shdr& s : reader_.sections()) {
      if (s.sh_type != SHT_SYMTAB) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.sh_size; at += sizeof(Elf64_Sym)) {
        auto symbol = reader_.at<Elf64_Sym>(s.sh_offset + at);
        if (symbol.st_shndx == SHN_UNDEF || reader_.text(s.sh_link, symbol.st_name) != name)
          continue;
        demand(is_placed(symbol.st_shndx), "the kernel lies in no loaded section");
        return memory_ + offsets_[symbol.st_shndx] + symbol.st_value;
      }
    }
    throw Unsuitable{"the kernel's symbol is missing"};
  }

 private:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  bool is_placed(std::size_t section) const {
    return section < offsets_.size() && offsets_[section] != absent;
  }

  // Sections one after the other, then room for a stub for each undefined symbol.
  void layout() {
    std::size_t undefined = 0;
    for (const Elf64_Shdr& s : reader_.sections()) {
      offsets_.push_back(absent);
      if (s.sh_type == SHT_SYMTAB) undefined += s.sh_size / sizeof(Elf64_Sym);
      // Unwinding tables are not needed: kernels throw nothing.
      if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_X86_64_UNWIND || s.sh_size == 0) continue;
      demand(s.sh_type == SHT_PROGBITS && !(s.sh_flags & (SHF_WRITE | SHF_TLS)), "writable data");
      demand(s.sh_addralign <= 4096 && s.sh_size < (1u << 30), "an unusual section");
      std::size_t align = std::max<std::size_t>(s.sh_addralign, 1);
      bytes_ = (bytes_ + align - 1) / align * align;
      offsets_.back() = bytes_;
      bytes_ += s.sh_size;
    }
    bytes_ = (bytes_ + stub_bytes - 1) / stub_bytes * stub_bytes;
    next_stub_ = bytes_;
    bytes_ += undefined * stub_bytes;
  }

  // The offset of the stub for an undefined function; its address lies 8 bytes further.
  std::size_t stub(const std::string& name) {
    auto [entry, added] = stubs_.try_emplace(name, next_stub_);
    if (!added) return entry->second;
    auto address = reinterpret_cast<std::uintptr_t>(resolve_(name.c_str()));
    demand(address != 0, "a function that the process does not have");
    std::memcpy(memory_ + next_stub_, jump_indirect, sizeof(jump_indirect));
    std::memcpy(memory_ + next_stub_ + sizeof(jump_indirect), &address, sizeof(address));
    next_stub_ += stub_bytes;
    return entry->second;
  }

  void relocate(const Elf64_Shdr& table, const Elf64_Rela& r) {
    const Elf64_Shdr& target = reader_.section(table.sh_info);
    const Elf64_Shdr& symbols = reader_.section(table.sh_link);
    std::uint64_t index = ELF64_R_SYM(r.r_info);
    demand(index < symbols.sh_size / sizeof(Elf64_Sym), "a symbol that does not exist");
    auto symbol = reader_.at<Elf64_Sym>(symbols.sh_offset + index * sizeof(Elf64_Sym));
    bool through_table = false, wide = false;
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        break;
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        through_table = true;
        break;
      case R_X86_64_64:
        wide = true;
        break;
      default:
        throw Unsuitable{"an unknown relocation"};
    }
    std::uint64_t size = wide ? 8 : 4;
    demand(r.r_offset <= target.sh_size && target.sh_size - r.r_offset >= size,
           "a relocation outside its section");
    std::byte* place = memory_ + offsets_[table.sh_info] + r.r_offset;
    const std::byte* value = memory_ + symbol_offset(symbols, symbol, through_table);
    std::int64_t result = reinterpret_cast<std::intptr_t>(value) + r.r_addend;
    if (!wide) result -= reinterpret_cast<std::intptr_t>(place);
    std::memcpy(place, &result, size);
  }

  std::size_t symbol_offset(const Elf64_Shdr& symbols, const Elf64_Sym& symbol,
                            bool through_table) {
    if (symbol.st_shndx == SHN_UNDEF) {
      std::size_t offset = stub(reader_.text(symbols.sh_link, symbol.st_name));
      return through_table ? offset + sizeof(jump_indirect) : offset;
    }
    demand(!through_table && is_placed(symbol.st_shndx), "a symbol in no loaded section");
    demand(symbol.st_value <= reader_.section(symbol.st_shndx).sh_size, "a symbol out of range");
    return offsets_[symbol.st_shndx] + symbol.st_value;
  }

  Reader reader_;
  ObjectImage::Resolve resolve_;
  std::vector<std::size_t> offsets_;  // of each section in the image
  std::map<std::string, std::size_t> stubs_;
  std::size_t bytes_ = 0, next_stub_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<ObjectImage> ObjectImage::load(std::span<const std::byte> object,
                                               const std::string& symbol, Resolve resolve,
                                               std::string& reason) {
  try {
    Linker linker(object, resolve);
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t bytes = std::max(page, (linker.bytes() + page - 1) / page * page);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    demand(memory != MAP_FAILED, "no memory for code");
    std::unique_ptr<ObjectImage> image(new ObjectImage(static_cast<std::byte*>(memory), bytes));
    linker.place(image->memory_);
    image->entry_ = linker.find(symbol);
    demand(mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0,
           "the system does not let generated code run");
    return image;
  } catch (const Unsuitable& unsuitable) {
    reason = unsuitable.reason;
    return nullptr;
  }
}

#else

std::unique_ptr<ObjectImage> ObjectImage::load(std::span<const std::byte>, const std::string&,
                                               Resolve, std::string& reason) {
  reason = "only x86-64 objects are loaded without LLVM";
  return nullptr;
}

#endif

}  // namespace fuseline::cpu
