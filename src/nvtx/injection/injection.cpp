// libfuseline_nvtx.so: a tool for NVTX that writes ranges of any program as marks of `fuseline
// bench`.
//
// It lives in processes of others, so it needs nothing but the C library and throws nothing.
#include <pthread.h>

#include "fuseline/stage.h"
#include "nvtx/injection/names.hpp"
#include "nvtx/protocol.hpp"

namespace fuseline::nvtx {
namespace {

// Ranges that this thread has pushed, of all domains.
struct Pushed {
  Handle domain;
  Label label;
};
struct Stack {
  GrowingArray<Pushed> ranges;
};

// A started range may end on another thread; it belongs to the one that started it.
struct Started {
  RangeId id;
  std::uint32_t thread;
  Label label;
};

pthread_key_t stack_key;
pthread_mutex_t started_lock = PTHREAD_MUTEX_INITIALIZER;
GrowingArray<Started> started;
RangeId last_id;

void free_stack(void* memory) {
  auto* stack = static_cast<Stack*>(memory);
  stack->ranges.release();
  free(stack);
}

Stack* stack_of_thread() {
  auto* stack = static_cast<Stack*>(pthread_getspecific(stack_key));
  if (!stack) {
    stack = static_cast<Stack*>(calloc(1, sizeof(Stack)));
    pthread_setspecific(stack_key, stack);
  }
  return stack;
}

int push(Handle domain, const Label& label) {
  Stack* stack = stack_of_thread();
  if (!stack || !stack->ranges.add({domain, label})) return no_tracking;
  int level = -1;
  for (std::size_t i = 0; i < stack->ranges.count; ++i)
    level += stack->ranges.items[i].domain == domain;
  fuseline_stage_put(FUSELINE_RANGE_BEGIN, label.text);
  return level;
}

int pop(Handle domain) {
  Stack* stack = stack_of_thread();
  if (!stack) return no_tracking;
  for (std::size_t i = stack->ranges.count; i-- > 0;) {
    if (stack->ranges.items[i].domain != domain) continue;
    Label label = stack->ranges.items[i].label;
    fuseline_stage_put(FUSELINE_RANGE_END, label.text);
    stack->ranges.remove(i);
    int level = 0;
    for (std::size_t k = 0; k < i; ++k) level += stack->ranges.items[k].domain == domain;
    return level;
  }
  return no_tracking;
}

RangeId start(const Label& label) {
  std::uint32_t process = 0, thread = 0;
  fuseline_stage_identify(&process, &thread);
  pthread_mutex_lock(&started_lock);
  RangeId id = started.add({last_id + 1, thread, label}) ? ++last_id : 0;
  pthread_mutex_unlock(&started_lock);
  if (id) fuseline_stage_put(FUSELINE_RANGE_BEGIN, label.text);
  return id;
}

void end(RangeId id) {
  pthread_mutex_lock(&started_lock);
  for (std::size_t i = started.count; i-- > 0;)
    if (started.items[i].id == id) {
      fuseline_stage_put_of(started.items[i].thread, FUSELINE_RANGE_END,
                            started.items[i].label.text);
      started.remove(i);
      break;
    }
  pthread_mutex_unlock(&started_lock);
}

// The functions that a program calls, by their places.
RangeId range_start_with(const Attributes* attributes) { return start(label_of({}, attributes)); }
RangeId range_start_text(const char* text) { return start(label_of(text)); }
RangeId range_start_wide(const wchar_t* text) { return start(label_of(text)); }
int push_with(const Attributes* attributes) { return push({}, label_of({}, attributes)); }
int push_text(const char* text) { return push({}, label_of(text)); }
int push_wide(const wchar_t* text) { return push({}, label_of(text)); }
int pop_default() { return pop({}); }
RangeId start_in(Handle domain, const Attributes* attributes) {
  return start(label_of(domain, attributes));
}
void end_in(Handle, RangeId id) { end(id); }
int push_in(Handle domain, const Attributes* attributes) {
  return push(domain, label_of(domain, attributes));
}
Handle register_text(Handle, const char* text) { return interned(label_of(text)); }
Handle register_wide(Handle, const wchar_t* text) { return interned(label_of(text)); }
Handle domain_text(const char* text) { return interned(label_of(text)); }
Handle domain_wide(const wchar_t* text) { return interned(label_of(text)); }

// Writes functions into the program's pointers of one module.
class ModuleTable {
 public:
  ModuleTable(const CallbackTable& callbacks, Module module) {
    if (!callbacks.functions_of(module, &table_, &places_)) places_ = 0;
  }
  template <class Signature>
  void put(unsigned place, Signature* function) const {
    if (place < places_ && table_[place]) *table_[place] = reinterpret_cast<Function>(function);
  }

 private:
  FunctionTable table_ = nullptr;
  unsigned places_ = 0;
};

void attach(const CallbackTable& callbacks) {
  ModuleTable plain(callbacks, core);
  plain.put<RangeStartEx>(range_start_ex, range_start_with);
  plain.put<RangeStartA>(range_start_a, range_start_text);
  plain.put<RangeStartW>(range_start_w, range_start_wide);
  plain.put<RangeEnd>(range_end, end);
  plain.put<RangePushEx>(range_push_ex, push_with);
  plain.put<RangePushA>(range_push_a, push_text);
  plain.put<RangePushW>(range_push_w, push_wide);
  plain.put<RangePop>(range_pop, pop_default);
  ModuleTable domains(callbacks, core2);
  domains.put<DomainRangeStartEx>(domain_range_start_ex, start_in);
  domains.put<DomainRangeEnd>(domain_range_end, end_in);
  domains.put<DomainRangePushEx>(domain_range_push_ex, push_in);
  domains.put<DomainRangePop>(domain_range_pop, pop);
  domains.put<RegisterStringA>(domain_register_string_a, register_text);
  domains.put<RegisterStringW>(domain_register_string_w, register_wide);
  domains.put<DomainCreateA>(domain_create_a, domain_text);
  domains.put<DomainCreateW>(domain_create_w, domain_wide);
}

pthread_once_t key_once = PTHREAD_ONCE_INIT;
void make_key() { pthread_key_create(&stack_key, free_stack); }

}  // namespace

// Called once by every library of the process that has NVTX in it. Without a `fuseline bench`
// around the program there is nobody to write for, and NVTX stays off.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(GetTable* table) {
  if (!fuseline_stage_open()) return 0;
  const auto* callbacks = static_cast<const CallbackTable*>(table(table_callbacks));
  if (!callbacks || callbacks->size < sizeof(CallbackTable)) return 0;
  pthread_once(&key_once, make_key);
  attach(*callbacks);
  return 1;
}

}  // namespace fuseline::nvtx
