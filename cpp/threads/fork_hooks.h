// Callbacks around fork(), for state that must be consistent in the child.
#pragma once

#include <functional>

namespace oneiros {

// While it exists, every fork calls `before` in the parent, and afterwards `after_in_parent` in the
// parent and `after_in_child` in the child, all on the forking thread, the only one the child has.
// `before` typically acquires locks that the other two release. REQUIRES: the callbacks neither
// create nor destroy a ForkHooks nor wait for a thread that does, and do not throw.
class ForkHooks {
 public:
  ForkHooks(std::function<void()> before, std::function<void()> after_in_parent,
            std::function<void()> after_in_child);
  ~ForkHooks();
  ForkHooks(const ForkHooks&) = delete;
  ForkHooks& operator=(const ForkHooks&) = delete;

  // True if the callbacks are registered. Otherwise no thread may be started that a child would
  // miss.
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
