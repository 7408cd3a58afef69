/* Marks of stages for `fuseline bench`: plain C, this header only, no library to link.
 *
 *   fuseline_stage_begin("decode");
 *   ...
 *   fuseline_stage_end("decode");
 *
 * `fuseline bench -- PROGRAM` sets FUSELINE_STAGES to the name of a file and reads the marks from
 * it. Without that variable a mark costs one load and one branch. Stages may nest and may run on
 * several threads and in several processes; a wait (fuseline_wait_begin, fuseline_wait_end) says
 * that the thread only waits for a device or for another thread. Names are cut to 46 bytes.
 * Linux, C99 or C++, GCC or Clang; in C++ fuseline::StageMark marks a scope.
 *
 * The file: a header of 64 bytes, then marks of 64 bytes. Places are claimed by an atomic counter;
 * marks beyond the capacity are counted and dropped.
 */
#ifndef FUSELINE_STAGE_H
#define FUSELINE_STAGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* clock_gettime, syscall and madvise under strict C99 */
#endif

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FUSELINE_STAGE_MAGIC 0x3147415453534c46ull /* "FLSSTAG1" */
#define FUSELINE_STAGE_NAME 46
#define FUSELINE_STAGE_CAPACITY 262144

enum {
  FUSELINE_STAGE_BEGIN = 1,
  FUSELINE_STAGE_END = 2,
  FUSELINE_WAIT_BEGIN = 3,
  FUSELINE_WAIT_END = 4,
  /* Ranges of NVTX, which libfuseline_nvtx.so writes; they count where no stage is marked. */
  FUSELINE_RANGE_BEGIN = 5,
  FUSELINE_RANGE_END = 6
};

typedef struct fuseline_stage_header {
  uint64_t magic;
  uint64_t count; /* places claimed; may exceed what the file holds */
  uint64_t unused[6];
} fuseline_stage_header;

typedef struct fuseline_stage_mark {
  uint64_t time; /* nanoseconds of CLOCK_MONOTONIC */
  uint32_t process;
  uint32_t thread;
  uint8_t kind; /* written last; 0: not complete */
  char name[FUSELINE_STAGE_NAME + 1];
} fuseline_stage_mark;

/* Of one translation unit; several of them share the file. */
typedef struct fuseline_stage_state {
  int phase; /* 0 not asked yet, 1 being opened, 2 off, 3 on */
  fuseline_stage_header* header;
  uint64_t capacity;
  uint32_t* process; /* on a page that a fork wipes, so that a child notices */
} fuseline_stage_state;

static fuseline_stage_state fuseline_stage_file;
static __thread uint32_t fuseline_stage_thread[2]; /* of which process, which thread */

static inline int fuseline_stage_map(fuseline_stage_state* state, const char* path) {
  size_t bytes = sizeof(fuseline_stage_header) + sizeof(fuseline_stage_mark) *
                                                     (size_t)FUSELINE_STAGE_CAPACITY;
  struct stat info;
  void* memory;
  void* page;
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return 2;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return 2;
  }
  if (info.st_size > (off_t)sizeof(fuseline_stage_header))
    bytes = (size_t)info.st_size;
  else if (ftruncate(file, (off_t)bytes) != 0)
    bytes = 0;
  memory = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || page == MAP_FAILED) return 2;
#ifdef MADV_WIPEONFORK
  if (madvise(page, 4096, MADV_WIPEONFORK) == 0) state->process = (uint32_t*)page;
#endif
  state->header = (fuseline_stage_header*)memory;
  state->header->magic = FUSELINE_STAGE_MAGIC; /* every writer stores the same */
  state->capacity = (bytes - sizeof(fuseline_stage_header)) / sizeof(fuseline_stage_mark);
  return 3;
}

static inline int fuseline_stage_open(void) {
  fuseline_stage_state* state = &fuseline_stage_file;
  int expected = 0;
  if (__atomic_compare_exchange_n(&state->phase, &expected, 1, 0, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    const char* path = getenv("FUSELINE_STAGES");
    int phase = path && *path ? fuseline_stage_map(state, path) : 2;
    __atomic_store_n(&state->phase, phase, __ATOMIC_RELEASE);
    return phase == 3;
  }
  while ((expected = __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE)) == 1) {
  }
  return expected == 3;
}

/* The system is asked once a thread, and again behind a fork. */
static inline void fuseline_stage_identify(uint32_t* process, uint32_t* thread) {
  uint32_t* known = fuseline_stage_file.process;
  if (!known || *known == 0 || fuseline_stage_thread[0] != *known) {
    fuseline_stage_thread[0] = (uint32_t)getpid();
    fuseline_stage_thread[1] = (uint32_t)syscall(SYS_gettid);
    if (known) *known = fuseline_stage_thread[0];
  }
  *process = fuseline_stage_thread[0];
  *thread = fuseline_stage_thread[1];
}

/* `thread` is whose mark it is; 0: this one's. */
static inline void fuseline_stage_put_of(uint32_t thread, int kind, const char* name) {
  struct timespec now;
  fuseline_stage_header* header;
  fuseline_stage_mark* mark;
  uint64_t place;
  size_t length;
  int phase = __atomic_load_n(&fuseline_stage_file.phase, __ATOMIC_ACQUIRE);
  if (phase == 2) return;
  if (phase != 3 && !fuseline_stage_open()) return;
  header = fuseline_stage_file.header;
  /* A begin takes the time last and an end takes it first, so that the mark's own cost lies
     outside of the stage. Ends are even. */
  if (kind % 2 == 0) clock_gettime(CLOCK_MONOTONIC, &now);
  place = __atomic_fetch_add(&header->count, 1, __ATOMIC_RELAXED);
  if (place >= fuseline_stage_file.capacity) return;
  mark = (fuseline_stage_mark*)(header + 1) + place;
  fuseline_stage_identify(&mark->process, &mark->thread);
  if (thread) mark->thread = thread;
  length = strnlen(name, FUSELINE_STAGE_NAME);
  memcpy(mark->name, name, length);
  mark->name[length] = 0;
  if (kind % 2 != 0) clock_gettime(CLOCK_MONOTONIC, &now);
  mark->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  __atomic_store_n(&mark->kind, (uint8_t)kind, __ATOMIC_RELEASE);
}

static inline void fuseline_stage_put(int kind, const char* name) {
  fuseline_stage_put_of(0, kind, name);
}

static inline void fuseline_stage_begin(const char* name) {
  fuseline_stage_put(FUSELINE_STAGE_BEGIN, name);
}
/* Ends the stage of this name that this thread began last. */
static inline void fuseline_stage_end(const char* name) {
  fuseline_stage_put(FUSELINE_STAGE_END, name);
}
static inline void fuseline_wait_begin(const char* name) {
  fuseline_stage_put(FUSELINE_WAIT_BEGIN, name);
}
static inline void fuseline_wait_end(const char* name) {
  fuseline_stage_put(FUSELINE_WAIT_END, name);
}

#ifdef __cplusplus
} /* extern "C" */

namespace fuseline {

/* A stage that lasts as long as the object; the name must outlive it. */
class StageMark {
 public:
  explicit StageMark(const char* name) : name_(name) { fuseline_stage_begin(name_); }
  ~StageMark() { fuseline_stage_end(name_); }
  StageMark(const StageMark&) = delete;
  StageMark& operator=(const StageMark&) = delete;

 private:
  const char* name_;
};

/* The same for a wait. */
class WaitMark {
 public:
  explicit WaitMark(const char* name) : name_(name) { fuseline_wait_begin(name_); }
  ~WaitMark() { fuseline_wait_end(name_); }
  WaitMark(const WaitMark&) = delete;
  WaitMark& operator=(const WaitMark&) = delete;

 private:
  const char* name_;
};

} /* namespace fuseline */
#endif

#endif /* FUSELINE_STAGE_H */
