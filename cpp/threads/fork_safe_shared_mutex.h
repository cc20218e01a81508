// A lock that no fork leaves taken.
#pragma once

#include <memory>
#include <shared_mutex>

#include "threads/fork_hooks.h"

namespace oneiros {

// As std::shared_mutex. A fork waits for whoever holds it alone, so a child finds what it guards
// whole, and itself free: those who shared it do not live there.
// Of two that are held at once, the one taken first must be the one made last.
class ForkSafeSharedMutex {
 public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
  // In the child made anew, over what counts threads that are gone.
  ForkHooks fork_hooks_{[this] { mutex_.lock_shared(); }, [this] { mutex_.unlock_shared(); },
                        [this] { std::construct_at(&mutex_); }};
};

}  // namespace oneiros
