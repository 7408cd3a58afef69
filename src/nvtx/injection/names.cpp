// Texts of NVTX as names of marks.
#include "nvtx/injection/names.hpp"

namespace fuseline::nvtx {
namespace {

constexpr const char* unnamed = "unnamed";
constexpr std::size_t most = FUSELINE_STAGE_NAME;

struct Writer {
  Label label = {};
  std::size_t length = 0;

  void text(const char* from) {
    std::size_t more = strnlen(from, most - length);
    memcpy(label.text + length, from, more);
    length += more;
  }
  void character(std::uint32_t code) {
    char bytes[5] = {};
    if (code < 0x80) {
      bytes[0] = static_cast<char>(code);
    } else if (code < 0x800) {
      bytes[0] = static_cast<char>(0xC0 | code >> 6);
      bytes[1] = static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      bytes[0] = static_cast<char>(0xE0 | code >> 12);
      bytes[1] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
      bytes[2] = static_cast<char>(0x80 | (code & 0x3F));
    } else {
      bytes[0] = static_cast<char>(0xF0 | (code >> 18 & 0x07));
      bytes[1] = static_cast<char>(0x80 | (code >> 12 & 0x3F));
      bytes[2] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
      bytes[3] = static_cast<char>(0x80 | (code & 0x3F));
    }
    if (length + strlen(bytes) > most)
      length = most;
    else
      text(bytes);
  }
};

struct Interned {
  Interned* next;
  Label label;
};
constexpr std::uint32_t buckets = 1024;
Interned* all[buckets];
pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

Interned*& bucket_of(const Label& label) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char* c = label.text; *c; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  return all[hash % buckets];
}

const char* text_of(Handle handle) { return static_cast<const Interned*>(handle)->label.text; }

}  // namespace

Label label_of(const char* text) {
  Writer writer;
  writer.text(text && *text ? text : unnamed);
  return writer.label;
}

Label label_of(const wchar_t* text) {
  if (!text || !*text) return label_of(unnamed);
  Writer writer;
  for (; *text && writer.length < most; ++text) writer.character(static_cast<std::uint32_t>(*text));
  return writer.label;
}

Label label_of(Handle domain, const Attributes* attributes) {
  Label name = label_of(unnamed);
  if (attributes && attributes->message) {
    if (attributes->message_type == message_ascii)
      name = label_of(static_cast<const char*>(attributes->message));
    else if (attributes->message_type == message_unicode)
      name = label_of(static_cast<const wchar_t*>(attributes->message));
    else if (attributes->message_type == message_registered)
      name = label_of(text_of(attributes->message));
  }
  if (!domain) return name;
  Writer writer;
  writer.text(text_of(domain));
  writer.text(":");
  writer.text(name.text);
  return writer.label;
}

Handle interned(const Label& label) {
  pthread_mutex_lock(&all_lock);
  Interned*& first = bucket_of(label);
  Interned* found = first;
  while (found && strcmp(found->label.text, label.text) != 0) found = found->next;
  if (!found) {
    found = static_cast<Interned*>(malloc(sizeof(Interned)));
    if (found) {
      *found = {first, label};
      first = found;
    }
  }
  pthread_mutex_unlock(&all_lock);
  return found;
}

}  // namespace fuseline::nvtx
