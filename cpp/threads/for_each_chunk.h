// A loop over several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "threads/chunked_loop.h"

namespace oneiros {

struct ChunkRules {
  // Called on the calling thread after each chunk of its own, and now and then while it waits for
  // the others; what it throws ends the loop.
  std::function<void()> pause = {};
  // Once it is true, no further chunk begins. Borrowed; null: never.
  const std::atomic<bool>* is_cancelled = nullptr;
};

// As below, for a body whose type is hidden.
bool run_chunks(std::size_t count, std::size_t threads, std::size_t grain, const ChunkBody& body,
                const ChunkRules& rules);

// Calls body(begin, end) for the chunks [0, grain), [grain, 2 grain), ... of [0, count), on the
// calling thread and at most threads - 1 others, fewer where the machine has fewer processors.
// Chunks begin in order, and are the same for any number of threads. With one thread, one chunk, or
// from within another loop's body, all runs on the calling thread alone and touches no pool.
// The first exception of any chunk ends the loop and is thrown when all threads have left it;
// the first in the order of chunks, so always the same one. Returns whether all chunks ran.
// Thread-safe. After a fork, the child has threads of its own.
// REQUIRES: threads >= 1; grain >= 1; body may run on many threads, and does not fork.
template <typename Body>
bool for_each_chunk(std::size_t count, std::size_t threads, std::size_t grain, const Body& body,
                    const ChunkRules& rules = {}) {
  return run_chunks(count, threads, grain, std::cref(body), rules);
}

// A grain of at least `fewest` that gives every thread some chunks: few, since each costs its body
// a beginning, but enough that no thread has long to wait for another's last.
[[nodiscard]] constexpr std::size_t grain_for(std::size_t count, std::size_t threads,
                                              std::size_t fewest) {
  constexpr std::size_t kChunksPerThread = 8;
  constexpr std::size_t kMultiple = 64;  // chunks of rows begin where lines and vectors do
  const std::size_t even = count / threads / (threads == 1 ? 1 : kChunksPerThread);
  return even < fewest ? fewest : (even + kMultiple - 1) / kMultiple * kMultiple;
}

}  // namespace oneiros
