// What is freed goes back to the system, where the allocator would keep it.
#pragma once

namespace oneiros::lexical {

// glibc keeps what a thread has freed for that thread. This gives back whole pages of it, of all
// threads; it takes some milliseconds, in which those that allocate may wait. Does nothing with
// other allocators.
void give_back_freed_memory() noexcept;

}  // namespace oneiros::lexical
