// A state machine in one atomic: idle, running, running and requested again. The thread that leaves
// the running state starts over if it was requested meanwhile.
#include "threads/background_task.h"

#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

#include "threads/blocked_signals.h"
#include "threads/fork_hooks.h"

namespace oneiros {

namespace {
constexpr std::uint32_t kIdle = 0;
constexpr std::uint32_t kWorking = 1;
constexpr std::uint32_t kToBeginAgain = 2;  // running, and requested again
}  // namespace

// Atomics only, no mutex or condition variable: a fork may happen at any point of the thread, and
// the child must remain usable.
struct BackgroundTask::State {
  const Work work;
  std::atomic<std::uint32_t> phase = kIdle;
  std::atomic<bool> is_cancelled = false;

  explicit State(Work to_do) : work(std::move(to_do)) {}

  void serve() {
    std::uint32_t done = kWorking;
    do {
      phase.store(kWorking);
      work(is_cancelled);
      done = kWorking;
    } while (!phase.compare_exchange_strong(done, kIdle));
    phase.notify_all();
  }
};

BackgroundTask::BackgroundTask(Work work) : state_(std::make_shared<State>(std::move(work))) {}

BackgroundTask::~BackgroundTask() {
  state_->is_cancelled.store(true);
  for (std::uint32_t phase = state_->phase.load(); phase != kIdle; phase = state_->phase.load()) {
    state_->phase.wait(phase);
  }
}

void BackgroundTask::start() {
  if (!ForkHooks::are_called()) {
    return;
  }
  std::uint32_t phase = state_->phase.load();
  while (!state_->phase.compare_exchange_weak(phase, phase == kIdle ? kWorking : kToBeginAgain)) {
  }
  if (phase != kIdle) {
    return;
  }
  const BlockedSignals blocked;
  try {
    std::thread([state = state_] { state->serve(); }).detach();
  } catch (const std::exception&) {  // no more threads or memory
    state_->phase.store(kIdle);
    state_->phase.notify_all();
  }
}

void BackgroundTask::forget_thread() noexcept { state_->phase.store(kIdle); }

}  // namespace oneiros
