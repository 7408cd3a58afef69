// JPEG through libjpeg-turbo, decoded row by row into the caller's memory.
//
// libjpeg leaves an error by longjmp, never by an exception, and only through the functions
// marked "guarded" below: they hold no object with a destructor, and return false.
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include <jerror.h>

#include "base/fail.hpp"
#include "frames/decode/decoder.hpp"
#include "frames/decode/exif.hpp"

namespace fuseline {
namespace {

constexpr int exif_marker = JPEG_APP0 + 1;
// A progressive file of a few kilobytes could otherwise ask for hours of work.
constexpr int most_scans = 500;
// Some cameras leave a few bytes before the end marker. Damage leaves at least as many as a row
// of blocks takes.
constexpr int most_stray_bytes = 64;

struct JpegState {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  ByteSource* bytes = nullptr;
  bool truncated = false;
  bool in_header = true;
  int code = 0;  // of the error, a JERR_ or JWRN_ number
  int parameter = 0;
  char message[JMSG_LENGTH_MAX] = "";
};

JpegState& state_of(j_common_ptr info) { return *static_cast<JpegState*>(info->client_data); }
JpegState& state_of(j_decompress_ptr info) { return *static_cast<JpegState*>(info->client_data); }

[[noreturn]] void leave(JpegState& state) {
  state.code = state.errors.msg_code;
  state.parameter = state.errors.msg_parm.i[0];
  state.errors.format_message(reinterpret_cast<j_common_ptr>(&state.info), state.message);
  std::longjmp(state.escape, 1);
}

// Warnings that leave every pixel as it was meant. Stray bytes are harmless before the first
// scan and, if few, before the end marker; anywhere else they mean that data were lost.
bool is_harmless(const JpegState& state) {
  const int* parameters = state.errors.msg_parm.i;
  switch (state.errors.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_TOO_MUCH_DATA:
      return true;
    case JWRN_EXTRANEOUS_DATA:
      return state.in_header || (parameters[1] == JPEG_EOI && parameters[0] <= most_stray_bytes);
    default:
      return false;
  }
}

extern "C" {

static void on_error(j_common_ptr info) { leave(state_of(info)); }

static void on_message(j_common_ptr info, int level) {
  if (level < 0 && !is_harmless(state_of(info))) leave(state_of(info));
}

static void on_output(j_common_ptr) {}

static void on_source(j_decompress_ptr) {}

static boolean on_fill(j_decompress_ptr info) {
  JpegState& state = state_of(info);
  ByteSource::Piece piece = state.bytes->next();
  if (piece.empty()) {
    state.truncated = true;
    std::longjmp(state.escape, 1);
  }
  state.source.next_input_byte = piece.data();
  state.source.bytes_in_buffer = piece.size();
  return TRUE;
}

static void on_skip(j_decompress_ptr info, long count) {
  JpegState& state = state_of(info);
  if (count <= 0) return;
  auto left = static_cast<std::size_t>(count);
  while (left > state.source.bytes_in_buffer) {
    left -= state.source.bytes_in_buffer;
    on_fill(info);
  }
  state.source.next_input_byte += left;
  state.source.bytes_in_buffer -= left;
}

static void on_progress(j_common_ptr info) {
  JpegState& state = state_of(info);
  if (state.info.input_scan_number <= most_scans) return;
  std::snprintf(state.message, sizeof state.message, "more than %d scans", most_scans);
  std::longjmp(state.escape, 1);
}

}  // extern "C"

void install_callbacks(JpegState& state) {
  state.info.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = on_error;
  state.errors.emit_message = on_message;
  state.errors.output_message = on_output;
  state.source.init_source = on_source;
  state.source.fill_input_buffer = on_fill;
  state.source.skip_input_data = on_skip;
  state.source.resync_to_restart = jpeg_resync_to_restart;
  state.source.term_source = on_source;
  state.progress.progress_monitor = on_progress;
  state.info.client_data = &state;
}

// guarded
bool read_header_guarded(JpegState& state) {
  if (setjmp(state.escape)) return false;
  jpeg_create_decompress(&state.info);  // keeps err and client_data
  state.info.src = &state.source;
  state.info.progress = &state.progress;
  jpeg_save_markers(&state.info, exif_marker, 0xffff);
  jpeg_read_header(&state.info, TRUE);
  return true;
}

// guarded
bool read_rows_guarded(JpegState& state, std::uint8_t* to, std::size_t row_bytes) {
  if (setjmp(state.escape)) return false;
  jpeg_decompress_struct& info = state.info;
  state.in_header = false;
  jpeg_start_decompress(&info);
  constexpr unsigned most_rows = 16;
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[most_rows];
    unsigned count = std::min(most_rows, info.output_height - info.output_scanline);
    for (unsigned i = 0; i < count; ++i) rows[i] = to + (info.output_scanline + i) * row_bytes;
    jpeg_read_scanlines(&info, rows, count);
  }
  jpeg_finish_decompress(&info);  // reads up to the end marker, so that its loss is noticed
  return true;
}

class JpegDecoder final : public Decoder {
 public:
  JpegDecoder(ByteSource& bytes, std::string name) : name_(std::move(name)) {
    state_.bytes = &bytes;
    install_callbacks(state_);
  }
  ~JpegDecoder() override { jpeg_destroy_decompress(&state_.info); }

  StoredSize read_header() override {
    if (!read_header_guarded(state_)) fail_here();
    refuse_unsupported();
    bool gray = state_.info.jpeg_color_space == JCS_GRAYSCALE;
    state_.info.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
    find_orientation();
    size_ = {state_.info.image_width, state_.info.image_height, gray ? 1 : 3};
    return size_;
  }

  void read_pixels(std::uint8_t* to) override {
    auto row_bytes = static_cast<std::size_t>(size_.width * size_.channels);
    if (!read_rows_guarded(state_, to, row_bytes)) fail_here();
  }

  int orientation() const override { return orientation_; }

 private:
  void refuse_unsupported() const {
    const jpeg_decompress_struct& info = state_.info;
    if (info.data_precision != 8)
      fail("{}: not supported yet: {}-bit JPEG", name_, info.data_precision);
    switch (info.jpeg_color_space) {
      case JCS_GRAYSCALE:
      case JCS_YCbCr:
      case JCS_RGB:
        return;
      case JCS_CMYK:
        fail("{}: not supported yet: CMYK JPEG", name_);
      case JCS_YCCK:
        fail("{}: not supported yet: YCCK (CMYK) JPEG", name_);
      default:
        fail("{}: not supported yet: JPEG with {} components", name_, info.num_components);
    }
  }

  void find_orientation() {
    constexpr std::size_t tag_bytes = 6;
    for (auto* marker = state_.info.marker_list; marker; marker = marker->next) {
      if (marker->marker != exif_marker || marker->data_length < tag_bytes ||
          std::memcmp(marker->data, "Exif\0\0", tag_bytes) != 0)
        continue;
      orientation_ = exif_orientation({marker->data + tag_bytes, marker->data_length - tag_bytes});
      return;
    }
  }

  [[noreturn]] void fail_here() const {
    switch (state_.truncated ? 0 : state_.code) {
      case JERR_BAD_PRECISION:
        fail("{}: not supported yet: {}-bit JPEG", name_, state_.parameter);
      case JERR_SOF_UNSUPPORTED:
        fail("{}: not supported yet: lossless or hierarchical JPEG", name_);
      case JERR_ARITH_NOTIMPL:
        fail("{}: not supported yet: arithmetic-coded JPEG", name_);
      case JERR_IMAGE_TOO_BIG:
        fail("{}: not supported yet: JPEG with a side above {} pixels", name_, state_.parameter);
      default:
        fail_decoding(*state_.bytes, name_, "JPEG", state_.truncated, state_.message);
    }
  }

  std::string name_;
  JpegState state_;
  StoredSize size_;
  int orientation_ = 1;
};

}  // namespace

std::unique_ptr<Decoder> open_jpeg(ByteSource& bytes, std::string name) {
  return std::make_unique<JpegDecoder>(bytes, std::move(name));
}

}  // namespace fuseline
