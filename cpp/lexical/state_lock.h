// Readers share, a writer excludes; a waiting writer goes before the readers that come after it.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace oneiros::lexical {

// Over std::shared_mutex, whose readers can keep a writer out for ever on Linux.
// REQUIRES: at most one writer at a time calls lock(); no reader locks twice.
class StateLock {
 public:
  void lock() {
    is_writer_waiting_.store(true);
    const std::scoped_lock gate(gate_);
    mutex_.lock();
    is_writer_waiting_.store(false);
  }
  void unlock() { mutex_.unlock(); }

  void lock_shared() {
    if (is_writer_waiting_.load()) {
      const std::scoped_lock gate(gate_);  // opens once the writer is in
    }
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::atomic<bool> is_writer_waiting_ = false;
  std::mutex gate_;
  std::shared_mutex mutex_;
};

}  // namespace oneiros::lexical
