// Work of many threads, of which as much runs at once as there are processors.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace oneiros {

// Runs work on the calling thread as long as there are free places. Beyond that, callers sleep, and
// workers run their work in the order of arrival. Each worker keeps its place while work waits, so
// every processor has a thread that can run at any time.
//
// With more threads than processors and no such order, threads wait for each other's locks, among
// them Python's, in chains: the system wakes a thread on the processor of the one that woke it,
// where it waits for its turn while another processor is idle. On two processors, eight Python
// threads then searched 0.84 times as often as two, and their slowest percentile took 10 ms; by
// this queue 0.91 to 0.96 times as often, and 4 to 5 ms.
class WorkQueue {
 public:
  using Work = std::function<void()>;

  // REQUIRES: most_places >= 1.
  explicit WorkQueue(std::size_t most_places) : most_places_(most_places) {}
  // REQUIRES: no call of run() is in progress.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // The queue of the process, with one place per processor. It is never destroyed: its workers
  // sleep until the process ends. The child of a fork starts with a new one, since the threads of
  // its parent do not exist there.
  static WorkQueue& of_process();

  // Runs `work`, on the calling thread or a worker, and rethrows its exception. While the caller
  // waits it calls pause_here(), which may throw: work that has not begun is then left out, and
  // work that runs ends at its next pause_here(). Inside of other work, `work` runs at once.
  // REQUIRES: the caller holds no lock that other work may need, such as Python's; `work` does not
  // fork.
  void run(const Work& work);

 private:
  struct Job;

  // A place, left at the end of its lifetime.
  class Place;

  [[nodiscard]] bool has_free_place() const { return busy_ < most_places_; }
  // Returns false if there is no worker and none can be started.
  bool start_missing();
  void serve();
  // False if there is none.
  [[nodiscard]] bool awaits_work(std::unique_lock<std::mutex>& lock) const;
  void finish(Job& job);

  const std::size_t most_places_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<Job*> waiting_;  // oldest first
  std::size_t busy_ = 0;      // places taken by callers and workers
  bool is_closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace oneiros
