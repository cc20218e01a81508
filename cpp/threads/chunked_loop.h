// A loop divided into chunks that any number of threads take in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>

namespace oneiros {

using ChunkBody = std::function<void(std::size_t begin, std::size_t end)>;

// The chunks [0, grain), [grain, 2 grain), ... of [0, count), handed out in this order. The
// division does not depend on the number of threads, so results that depend on it do not either.
class ChunkedLoop {
 public:
  // `body` and `is_cancelled` (may be null) are referenced. REQUIRES: grain >= 1.
  ChunkedLoop(std::size_t count, std::size_t grain, const ChunkBody& body,
              const std::atomic<bool>* is_cancelled);

  [[nodiscard]] std::size_t chunk_count() const { return chunk_count_; }

  // Runs chunks until none is left; each has then run, failed, or was cancelled before it started.
  // Calls `pause`, if given, after each chunk. Several threads may call it concurrently.
  void work(const std::function<void()>& pause) noexcept;

  // Calls `pause`, if given, for a thread that waits for the others.
  void wait(const std::function<void()>& pause) noexcept;

  // Rethrows the exception of the first failed chunk, in chunk order: the same one for any number
  // of threads, since all earlier chunks have started and finished. An exception of `pause` has
  // priority. Otherwise returns true if all chunks ran, false if cancelled.
  // REQUIRES: every work() has returned, synchronised with the caller by a lock.
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
  std::size_t error_place_ = 0;  // 0: pause(); otherwise the chunk's number from 1
};

}  // namespace oneiros
