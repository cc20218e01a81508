// Threads that receive no signals.
#pragma once

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigfillset is POSIX, not C++
#endif

namespace oneiros {

#ifndef _WIN32

// While it exists, new threads start with all signals blocked. Signals must reach the application's
// threads, which may be in a system call that a signal should end.
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
