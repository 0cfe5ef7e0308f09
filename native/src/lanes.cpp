// SPDX-License-Identifier: Apache-2.0
// Lane threads: a pool that runs the submit path on batches whose slots the caller has reserved.
//
// One submitter fills a ring of commands; the lanes take groups of the oldest command that has any left, by a shared counter.
// Groups are taken in order, so the lowest unpublished slot of a batch is always in some lane's hands, and commands in the
// order in which their slots were reserved: no lane waits for a turn that stands behind it.
//
// No more lanes work at once than there are processors. A lane that holds a slot and isn't running keeps all its successors
// waiting: eight lanes on two processors handed over seven times slower than two.
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
constexpr uint32_t kMaxGroups = GV_MAX_DEPTH / 2; // a group has two requests or more, but for the last

struct alignas(128) Command {
  // Atomic, since gv_lanes_idle may look while the command is filled anew: what it then sees is done or not its own.
  std::atomic<gv_sq*> queue{nullptr};
  std::atomic<uint32_t> groups{0};
  const gv_request* requests = nullptr;
  uint32_t count = 0;
  uint32_t group_size = 0;
  uint64_t next = 0;            // WQE index behind the batch
  std::vector<uint64_t> starts; // WQE index of each group's first slot
  alignas(128) std::atomic<uint32_t> taken{0};
  alignas(128) std::atomic<uint32_t> finished{0};

  gv_sq* sq() const { return queue.load(std::memory_order_relaxed); }
  uint32_t size() const { return groups.load(std::memory_order_relaxed); }
  bool done() const { return finished.load(std::memory_order_acquire) == size(); }
};

// The command that a lane may be touching. Set before it looks, so that nobody fills that command anew.
struct alignas(128) Hazard {
  static constexpr uint64_t kNone = ~0ull;
  std::atomic<uint64_t> command{kNone};
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
    g.tail = group + 1 == c->size();
    g.next = g.tail ? c->next : c->starts[group + 1];
    return run_group<H, M>(view_of(c->sq()), c->requests, g);
  }
};

struct Reserve {
  Queue q;
  uint32_t wqebbs;
  template <uint32_t H, uint32_t M>
  int64_t operator()() {
    if (H != GV_HANDOVER_EXCLUSIVE) return try_reserve<H, M>(q, wqebbs);
    // The lane publishes for this caller, who may reserve more meanwhile: only the reservation is checked.
    if (const int64_t status = enter_exclusive(q)) return status;
    const int64_t base = try_reserve<H, M>(q, wqebbs);
    leave_exclusive(q);
    return base;
  }
};

} // namespace

struct gv_lanes {
  Command commands[kCommands];
  alignas(128) std::atomic<uint64_t> published{0}; // commands filled
  alignas(128) std::atomic<uint64_t> open{0};      // the oldest that may have groups left
  alignas(128) std::atomic<uint64_t> retired{0};   // commands whose places may be filled again
  alignas(128) std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int> places{0}; // lanes that may work at once, less those that do
  std::vector<Hazard> hazards;
  std::vector<std::thread> threads;

  explicit gv_lanes(uint32_t lanes) : hazards(lanes) {
    const uint32_t processors = std::thread::hardware_concurrency();
    places = static_cast<int>(processors == 0 || lanes < processors ? lanes : processors);
  }

  bool work_left() const { return open.load(std::memory_order_seq_cst) < published.load(std::memory_order_seq_cst); }

  // Gives the lane's place to another, and comes back with one when there is work. False: stop.
  bool sleep(bool holds_place) {
    std::unique_lock<std::mutex> lock(mutex);
    if (holds_place) places++;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    wake.wait(lock, [&] { return (places > 0 && work_left()) || (stopping.load() && !work_left()); });
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (!work_left() && stopping.load()) {
      wake.notify_all(); // those without a place were told to stop while there was work, and slept on
      return false;
    }
    places--;
    return true;
  }

  // One group of the oldest open command; false if there is none.
  bool run_one(Hazard& hazard) {
    const uint64_t number = open.load(std::memory_order_acquire);
    if (number >= published.load(std::memory_order_acquire)) return false;
    hazard.command.store(number, std::memory_order_seq_cst);
    if (retired.load(std::memory_order_seq_cst) <= number) {
      Command& c = commands[number % kCommands];
      const uint32_t group = c.taken.fetch_add(1, std::memory_order_relaxed);
      if (group < c.size()) {
        // A dead queue ends every later group with the same status at once: nothing to report here, poll tells.
        with_policy(c.sq(), RunGroup{&c, group});
        c.finished.fetch_add(1, std::memory_order_release);
      } else {
        uint64_t expected = number;
        open.compare_exchange_strong(expected, number + 1, std::memory_order_seq_cst);
      }
    }
    hazard.command.store(Hazard::kNone, std::memory_order_release);
    return true;
  }

  void run(uint32_t lane) {
    if (!sleep(false)) return;
    for (uint32_t idle = 0;;) {
      if (run_one(hazards[lane])) {
        idle = 0;
      } else if (idle++ < 64) {
        continue;
      } else if (idle < 256 && !stopping.load(std::memory_order_acquire)) {
        sched_yield();
      } else {
        if (!sleep(true)) return;
        idle = 0;
      }
    }
  }

  // Whether the next command's place is free: its last user is done, and no lane is looking at it.
  bool has_place(uint64_t number) {
    if (number < kCommands) return true;
    const uint64_t old = number - kCommands;
    if (!commands[old % kCommands].done()) return false;
    uint64_t expected = open.load(std::memory_order_acquire);
    if (expected == old) open.compare_exchange_strong(expected, old + 1, std::memory_order_seq_cst);
    retired.store(old + 1, std::memory_order_seq_cst);
    for (const Hazard& h : hazards)
      if (h.command.load(std::memory_order_seq_cst) == old) return false;
    return true;
  }

  // Wakes as many lanes as there are free places: whoever holds one looks for work before it sleeps. seq_cst on both sides: either
  // this sees the place that a lane gives back, or that lane sees the command.
  void notify() {
    const int free = places.load(std::memory_order_seq_cst);
    if (free <= 0 || sleepers.load(std::memory_order_seq_cst) == 0) return;
    { std::lock_guard<std::mutex> lock(mutex); }
    for (int i = 0; i < free; i++) wake.notify_one();
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
  if (!pool->has_place(number)) return GV_BUSY;
  const int64_t base = with_policy(q, Reserve{view_of(q), wqebbs});
  if (base < 0) return base;

  Command& c = pool->commands[number % kCommands];
  c.queue.store(q, std::memory_order_relaxed);
  c.requests = requests;
  c.count = count;
  c.group_size = group_requests(q);
  c.groups.store((count + c.group_size - 1) / c.group_size, std::memory_order_relaxed);
  uint64_t index = static_cast<uint64_t>(base);
  for (uint32_t i = 0; i < count; i++) {
    if (i % c.group_size == 0) c.starts[i / c.group_size] = index;
    index += requests[i].wqebbs;
  }
  c.next = index;
  c.taken.store(0, std::memory_order_relaxed);
  c.finished.store(0, std::memory_order_relaxed);
  pool->published.store(number + 1, std::memory_order_seq_cst);
  pool->notify();
  return static_cast<int64_t>(index) - requests[count - 1].wqebbs;
}

extern "C" int32_t gv_lanes_idle(gv_lanes* pool, const gv_sq* q) {
  const uint64_t end = pool->published.load(std::memory_order_acquire);
  for (uint64_t n = end < kCommands ? 0 : end - kCommands; n < end; n++) {
    const Command& c = pool->commands[n % kCommands];
    if (!c.done() && (q == nullptr || c.sq() == q)) return 0;
  }
  return 1;
}

extern "C" void gv_lanes_stop(gv_lanes* pool) {
  if (pool == nullptr) return;
  pool->stop();
  delete pool;
}
