// NumPy's files: headers of arrays, and the zip archive around several of them.
#include "cli/numpy_file.hpp"

#include <zlib.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/fail.hpp"
#include "base/output_file.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::string_view code;
  DType dtype;
};
constexpr Kind kinds[] = {{"|b1", DType::bool_}, {"|u1", DType::u8},  {"|i1", DType::i8},
                          {"<u2", DType::u16},   {"<i2", DType::i16}, {"<u4", DType::u32},
                          {"<i4", DType::i32},   {"<u8", DType::u64}, {"<i8", DType::i64},
                          {"<f2", DType::f16},   {"<f4", DType::f32}, {"<f8", DType::f64},
                          {"<V2", DType::bf16},  {"|V2", DType::bf16}};

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("{}: the file cannot be opened", path.string());
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) fail("{}: the file cannot be read", path.string());
  return bytes;
}

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  if (at + width > bytes.size()) return 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// ---- .npy

// The text behind 'key': in the header's dictionary.
std::string_view entry(std::string_view header, std::string_view key) {
  std::size_t at = header.find(key);
  if (at == header.npos) return {};
  at = header.find(':', at);
  if (at == header.npos) return {};
  std::string_view rest = header.substr(at + 1);
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

DType dtype_of_code(const std::string& name, std::string_view text) {
  std::string_view code = text.size() > 4 ? text.substr(1, 3) : text;
  for (const Kind& kind : kinds)
    if (kind.code == code) return kind.dtype;
  fail("{}: element type {} is not supported; use a little-endian number type", name, code);
}

Shape shape_in(const std::string& name, std::string_view text) {
  Shape shape;
  std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == text.npos) fail("{}: the header has no shape", name);
  text = text.substr(1, end - 1);
  while (true) {
    std::size_t digit = text.find_first_of("0123456789");
    if (digit == text.npos) return shape;
    std::int64_t extent = 0;
    auto [stop, error] = std::from_chars(text.data() + digit, text.data() + text.size(), extent);
    if (error != std::errc()) fail("{}: a size is out of range", name);
    shape.push_back(extent);
    text = text.substr(static_cast<std::size_t>(stop - text.data()));
  }
}

Tensor parse_npy(const std::string& name, std::string_view bytes) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) fail("{}: not a NumPy array", name);
  std::size_t width = bytes[6] == 1 ? 2 : 4, begin = 8 + width;
  std::uint64_t length = little(bytes, 8, width);
  if (begin > bytes.size() || length > bytes.size() - begin)
    fail("{}: the header is longer than the file", name);
  std::string_view header = bytes.substr(begin, static_cast<std::size_t>(length));
  if (entry(header, "'fortran_order'").starts_with("True"))
    fail("{}: stored column by column; save numpy.ascontiguousarray of it", name);
  DType dtype = dtype_of_code(name, entry(header, "'descr'"));
  Shape shape = shape_in(name, entry(header, "'shape'"));
  std::string_view data = bytes.substr(begin + static_cast<std::size_t>(length));
  std::int64_t count = element_count(shape);
  if (static_cast<std::uint64_t>(count) > data.size() / size_of(dtype))
    fail("{}: {} bytes of data, {}{} needs more", name, data.size(), name_of(dtype),
         to_string(shape));
  Tensor tensor = Tensor::allocate(dtype, shape);
  if (count > 0) std::memcpy(tensor.data(), data.data(), static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

std::string npy_header(const Tensor& tensor) {
  std::string_view code;
  for (const Kind& kind : kinds)
    if (kind.dtype == tensor.dtype() && code.empty()) code = kind.code;
  std::string shape;
  for (std::int64_t extent : tensor.shape()) shape += std::to_string(extent) + ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

// ---- zip

struct Member {
  std::string name;
  int method;
  std::uint64_t packed, size, header_at;
};

// The sizes that did not fit 32 bits, in the order of the format.
void take_zip64(std::string_view extra, Member& m) {
  while (extra.size() >= 4) {
    std::uint64_t id = little(extra, 0, 2), length = little(extra, 2, 2);
    std::string_view data = extra.substr(4, static_cast<std::size_t>(length));
    if (id == 1) {
      std::size_t at = 0;
      for (std::uint64_t* field : {&m.size, &m.packed, &m.header_at})
        if (*field == 0xffffffff) {
          *field = little(data, at, 8);
          at += 8;
        }
      return;
    }
    extra = extra.substr(std::min<std::size_t>(extra.size(), 4 + static_cast<std::size_t>(length)));
  }
}

std::vector<Member> directory(const std::string& name, std::string_view bytes) {
  std::size_t end = bytes.rfind("PK\x05\x06");
  if (end == bytes.npos || end + 22 > bytes.size()) fail("{}: not a zip archive", name);
  std::uint64_t count = little(bytes, end + 10, 2), at = little(bytes, end + 16, 4);
  if (std::size_t wide = bytes.rfind("PK\x06\x06"); at == 0xffffffff && wide != bytes.npos) {
    count = little(bytes, wide + 32, 8);
    at = little(bytes, wide + 48, 8);
  }
  std::vector<Member> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 ||
        bytes.substr(static_cast<std::size_t>(at), 4) != std::string_view("PK\x01\x02", 4))
      fail("{}: the archive's directory is damaged", name);
    std::string_view e = bytes.substr(static_cast<std::size_t>(at));
    auto name_length = static_cast<std::size_t>(little(e, 28, 2));
    auto extra_length = static_cast<std::size_t>(little(e, 30, 2));
    if (46 + name_length + extra_length > e.size())
      fail("{}: the archive's directory is damaged", name);
    Member m{std::string(e.substr(46, name_length)), static_cast<int>(little(e, 10, 2)),
             little(e, 20, 4), little(e, 24, 4), little(e, 42, 4)};
    take_zip64(e.substr(46 + name_length, extra_length), m);
    members.push_back(std::move(m));
    at += 46 + name_length + extra_length + little(e, 32, 2);
  }
  return members;
}

std::string inflated(const std::string& name, std::string_view packed, std::uint64_t size) {
  // Deflate packs at most about 1032 to 1, so a larger claim is a lie.
  if (size > packed.size() * 1040 + 1024) fail("{}: damaged", name);
  std::string out(static_cast<std::size_t>(size), '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail("{}: out of memory", name);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  int state = Z_OK;
  std::size_t taken = 0, given = 0;
  constexpr std::size_t piece = std::size_t{1} << 30;  // zlib counts in 32 bits
  while (state == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(piece, packed.size() - taken));
    stream.avail_out = static_cast<uInt>(std::min(piece, out.size() - given));
    std::size_t in = stream.avail_in, room = stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += room - stream.avail_out;
    if (in == stream.avail_in && room == stream.avail_out) break;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || given != out.size()) fail("{}: damaged", name);
  return out;
}

Tensor read_member(const std::string& archive, std::string_view bytes, const Member& m) {
  std::string name = archive + ", " + m.name;
  if (m.header_at > bytes.size() || bytes.size() - m.header_at < 30) fail("{}: damaged", name);
  auto at = static_cast<std::size_t>(m.header_at);
  std::size_t begin = at + 30 + static_cast<std::size_t>(little(bytes, at + 26, 2)) +
                      static_cast<std::size_t>(little(bytes, at + 28, 2));
  if (begin > bytes.size() || m.packed > bytes.size() - begin) fail("{}: damaged", name);
  std::string_view packed = bytes.substr(begin, static_cast<std::size_t>(m.packed));
  if (m.method == 0) return parse_npy(name, packed);
  if (m.method != 8) fail("{}: packed by method {}; use numpy.savez", name, m.method);
  return parse_npy(name, inflated(name, packed, m.size));
}

void put(std::string& to, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) to += static_cast<char>(value >> (8 * i) & 255);
}

// The fields that a local header and the directory share, behind their signatures.
std::string common_header(std::uint32_t checksum, std::uint64_t size, std::size_t name_length) {
  std::string h;
  put(h, 20, 2);          // version needed
  put(h, 0, 4);           // flags, stored
  put(h, 0x00210000, 4);  // the first day of the format's calendar: equal data, equal file
  put(h, checksum, 4);
  put(h, size, 4);
  put(h, size, 4);
  put(h, name_length, 2);
  put(h, 0, 2);
  return h;
}

}  // namespace

Tensor read_npy(const fs::path& path) { return parse_npy(path.string(), read_whole(path)); }

NamedArrays read_npz(const fs::path& path) {
  std::string bytes = read_whole(path);
  NamedArrays arrays;
  for (const Member& m : directory(path.string(), bytes)) {
    std::string name = m.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.emplace_back(name, read_member(path.string(), bytes, m));
  }
  return arrays;
}

void write_npz(const fs::path& path, const NamedArrays& arrays) {
  constexpr std::uint64_t most = 0xffffffff;
  std::string archive, index;
  for (const auto& [name, tensor] : arrays) {
    std::string member = name + ".npy", header = npy_header(tensor);
    auto bytes = static_cast<std::size_t>(tensor.bytes());
    std::uint64_t at = archive.size(), size = header.size() + bytes;
    if (at + size > most) fail("{}: outputs above 4 GB do not fit an archive", path.string());
    uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    sum = crc32_z(sum, tensor.as<const Bytef>(), bytes);
    std::string common = common_header(static_cast<std::uint32_t>(sum), size, member.size());
    archive += "PK\x03\x04" + common + member + header;
    archive.append(tensor.as<const char>(), bytes);
    index += "PK\x01\x02";
    put(index, 20, 2);
    index += common;
    index.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    put(index, at, 4);
    index += member;
  }
  std::uint64_t index_at = archive.size();
  archive += index + "PK\x05\x06";
  put(archive, 0, 4);
  put(archive, arrays.size(), 2);
  put(archive, arrays.size(), 2);
  put(archive, index.size(), 4);
  put(archive, index_at, 4);
  put(archive, 0, 2);
  OutputFile file(path);
  file.write({reinterpret_cast<const std::uint8_t*>(archive.data()), archive.size()});
  file.commit();
}

}  // namespace fuseline::cli
