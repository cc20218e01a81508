// Returns freed memory to the system where the allocator would keep it.
#pragma once

namespace oneiros::lexical {

// glibc keeps freed memory in per-thread arenas. This returns whole pages of all arenas; it takes
// some milliseconds, during which allocating threads may wait. No effect with other allocators.
void give_back_freed_memory() noexcept;

}  // namespace oneiros::lexical
