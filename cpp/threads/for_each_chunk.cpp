// Runs a loop inline or on the pool of the process.
#include "threads/for_each_chunk.h"

#include <algorithm>
#include <cassert>

#include "threads/thread_pool.h"

namespace oneiros {

bool run_chunks(std::size_t count, std::size_t threads, std::size_t grain, const ChunkBody& body,
                const ChunkRules& rules) {
  assert(threads >= 1);
  ChunkedLoop loop(count, grain, body, rules.is_cancelled);
  const std::size_t useful = std::min(threads, loop.chunk_count());
  if (useful <= 1 || ThreadPool::is_inside()) {
    loop.work(rules.pause);
  } else {
    ThreadPool::of_process().run(loop, useful - 1, rules.pause);
  }
  return loop.finish();
}

}  // namespace oneiros
