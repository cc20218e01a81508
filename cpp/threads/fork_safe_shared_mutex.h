// A shared mutex that is usable after a fork.
#pragma once

#include <memory>
#include <shared_mutex>

#include "threads/fork_hooks.h"

namespace oneiros {

// Like std::shared_mutex. A fork waits for an exclusive owner, so the child finds the protected
// data consistent and the mutex free: shared owners do not exist there. If two are held at once,
// the one locked first must be the one constructed last.
class ForkSafeSharedMutex {
 public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
  // Constructed again in the child: its state counts threads that do not exist there.
  ForkHooks fork_hooks_{[this] { mutex_.lock_shared(); }, [this] { mutex_.unlock_shared(); },
                        [this] { std::construct_at(&mutex_); }};
};

}  // namespace oneiros
