// Names of ranges without the C++ library: cut as marks are, interned where a program registers
// them.
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fuseline/stage.h"
#include "nvtx/protocol.hpp"

namespace fuseline::nvtx {

// Grows by realloc; what does not fit memory is not added.
template <class Item>
struct GrowingArray {
  Item* items;
  std::size_t count, room;

  bool add(const Item& item) {
    if (count == room) {
      std::size_t wanted = room ? 2 * room : 16;
      void* grown = realloc(static_cast<void*>(items), wanted * sizeof(Item));
      if (!grown) return false;
      items = static_cast<Item*>(grown);
      room = wanted;
    }
    items[count++] = item;
    return true;
  }
  void remove(std::size_t index) {
    memmove(static_cast<void*>(items + index), static_cast<const void*>(items + index + 1),
            (count - index - 1) * sizeof(Item));
    --count;
  }
  void release() { free(items); }
};

struct Label {
  char text[FUSELINE_STAGE_NAME + 1];
};

Label label_of(const char* text);
Label label_of(const wchar_t* text);  // as UTF-8, cut between characters
// "name", or "domain:name" in a domain; "unnamed" without a message.
Label label_of(Handle domain, const Attributes* attributes);

// The same handle for the same text, valid until the process ends; null without memory.
Handle interned(const Label& label);

}  // namespace fuseline::nvtx
