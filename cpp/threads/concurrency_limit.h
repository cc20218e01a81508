// A limit on the threads that compute at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace oneiros {

// Lets a bounded number of threads in; the others sleep until one leaves. With more threads at work
// than there are processors, the system takes them off in turns, among them the one that holds
// Python's lock: the rest then wait for that lock while a processor is idle. On two processors that
// had other work, eight threads searched a quarter faster with this limit; on idle ones it makes no
// difference. No order among those that wait: a thread that arrives may pass one that has been
// woken.
class ConcurrencyLimit {
 public:
  // REQUIRES: most >= 1.
  explicit ConcurrencyLimit(std::size_t most) : most_(most) {}
  ConcurrencyLimit(const ConcurrencyLimit&) = delete;
  ConcurrencyLimit& operator=(const ConcurrencyLimit&) = delete;

  // The limit of the process, one thread per processor. It is never destroyed. The child of a fork
  // starts with a new one, since threads that were inside do not exist there.
  static ConcurrencyLimit& of_process();

  // Counts the calling thread as inside for its lifetime. Waits as long as the limit is reached and
  // calls pause_here() meanwhile, which may throw. REQUIRES: the thread is not inside already,
  // holds no lock that one inside may need, such as Python's, and does not fork.
  class Entry {
   public:
    explicit Entry(ConcurrencyLimit& limit) : limit_(limit) { limit_.enter(); }
    ~Entry() { limit_.leave(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    ConcurrencyLimit& limit_;
  };

 private:
  void enter();
  void leave();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable has_left_;
  std::size_t inside_ = 0;  // guarded by mutex_
};

}  // namespace oneiros
