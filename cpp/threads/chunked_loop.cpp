// Chunks are handed out by one atomic counter. The first exception in chunk order is kept, so that
// errors do not depend on scheduling.
#include "threads/chunked_loop.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace oneiros {

namespace {

// Not (count + grain - 1) / grain, which could overflow.
std::size_t chunks_of(std::size_t count, std::size_t grain) {
  return count / grain + static_cast<std::size_t>(count % grain != 0);
}

}  // namespace

ChunkedLoop::ChunkedLoop(std::size_t count, std::size_t grain, const ChunkBody& body,
                         const std::atomic<bool>* is_cancelled)
    : count_(count),
      grain_(grain),
      chunk_count_((assert(grain >= 1), chunks_of(count, grain))),
      body_(body),
      is_cancelled_(is_cancelled) {}

void ChunkedLoop::work(const std::function<void()>& pause) noexcept {
  while (true) {
    if (is_cancelled_ != nullptr && is_cancelled_->load(std::memory_order_relaxed)) {
      stop();
    }
    // Read before writing: at its end, the shared counter stays unmodified in all caches.
    if (next_.load(std::memory_order_relaxed) >= chunk_count_) {
      return;
    }
    const std::size_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunk_count_) {
      return;
    }
    const std::size_t begin = chunk * grain_;
    try {
      body_(begin, begin + std::min(grain_, count_ - begin));
    } catch (...) {
      fail(chunk + 1);
    }
    wait(pause);
  }
}

void ChunkedLoop::wait(const std::function<void()>& pause) noexcept {
  try {
    if (pause) {
      pause();
    }
  } catch (...) {
    fail(0);
  }
}

bool ChunkedLoop::finish() const {
  if (error_) {
    std::rethrow_exception(error_);
  }
  return is_complete_;
}

void ChunkedLoop::stop() noexcept {
  if (next_.exchange(chunk_count_) < chunk_count_) {
    is_complete_ = false;
  }
}

void ChunkedLoop::fail(std::size_t place) noexcept {
  stop();
  const std::scoped_lock lock(error_mutex_);
  if (!error_ || place < error_place_) {
    error_ = std::current_exception();
    error_place_ = place;
  }
}

}  // namespace oneiros
