// PNG through libpng, decoded row by row into the caller's memory.
//
// libpng leaves an error by longjmp, never by an exception, and only through the functions
// marked "guarded" below: they hold no object with a destructor, and return false.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "base/fail.hpp"
#include "frames/decode/decoder.hpp"
#include "frames/decode/exif.hpp"

namespace fuseline {
namespace {

struct PngState {
  png_structp png = nullptr;
  png_infop front = nullptr;  // chunks before the pixels
  png_infop back = nullptr;   // chunks behind them
  std::jmp_buf escape{};
  ByteSource* bytes = nullptr;
  bool truncated = false;
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  int depth = 0;
  int color_type = 0;
  bool transparent = false;  // a tRNS chunk
  char message[256] = "";
};

extern "C" {

static void on_error(png_structp png, png_const_charp message) {
  auto& state = *static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state.message, sizeof state.message, "%s", message);
  std::longjmp(state.escape, 1);
}

// libpng only warns of some broken pixel data; damage in any other chunk costs no pixel.
static void on_warning(png_structp png, png_const_charp message) {
  if (std::strncmp(message, "IDAT", 4) == 0) on_error(png, message);
}

static void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto& state = *static_cast<PngState*>(png_get_io_ptr(png));
  if (state.bytes->read(to, count)) return;
  state.truncated = true;
  std::longjmp(state.escape, 1);
}

}  // extern "C"

// guarded
bool read_header_guarded(PngState& state) {
  if (setjmp(state.escape)) return false;
  png_set_read_fn(state.png, &state, on_read);
  // Texts, profiles and the like are passed over unread; our own limit checks the size.
  png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_AS_DEFAULT,
                              reinterpret_cast<png_const_bytep>("eXIf"), 1);
  png_set_user_limits(state.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(state.png, state.front);
  png_get_IHDR(state.png, state.front, &state.width, &state.height, &state.depth, &state.color_type,
               nullptr, nullptr, nullptr);
  state.transparent = png_get_valid(state.png, state.front, PNG_INFO_tRNS) != 0;
  return true;
}

bool has_alpha(const PngState& state) {
  return state.transparent || (state.color_type & PNG_COLOR_MASK_ALPHA) != 0;
}

std::int64_t channels_of(const PngState& state) {
  if (has_alpha(state)) return 4;
  return (state.color_type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
}

// libpng takes memory for rows of the declared width here, so it comes after the size check.
int start_rows(PngState& state) {
  bool gray = (state.color_type & PNG_COLOR_MASK_COLOR) == 0;
  if (state.color_type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(state.png);
  if (state.color_type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(state.png);
  if (state.transparent) png_set_tRNS_to_alpha(state.png);
  if (gray && has_alpha(state)) png_set_gray_to_rgb(state.png);
  int passes = png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.front);
  return passes;
}

// guarded
bool read_rows_guarded(PngState& state, std::uint8_t* to, std::size_t row_bytes) {
  if (setjmp(state.escape)) return false;
  int passes = start_rows(state);
  if (png_get_rowbytes(state.png, state.front) != row_bytes)
    png_error(state.png, "rows of unexpected length");
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t y = 0; y < state.height; ++y)
      png_read_row(state.png, to + y * row_bytes, nullptr);
  png_read_end(state.png, state.back);  // up to the last chunk, so that its loss is noticed
  return true;
}

// guarded
bool find_exif_guarded(PngState& state, png_infop info, std::span<const std::uint8_t>& block) {
  if (setjmp(state.escape)) return false;
  png_uint_32 size = 0;
  png_bytep data = nullptr;
  if (png_get_eXIf_1(state.png, info, &size, &data) == 0) return false;
  block = {data, size};
  return true;
}

class PngDecoder final : public Decoder {
 public:
  PngDecoder(ByteSource& bytes, std::string name) : name_(std::move(name)) {
    state_.bytes = &bytes;
    state_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, on_error, on_warning);
    if (state_.png) {
      state_.front = png_create_info_struct(state_.png);
      state_.back = png_create_info_struct(state_.png);
    }
    if (state_.front && state_.back) return;
    destroy();
    fail_device("{}: libpng cannot start: out of memory or another version than at build", name_);
  }
  ~PngDecoder() override { destroy(); }

  StoredSize read_header() override {
    if (!read_header_guarded(state_)) fail_here();
    if (state_.depth > 8) fail("{}: not supported yet: {}-bit PNG", name_, state_.depth);
    find_orientation(state_.front);
    return {state_.width, state_.height, channels_of(state_)};
  }

  void read_pixels(std::uint8_t* to) override {
    auto row_bytes = static_cast<std::size_t>(state_.width * channels_of(state_));
    if (!read_rows_guarded(state_, to, row_bytes)) fail_here();
    find_orientation(state_.back);
  }

  int orientation() const override { return orientation_; }

 private:
  void destroy() { png_destroy_read_struct(&state_.png, &state_.front, &state_.back); }

  void find_orientation(png_infop info) {
    std::span<const std::uint8_t> block;
    if (find_exif_guarded(state_, info, block)) orientation_ = exif_orientation(block);
  }

  [[noreturn]] void fail_here() const {
    fail_decoding(*state_.bytes, name_, "PNG", state_.truncated, state_.message);
  }

  std::string name_;
  PngState state_;
  int orientation_ = 1;
};

}  // namespace

std::unique_ptr<Decoder> open_png(ByteSource& bytes, std::string name) {
  return std::make_unique<PngDecoder>(bytes, std::move(name));
}

}  // namespace fuseline
