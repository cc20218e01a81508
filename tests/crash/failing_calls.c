// Lets one call of the system fail, or kills the process before or after it: loaded before the C
// library (LD_PRELOAD), armed by number. Only calls on regular files count, so that what a test
// prints is not among them; and to be killed at, only those that change files.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long left = -1;  // calls until the one that fails; below 0: none does
static _Atomic long count = 0;
static _Atomic int failed = 0;
static int mode = 0;  // an errno; 0: writes are cut short, all else passes; or one of these

enum { KILLED_BEFORE = -1, KILLED_AFTER = -2 };

void arm_failing_call(long at, int with) {
  mode = with;
  count = 0;
  failed = 0;
  left = at;
}
void disarm_failing_call(void) { left = -1; }
long counted_calls(void) { return count; }
int has_failed(void) { return failed; }

static int is_file(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && S_ISREG(found.st_mode);
}

// Whether this call is the one.
static int is_chosen(void) {
  if (left < 0) {
    return 0;
  }
  ++count;
  if (--left != 0) {
    return 0;
  }
  left = -1;
  failed = 1;
  return 1;
}

#define REAL(type, name, ...)                                 \
  static type (*real)(__VA_ARGS__) = NULL;                    \
  if (real == NULL) {                                         \
    real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);      \
  }
#define FAILS(result)             \
  if (mode > 0 && is_chosen()) {  \
    errno = mode;                 \
    return result;                \
  }
// The result of a call that changes a file, before or after which the process may be killed.
#define CHANGES(type, call)             \
  if (mode < 0 && is_chosen()) {        \
    if (mode == KILLED_BEFORE) {        \
      kill(getpid(), SIGKILL);          \
    }                                   \
    const type made = call;             \
    (void)made;                         \
    kill(getpid(), SIGKILL);            \
  }
#define ON_FILE(file) (left >= 0 && is_file(file))

ssize_t write(int file, const void* data, size_t size) {
  REAL(ssize_t, "write", int, const void*, size_t)
  if (ON_FILE(file)) {
    CHANGES(ssize_t, real(file, data, size))
    FAILS(-1)
    if (mode == 0 && is_chosen()) {
      return real(file, data, size > 1 ? size / 2 : size);
    }
  }
  return real(file, data, size);
}

#define PWRITE(name, offset_type)                                          \
  ssize_t name(int file, const void* data, size_t size, offset_type at) {  \
    REAL(ssize_t, #name, int, const void*, size_t, offset_type)            \
    if (ON_FILE(file)) {                                                   \
      CHANGES(ssize_t, real(file, data, size, at))                         \
      FAILS(-1)                                                            \
      if (mode == 0 && is_chosen()) {                                      \
        return real(file, data, size > 1 ? size / 2 : size, at);           \
      }                                                                    \
    }                                                                      \
    return real(file, data, size, at);                                     \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC(name)                   \
  int name(int file) {               \
    REAL(int, #name, int)            \
    if (ON_FILE(file)) {             \
      CHANGES(int, real(file))       \
      FAILS(-1)                      \
    }                                \
    return real(file);               \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type)     \
  int name(int file, offset_type size) { \
    REAL(int, #name, int, offset_type)  \
    if (ON_FILE(file)) {                \
      CHANGES(int, real(file, size))    \
      FAILS(-1)                         \
    }                                   \
    return real(file, size);            \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define READ(name, offset_type)                                     \
  ssize_t name(int file, void* data, size_t size, offset_type at) { \
    REAL(ssize_t, #name, int, void*, size_t, offset_type)           \
    if (ON_FILE(file)) {                                            \
      FAILS(-1)                                                     \
    }                                                               \
    return real(file, data, size, at);                              \
  }
READ(pread, off_t)
READ(pread64, off64_t)

#define OPEN(name)                                     \
  int name(const char* path, int flags, ...) {         \
    REAL(int, #name, const char*, int, ...)            \
    mode_t mode_of_file = 0;                           \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {        \
      va_list rest;                                    \
      va_start(rest, flags);                           \
      mode_of_file = va_arg(rest, mode_t);             \
      va_end(rest);                                    \
    }                                                  \
    if (left >= 0 && (flags & (O_WRONLY | O_RDWR))) {  \
      FAILS(-1)                                        \
    }                                                  \
    if (left >= 0 && (flags & (O_CREAT | O_TRUNC))) {  \
      CHANGES(int, real(path, flags, mode_of_file))    \
    }                                                  \
    return real(path, flags, mode_of_file);            \
  }
OPEN(open)
OPEN(open64)

int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*)
  CHANGES(int, real(from, to))
  FAILS(-1)
  return real(from, to);
}

int unlink(const char* path) {
  REAL(int, "unlink", const char*)
  CHANGES(int, real(path))
  FAILS(-1)
  return real(path);
}
