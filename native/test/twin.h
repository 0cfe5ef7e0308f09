// SPDX-License-Identifier: Apache-2.0
// A GPU's twin for tests: each lane is a thread of the host, and the warp's instructions make those threads meet. It runs the code of
// device.h and group.h as it is, so that what a kernel does with a queue can be checked where there is no GPU.
#ifndef GPUVERBS_TEST_TWIN_H
#define GPUVERBS_TEST_TWIN_H

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gpuverbs/device.h"

namespace twin {

using gpuverbs::TwinPlace;

// The threads of one block, and where they meet.
class Block {
 public:
  explicit Block(uint32_t threads) : threads_(threads) {}

  // Runs body(thread) in every thread; the lanes of a warp are taken for converged.
  template <class F>
  void run(F body) {
    std::vector<std::thread> all;
    for (uint32_t t = 0; t < threads_; t++)
      all.emplace_back([&, t] {
        const uint32_t in_warp = threads_ - t / 32 * 32;
        const uint32_t active = in_warp >= 32 ? gpuverbs::kFullWarp : (1u << in_warp) - 1;
        enter(this, TwinPlace{t % 32, t, threads_, 0, active});
        body(t);
      });
    for (auto& t : all) t.join();
  }

  static void enter(Block* block, TwinPlace place) {
    here() = place;
    current() = block;
  }

  // A lane by itself: its warp has diverged.
  static void alone(uint32_t lane) { enter(nullptr, TwinPlace{lane, lane, 32, 0, 1u << lane}); }

  void meet(uint32_t mask, uint64_t mine, uint64_t* values) {
    std::unique_lock<std::mutex> lock(mutex_);
    Meeting& m = meetings_[{mask == 0 ? ~0u : here().thread / 32, mask}];
    const uint32_t wanted = mask == 0 ? threads_ : gpuverbs::count_ones(mask);
    m.next[here().lane] = mine;
    const uint64_t number = m.held;
    if (++m.there == wanted) {
      std::memcpy(m.values, m.next, sizeof m.values);
      m.there = 0;
      m.held++;
      changed_.notify_all();
    } else if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return m.held != number; })) {
      std::printf("twin: %u of %u threads met at mask %08x\n", m.there, wanted, mask);
      std::abort(); // lanes that never meet would hang the test
    }
    if (values != nullptr) std::memcpy(values, m.values, sizeof m.values);
  }

  static TwinPlace& here() {
    static thread_local TwinPlace place{};
    return place;
  }

  static Block*& current() {
    static thread_local Block* block = nullptr;
    return block;
  }

 private:
  struct Meeting {
    uint32_t there = 0;
    uint64_t held = 0;
    uint64_t next[32], values[32];
  };

  uint32_t threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<uint32_t, uint32_t>, Meeting> meetings_;
};

} // namespace twin

extern "C" const gpuverbs::TwinPlace* gv_twin_place(void) { return &twin::Block::here(); }

extern "C" void gv_twin_meet(uint32_t mask, uint64_t mine, uint64_t* all) {
  if (twin::Block::current() != nullptr)
    twin::Block::current()->meet(mask, mine, all);
  else
    all[twin::Block::here().lane] = mine; // a lane alone meets itself
}

#endif
