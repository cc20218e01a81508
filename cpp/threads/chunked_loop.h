// A loop cut into chunks that any number of threads take in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>

namespace oneiros {

using ChunkBody = std::function<void(std::size_t begin, std::size_t end)>;

// The chunks [0, grain), [grain, 2 grain), ... of [0, count), handed out in this order. Where they
// are cut does not depend on the threads.
class ChunkedLoop {
 public:
  // `body` and `is_cancelled` (may be null) are borrowed. REQUIRES: grain >= 1.
  ChunkedLoop(std::size_t count, std::size_t grain, const ChunkBody& body,
              const std::atomic<bool>* is_cancelled);

  [[nodiscard]] std::size_t chunk_count() const { return chunk_count_; }

  // Runs chunks until none is left: each is run, has failed, or was cancelled before it began.
  // After each of its own it calls `pause`, if there is one. Many threads may call it at once.
  void work(const std::function<void()>& pause) noexcept;

  // Calls `pause`, if there is one, for a thread that waits for the others.
  void wait(const std::function<void()>& pause) noexcept;

  // Throws what the first chunk that failed threw. That is the same one for any number of threads:
  // all before it had begun, and ran to their end. What `pause` threw comes before all. Otherwise
  // says whether all chunks ran (false: cancelled).
  // REQUIRES: every work() has returned, and the caller knows so by way of a lock.
  bool finish() const;

 private:
  void stop() noexcept;
  void fail(std::size_t place) noexcept;

  const std::size_t count_;
  const std::size_t grain_;
  const std::size_t chunk_count_;
  const ChunkBody& body_;
  const std::atomic<bool>* const is_cancelled_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_complete_ = true;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::size_t error_place_ = 0;  // 0: pause(); else a chunk's number, counted from 1
};

}  // namespace oneiros
