// One list of hooks for pthread_atfork, which can register but never unregister callbacks.
#include "threads/fork_hooks.h"

#include <mutex>
#include <utility>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace oneiros {

namespace {

// Trivially destructible, so that they exist for objects with static storage that are destroyed
// later.
constinit std::mutex mutex;
constinit ForkHooks* first = nullptr;

}  // namespace

struct ForkCalls {
  static void before() {
    mutex.lock();
    for (ForkHooks* hooks = first; hooks != nullptr; hooks = hooks->next_) {
      hooks->before_();
    }
  }
  static void after_in_parent() {
    for (ForkHooks* hooks = first; hooks != nullptr; hooks = hooks->next_) {
      hooks->after_in_parent_();
    }
    mutex.unlock();
  }
  static void after_in_child() {
    for (ForkHooks* hooks = first; hooks != nullptr; hooks = hooks->next_) {
      hooks->after_in_child_();
    }
    mutex.unlock();
  }
};

namespace {

#ifndef _WIN32
// Registered when the library is loaded, before a fork can happen with hooks in place.
const bool is_registered =
    pthread_atfork(ForkCalls::before, ForkCalls::after_in_parent, ForkCalls::after_in_child) == 0;
#else
const bool is_registered = true;  // there is no fork
#endif

}  // namespace

bool ForkHooks::are_called() { return is_registered; }

ForkHooks::ForkHooks(std::function<void()> before, std::function<void()> after_in_parent,
                     std::function<void()> after_in_child)
    : before_(std::move(before)),
      after_in_parent_(std::move(after_in_parent)),
      after_in_child_(std::move(after_in_child)) {
  const std::scoped_lock lock(mutex);
  next_ = first;
  if (next_ != nullptr) {
    next_->previous_ = this;
  }
  first = this;
}

ForkHooks::~ForkHooks() {
  const std::scoped_lock lock(mutex);
  (previous_ != nullptr ? previous_->next_ : first) = next_;
  if (next_ != nullptr) {
    next_->previous_ = previous_;
  }
}

}  // namespace oneiros
