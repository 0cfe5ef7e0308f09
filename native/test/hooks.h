// SPDX-License-Identifier: Apache-2.0
// Deterministic interleavings: a thread under test stops in front of a named step until the test lets it go on. Time is a
// counter that the test moves. Nothing here depends on how fast anything runs; the one real deadline only ends a test that hangs.
#ifndef GPUVERBS_TEST_HOOKS_H
#define GPUVERBS_TEST_HOOKS_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "check.h"
#include "gpuverbs/order.h"

namespace hooks {

using gpuverbs::Step;

// Where a thread stands: running, held in front of a step, or finished.
class Actor {
 public:
  // Stops in front of `step` the next time it gets there. kWrite: in front of writing its WQEs.
  static constexpr int kWrite = -1;
  static constexpr int kNowhere = -2;

  template <class F>
  Actor(int stop_at, F body)
      : stop_at_(stop_at), thread_([this, body] {
          current() = this;
          body();
          std::lock_guard<std::mutex> lock(mutex_);
          finished_ = true;
          changed_.notify_all();
        }) {}

  ~Actor() {
    release();
    thread_.join();
  }

  // Waits until the thread is held or has finished; false after the deadline.
  bool settle() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return held_ || finished_; });
  }

  bool held() {
    std::lock_guard<std::mutex> lock(mutex_);
    return held_;
  }

  bool finish() {
    release();
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return finished_; });
  }

  bool finished() {
    std::lock_guard<std::mutex> lock(mutex_);
    return finished_;
  }

  void release() {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_at_ = kNowhere;
    held_ = false;
    changed_.notify_all();
  }

  // Waits until the thread has gone through `step` n more times (a thread that spins does); false after the deadline.
  bool passes(Step step, uint64_t n) {
    const uint64_t from = count(step);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count(step) < from + n) {
      if (finished() || std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  uint64_t count(Step step) const { return counts_[static_cast<uint32_t>(step)].load(std::memory_order_relaxed); }

  void at(int point) {
    if (point >= 0) counts_[point].fetch_add(1, std::memory_order_relaxed);
    if (point != stop_at_.load(std::memory_order_relaxed)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    if (point != stop_at_) return;
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stop_at_ == kNowhere; });
  }

  static Actor*& current() {
    static thread_local Actor* actor = nullptr;
    return actor;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> stop_at_;
  bool held_ = false;
  bool finished_ = false;
  std::atomic<uint64_t> counts_[64] = {};
  std::thread thread_;
};

inline std::atomic<uint64_t>& clock() {
  static std::atomic<uint64_t> now{1};
  return now;
}

// The defect that is on, or none.
inline std::atomic<const char*>& mutant() {
  static std::atomic<const char*> on{nullptr};
  return on;
}

class Mutant {
 public:
  explicit Mutant(const char* name) { mutant() = name; }
  ~Mutant() { mutant() = nullptr; }
};

} // namespace hooks

extern "C" bool gv_step_hook(uint32_t step) {
  if (hooks::Actor* a = hooks::Actor::current()) a->at(static_cast<int>(step));
  return true;
}

extern "C" bool gv_mutant(const char* name) {
  // run_group asks for this one between reserving and writing: the point where an actor can be held before its WQEs exist.
  if (std::strcmp(name, "publish_before_write") == 0)
    if (hooks::Actor* a = hooks::Actor::current()) a->at(hooks::Actor::kWrite);
  const char* on = hooks::mutant().load();
  return on != nullptr && std::strcmp(name, on) == 0;
}

extern "C" uint64_t gv_test_now(void) { return hooks::clock().load(); }

#endif
