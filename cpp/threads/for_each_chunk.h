// Parallel loops.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "threads/chunked_loop.h"

namespace oneiros {

// Interruption and cancellation of a loop.
struct ChunkRules {
  // Called on the calling thread after each of its chunks, and regularly while it waits for others;
  // an exception ends the loop.
  std::function<void()> pause = {};
  // When it becomes true, no further chunk starts. Referenced; null: never.
  const std::atomic<bool>* is_cancelled = nullptr;
};

// for_each_chunk() with a type-erased body.
bool run_chunks(std::size_t count, std::size_t threads, std::size_t grain, const ChunkBody& body,
                const ChunkRules& rules);

// Calls body(begin, end) for the chunks [0, grain), [grain, 2 grain), ... of [0, count), on the
// calling thread and at most threads - 1 pool threads, or fewer if the machine has fewer
// processors. Chunks start in order and are the same for any number of threads. With one thread,
// one chunk, or inside another loop's body, everything runs on the calling thread.
//
// The first exception, in the order of chunks, ends the loop and is rethrown when all threads have
// left it. Returns true if all chunks ran. Thread-safe; usable in the child of a fork. REQUIRES:
// threads >= 1; grain >= 1; body may run on many threads and does not fork.
template <typename Body>
bool for_each_chunk(std::size_t count, std::size_t threads, std::size_t grain, const Body& body,
                    const ChunkRules& rules = {}) {
  return run_chunks(count, threads, grain, std::cref(body), rules);
}

// A grain of at least `fewest` that gives every thread several chunks: few, since each has a fixed
// cost, but enough to balance the load at the end.
[[nodiscard]] constexpr std::size_t grain_for(std::size_t count, std::size_t threads,
                                              std::size_t fewest) {
  constexpr std::size_t kChunksPerThread = 8;
  constexpr std::size_t kMultiple = 64;  // chunks start at multiples of lines and vectors
  const std::size_t even = count / threads / (threads == 1 ? 1 : kChunksPerThread);
  return even < fewest ? fewest : (even + kMultiple - 1) / kMultiple * kMultiple;
}

}  // namespace oneiros
