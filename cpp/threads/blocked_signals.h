// Threads that no signal disturbs.
#pragma once

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigfillset is POSIX, not C++
#endif

namespace oneiros {

#ifndef _WIN32

// While it lives, threads start with every signal blocked: signals belong to the threads of the
// application, which may be sleeping in a call that a signal must end.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

#else

struct BlockedSignals {};

#endif

}  // namespace oneiros
