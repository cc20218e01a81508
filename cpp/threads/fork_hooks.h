// What must be whole when the process forks.
#pragma once

#include <functional>

namespace oneiros {

// While it lives, every fork calls `before` in the parent, and then `after_in_parent` there and
// `after_in_child` in the child, all on the thread that forks. `before` may lock what the child
// must not find half changed; the others unlock it. The child has that one thread only.
// REQUIRES: none of the three makes, destroys or waits for whoever makes or destroys a ForkHooks;
// they throw nothing.
class ForkHooks {
 public:
  ForkHooks(std::function<void()> before, std::function<void()> after_in_parent,
            std::function<void()> after_in_child);
  ~ForkHooks();
  ForkHooks(const ForkHooks&) = delete;
  ForkHooks& operator=(const ForkHooks&) = delete;

  // Whether the hooks can be called at all. If not, no thread may be started that a child misses.
  static bool are_called();

 private:
  friend struct ForkCalls;

  const std::function<void()> before_;
  const std::function<void()> after_in_parent_;
  const std::function<void()> after_in_child_;
  ForkHooks* previous_ = nullptr;
  ForkHooks* next_ = nullptr;
};

}  // namespace oneiros
