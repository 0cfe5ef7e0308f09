// SPDX-License-Identifier: Apache-2.0
// Lane threads: a pool that runs the submit path on batches whose slots the caller has reserved.
//
// One submitter fills a ring of commands; every lane walks all commands in order and takes groups of a command by a shared counter
// until none is left. Groups are taken in order, so the lowest unpublished slot of a batch is always in some lane's hands,
// and commands are taken in the order in which their slots were reserved: no lane waits for a turn that stands behind it.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "batch.h"
#include "error.h"

using namespace gpuverbs;

namespace {

constexpr uint64_t kCommands = 64;
constexpr uint32_t kMaxGroups = GV_MAX_DEPTH;

struct alignas(128) Command {
  gv_sq* sq;
  const gv_request* requests;
  uint32_t count;
  uint32_t group_size;
  uint32_t groups;
  uint64_t base;
  uint64_t next;
  // WQE index of each group's first slot: taken from the command by whoever takes the group.
  std::vector<uint64_t> starts;
  alignas(128) std::atomic<uint32_t> taken{0};
};

struct alignas(128) Position {
  std::atomic<uint64_t> done{0}; // commands that the lane is through with
};

struct RunGroup {
  const Command* c;
  uint32_t group;

  template <uint32_t H, uint32_t M>
  int64_t operator()() const {
    Group g;
    g.first = group * c->group_size;
    g.count = c->count - g.first < c->group_size ? c->count - g.first : c->group_size;
    g.base = c->starts[group];
    g.tail = group + 1 == c->groups;
    g.next = g.tail ? c->next : c->starts[group + 1];
    return run_group<H, M>(view_of(c->sq), c->requests, g);
  }
};

struct Reserve {
  Queue q;
  uint32_t wqebbs;
  template <uint32_t H, uint32_t M>
  int64_t operator()() {
    return try_reserve<H, M>(q, wqebbs);
  }
};

} // namespace

struct gv_lanes {
  Command commands[kCommands];
  alignas(128) std::atomic<uint64_t> published{0};
  alignas(128) std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<Position> positions;
  std::vector<std::thread> threads;

  explicit gv_lanes(uint32_t lanes) : positions(lanes) {}

  // True once a command with this number is there; false when the pool stops.
  bool await_command(uint64_t number) {
    for (uint32_t tries = 0; published.load(std::memory_order_acquire) <= number; tries++) {
      if (stopping.load(std::memory_order_acquire)) return published.load(std::memory_order_acquire) > number;
      if (tries < 64) continue;
      if (tries < 512) {
        sched_yield();
        continue;
      }
      std::unique_lock<std::mutex> lock(mutex);
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      wake.wait(lock, [&] { return published.load(std::memory_order_seq_cst) > number || stopping.load(); });
      sleepers.fetch_sub(1, std::memory_order_relaxed);
    }
    return true;
  }

  void run(uint32_t lane) {
    for (uint64_t number = 0; await_command(number); number++) {
      Command& c = commands[number % kCommands];
      for (;;) {
        const uint32_t group = c.taken.fetch_add(1, std::memory_order_relaxed);
        if (group >= c.groups) break;
        // A dead queue ends every later group with the same status at once: nothing to report here, poll tells.
        with_policy(c.sq, RunGroup{&c, group});
      }
      positions[lane].done.store(number + 1, std::memory_order_release);
    }
  }

  uint64_t slowest() const {
    uint64_t least = ~0ull;
    for (const Position& p : positions) {
      const uint64_t done = p.done.load(std::memory_order_acquire);
      if (done < least) least = done;
    }
    return least;
  }

  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping.store(true);
    }
    wake.notify_all();
    for (std::thread& t : threads) t.join();
  }
};

extern "C" int32_t gv_lanes_start(uint32_t lanes, gv_lanes** out, gv_error* error) {
  if (lanes < 1 || lanes > 256) return fail(error, -EINVAL, 0, "%u lane threads: use 1 to 256", lanes);
  gv_lanes* pool = nullptr;
  try {
    pool = new gv_lanes(lanes);
    for (Command& c : pool->commands) c.starts.resize(kMaxGroups);
    for (uint32_t i = 0; i < lanes; i++) {
      pool->threads.emplace_back([pool, i] { pool->run(i); });
      char name[16];
      snprintf(name, sizeof name, "gv-lane-%u", i);
      pthread_setname_np(pool->threads.back().native_handle(), name);
    }
  } catch (const std::exception& e) {
    if (pool != nullptr) {
      pool->stop();
      delete pool;
    }
    return fail(error, -EAGAIN, 0,
                "could not start %u lane threads (%s): raise the thread or memory limit, or ask for fewer", lanes,
                e.what());
  }
  *out = pool;
  return 0;
}

extern "C" int64_t gv_lanes_submit(gv_lanes* pool, gv_sq* q, const gv_request* requests, uint32_t count,
                                   uint32_t wqebbs) {
  const int64_t status = status_of_state(relaxed_load32(&q->state));
  if (status != GV_OK) return status;
  const uint64_t number = pool->published.load(std::memory_order_relaxed);
  if (number - pool->slowest() >= kCommands) return GV_BUSY;
  const int64_t base = with_policy(q, Reserve{view_of(q), wqebbs});
  if (base < 0) return base;

  Command& c = pool->commands[number % kCommands];
  c.sq = q;
  c.requests = requests;
  c.count = count;
  c.group_size = group_requests(q);
  c.groups = (count + c.group_size - 1) / c.group_size;
  c.base = static_cast<uint64_t>(base);
  uint64_t index = c.base;
  for (uint32_t i = 0; i < count; i++) {
    if (i % c.group_size == 0) c.starts[i / c.group_size] = index;
    index += requests[i].wqebbs;
  }
  c.next = index;
  c.taken.store(0, std::memory_order_relaxed);
  pool->published.store(number + 1, std::memory_order_seq_cst);
  if (pool->sleepers.load(std::memory_order_seq_cst) != 0) {
    { std::lock_guard<std::mutex> lock(pool->mutex); }
    pool->wake.notify_all();
  }
  return static_cast<int64_t>(index) - requests[count - 1].wqebbs;
}

extern "C" int32_t gv_lanes_idle(gv_lanes* pool, const gv_sq* q) {
  const uint64_t end = pool->published.load(std::memory_order_acquire);
  for (uint64_t n = pool->slowest(); n < end; n++)
    if (q == nullptr || pool->commands[n % kCommands].sq == q) return 0;
  return 1;
}

extern "C" void gv_lanes_stop(gv_lanes* pool) {
  if (pool == nullptr) return;
  pool->stop();
  delete pool;
}
