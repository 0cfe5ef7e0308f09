// SPDX-License-Identifier: Apache-2.0
// The device API on the twin of a GPU, in its checked build: every form under every policy, the one submitter of an EXCLUSIVE queue,
// and groups that are larger than one reservation may be. As in invariants_test, a broken variant fails each time.
#include "hooks.h"
#include "nic.h"
#include "twin.h"

using gpuverbs::Sender;
using gpuverbs::Step;
using hooks::Actor;
using hooks::Mutant;
using twin::Block;

namespace {

constexpr uint64_t kTimeout = 1000000; // of the test's clock
constexpr uint32_t kRkey = 0x1234, kLkey = 0x5678;

using Exclusive = Sender<GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM>;

const Policy kExclusive = {"exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 1};
const Policy kExclusiveTail = {"exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 16};
const Policy kTurn = {"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1};

uint64_t remote_of(uint64_t id) { return id * 64; }
uint64_t local_of(uint64_t id) { return id * 64 + (1ull << 40); }

template <class S>
int64_t put(S& s, uint64_t id, uint32_t flags = 0) {
  return s.put(remote_of(id), kRkey, local_of(id), kLkey, 64, flags);
}

struct Bench {
  gv_qp* qp;
  TestNic nic;

  explicit Bench(const Policy& p, uint32_t depth = 1024) : qp(open_queue(p, depth, 0, kTimeout)), nic(qp) {}
  ~Bench() { gv_qp_destroy(qp); }

  gv_sq* sq() const { return qp->sq; }
  uint32_t state() const { return __atomic_load_n(&qp->sq->state, __ATOMIC_ACQUIRE); }
  uint32_t dbr() const { return __builtin_bswap32(reinterpret_cast<uint32_t*>(qp->dbr)[1]); }

  // Consumes while `body` runs; a body that waits for room gets it. After some seconds the test's clock goes on, so that what waits in
  // vain ends.
  template <class F>
  void drained(F body, int seconds = 60) {
    std::atomic<bool> done{false};
    std::thread kernel([&] {
      body();
      done = true;
    });
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!done) {
      if (nic.consume() == 0) sched_yield();
      if (std::chrono::steady_clock::now() > patience) hooks::clock() += kTimeout;
    }
    kernel.join();
    nic.consume();
  }
};

// As the code is no violation, with the defect one.
void detects(const char* mutant, bool (*violated)()) {
  CHECK(!violated());
  Mutant on(mutant);
  CHECK(violated());
}

// ---- every form under every policy ----

// A block of a warp and a half: thread scope, warp scope, put and signal, block scope. Returns how many requests it made.
template <uint32_t H, uint32_t M>
uint64_t every_form(gv_sq* sq, uint32_t threads, std::atomic<int>& wrong) {
  constexpr bool one = H == GV_HANDOVER_EXCLUSIVE; // the block is no submitter of two kinds
  constexpr uint64_t kCalls = 3;
  int64_t shared = 0;
  Block block(threads);
  block.run([&](uint32_t t) {
    Sender<H, M> qp(sq);
    int64_t last = 0;
    for (uint64_t i = 0; i < kCalls; i++) {
      const uint64_t id = 1000 * t + 10 * i;
      last = put(qp, id);
      wrong += last < 0;
      const uint32_t mask = Block::here().active;
      gpuverbs::sync_lanes(mask); // out of narrower forms before wider ones, as device.h asks
      wrong += qp.put_warp(mask, remote_of(id + 1), kRkey, local_of(id + 1), kLkey, 64) < 0;
      wrong += qp.put_signal(remote_of(id + 2), kRkey, local_of(id + 2), kLkey, 64, 8 * t, kRkey, 1, 8, kLkey) < 0;
      if (one) continue;
      gpuverbs::sync_block();
      wrong += qp.put_block(&shared, remote_of(id + 3), kRkey, local_of(id + 3), kLkey, 64) < 0;
    }
    wrong += qp.wait(put(qp, 1000 * t + 999, GV_FLAG_SIGNALED), ~0ull >> 1) != GV_OK;
    wrong += qp.quiet(~0ull >> 1) != GV_OK;
  });
  return threads * (kCalls * (one ? 4 : 5) + 2);
}

template <uint32_t H, uint32_t M>
void check_forms(const char* name, uint32_t threads) {
  Bench b({name, H, M, 1});
  std::atomic<int> wrong{0};
  uint64_t made = 0;
  b.drained([&] { made = every_form<H, M>(b.sq(), threads, wrong); });
  if (b.nic.bad() != 0) std::printf("  %s: %s\n", name, b.nic.first_wrong().c_str());
  CHECK(wrong == 0);
  CHECK(b.nic.bad() == 0);
  CHECK(b.nic.wqes() == made);
  CHECK(b.nic.consumed() == b.sq()->resv_head);
  CHECK(b.state() == GV_STATE_RTS);
}

// ---- the one submitter ----

// Two lanes of a warp that has diverged: one is inside when the other comes.
bool slots_are_shared_by_lanes() {
  Bench b(kExclusive);
  int64_t first = -1, second = -1;
  Actor a(static_cast<int>(Step::ring_release), [&] {
    Block::alone(0);
    Exclusive qp(b.sq());
    first = put(qp, 1);
  });
  if (!a.settle() || !a.held()) return true;
  std::thread other([&] {
    Block::alone(1);
    Exclusive qp(b.sq());
    second = put(qp, 2);
  });
  other.join();
  a.finish();
  return second != GV_QP_ERROR || b.state() != GV_STATE_ERROR;
}

// Two Senders of one queue, used one after the other, and nothing said in between.
bool slots_are_shared_by_views() {
  Bench b(kExclusive);
  Block::alone(0);
  Exclusive one(b.sq()), other(b.sq());
  if (put(one, 1) != 0) return true;
  return put(other, 2) != GV_QP_ERROR || b.state() != GV_STATE_ERROR;
}

// One lane has submitted by itself before its warp does.
bool lanes_disagree() {
  Bench b(kExclusive);
  std::atomic<int> taken{0};
  Block(32).run([&](uint32_t t) {
    Exclusive qp(b.sq());
    if (t == 3) {
      Block::here().active = 1u << t;
      put(qp, 1);
      Block::here().active = gpuverbs::kFullWarp;
    }
    gpuverbs::sync_lanes(gpuverbs::kFullWarp);
    taken += put(qp, 10 + t) >= 0;
  });
  return taken != 0 || b.state() != GV_STATE_ERROR;
}

// The tail of a view that another has gone on from: the DBR would go back.
bool old_tail_is_rung() {
  Bench b(kExclusiveTail);
  Block::alone(0);
  Exclusive one(b.sq());
  for (uint64_t i = 0; i < 3; i++) put(one, i);
  Exclusive other(b.sq());
  for (uint64_t i = 3; i < 20; i++) put(other, i);
  other.flush();
  const uint32_t before = b.dbr();
  one.flush();
  return before != 20 || b.dbr() != 20 || b.state() != GV_STATE_ERROR;
}

// Two lanes' lock-step on the host: the second thread comes while the first is inside.
bool slots_are_shared_by_threads() {
  Bench b(kExclusive);
  const gv_request r = write_request(1);
  Actor a(Actor::kWrite, [&] { gv_submit(b.sq(), &r, 1, 1); });
  if (!a.settle() || !a.held()) return true;
  const int64_t second = gv_submit(b.sq(), &r, 1, 1);
  a.finish();
  return second != GV_QP_ERROR || b.state() != GV_STATE_ERROR;
}

// ---- groups larger than a reservation may be ----

// A ring of 128 with completions every 32 takes 97 at once. Ten slots that no completion covers yet, then a block of 128.
bool block_waits_for_itself() {
  Bench b(kTurn, 128);
  std::atomic<int> wrong{0};
  int64_t shared = 0;
  b.drained(
      [&] {
        Block(128).run([&](uint32_t t) {
          Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM> qp(b.sq());
          if (t == 0) {
            Block::here().active = 1;
            for (uint64_t i = 0; i < 10; i++) put(qp, i);
            Block::here().active = gpuverbs::kFullWarp;
          }
          gpuverbs::sync_block();
          for (uint64_t i = 0; i < 3; i++) {
            const uint64_t id = 100 + 1000 * i + t;
            wrong += qp.put_block(&shared, remote_of(id), kRkey, local_of(id), kLkey, 64) < 0;
          }
        });
      },
      hooks::mutant() == nullptr ? 60 : 1);
  return wrong != 0 || b.nic.bad() != 0 || b.nic.wqes() != 10 + 3 * 128;
}

// A ring of 64 takes 49 at once; 32 puts with their signals are 64.
bool warp_waits_for_itself() {
  Bench b(kTurn, 64);
  std::atomic<int> wrong{0};
  b.drained(
      [&] {
        Block(32).run([&](uint32_t t) {
          Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM> qp(b.sq());
          if (t == 0) {
            Block::here().active = 1;
            for (uint64_t i = 0; i < 10; i++) put(qp, i);
            Block::here().active = gpuverbs::kFullWarp;
          }
          gpuverbs::sync_lanes(gpuverbs::kFullWarp);
          for (uint64_t i = 0; i < 3; i++) {
            const uint64_t id = 100 + 100 * i + t;
            wrong += qp.put_signal(remote_of(id), kRkey, local_of(id), kLkey, 64, 8 * t, kRkey, 1, 8, kLkey) < 0;
          }
        });
      },
      hooks::mutant() == nullptr ? 60 : 1);
  return wrong != 0 || b.nic.bad() != 0 || b.nic.wqes() != 10 + 3 * 64;
}

} // namespace

TEST(every_form_of_every_policy_loses_nothing) {
  check_forms<GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM>("classic", 48);
  check_forms<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM>("turn_cas", 48);
  check_forms<GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE>("turn_cas_device", 32);
  check_forms<GV_HANDOVER_TURN_LDST, GV_FENCE_SYSTEM>("turn_ldst", 48);
  check_forms<GV_HANDOVER_BITMAP, GV_FENCE_SYSTEM>("bitmap", 48);
  check_forms<GV_HANDOVER_BITMAP, GV_FENCE_DEVICE>("bitmap_device", 64);
  check_forms<GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM>("exclusive", 32);
}

TEST(exclusive_finds_a_second_lane_inside) { detects("unchecked_owner", slots_are_shared_by_lanes); }

TEST(exclusive_finds_a_second_view) { detects("unchecked_owner", slots_are_shared_by_views); }

TEST(exclusive_finds_lanes_that_disagree) { detects("unchecked_owner", lanes_disagree); }

TEST(exclusive_finds_an_old_views_tail) { detects("unchecked_owner", old_tail_is_rung); }

TEST(exclusive_finds_a_second_thread_of_the_host) { detects("unchecked_owner", slots_are_shared_by_threads); }

TEST(exclusive_goes_on_in_another_warp_by_a_new_view_or_resume) {
  Bench b(kExclusiveTail);
  Block::alone(0);
  Exclusive one(b.sq()), late(b.sq());
  CHECK(put(one, 0) == 0);
  one.flush();
  Block(32).run([&](uint32_t t) {
    Exclusive qp(b.sq());
    CHECK(put(qp, 1 + t) == 1 + static_cast<int64_t>(t));
    qp.flush();
  });
  late.resume();
  CHECK(put(late, 33) == 33);
  late.flush();
  b.nic.consume();
  CHECK(b.nic.consumed() == 34 && b.nic.bad() == 0 && b.nic.sum() == 33 * 34 / 2);
  CHECK(b.state() == GV_STATE_RTS && b.sq()->owner == 0);
}

TEST(exclusive_starts_afresh_after_a_reset) {
  Bench b(kExclusive);
  Block::alone(0);
  Exclusive one(b.sq()), other(b.sq());
  put(one, 1);
  CHECK(put(other, 2) == GV_QP_ERROR);
  CHECK(gv_qp_reset(b.qp, nullptr) == 0 && gv_qp_ready(b.qp, 0x42, nullptr) == 0);
  CHECK(b.sq()->owner == 0);
  Exclusive again(b.sq());
  CHECK(put(again, 3) == 0);
}

TEST(I5_a_block_larger_than_a_reservation_goes_out_in_parts) { detects("unsplit_group", block_waits_for_itself); }

TEST(I5_a_warp_larger_than_a_reservation_goes_out_in_parts) { detects("unsplit_group", warp_waits_for_itself); }

TEST(the_policy_of_the_handle_is_the_one_that_runs) {
  const struct {
    uint32_t handover;
    Step step; // of this hand-over alone, among those that one submitter takes
  } rows[] = {
      {GV_HANDOVER_CLASSIC, Step::unlock_store},          {GV_HANDOVER_TURN_CAS, Step::handover_add},
      {GV_HANDOVER_TURN_LDST, Step::turn_store_release},  {GV_HANDOVER_BITMAP, Step::announce_add},
      {GV_HANDOVER_UNCHECKED_NOLOCK, Step::handover_cas}, {GV_HANDOVER_UNCHECKED_RELAXED, Step::turn_store_relaxed}};
  for (const auto& row : rows) {
    Bench b({"any", row.handover, GV_FENCE_SYSTEM, 1});
    uint64_t taken = 0, locked = 0;
    Actor a(Actor::kNowhere, [&] {
      Block::alone(0);
      gpuverbs::QueuePair qp(b.sq());
      CHECK(put(qp, 1) == 0);
      taken = Actor::current()->count(row.step);
      locked = Actor::current()->count(Step::unlock_store);
    });
    CHECK(a.finish());
    CHECK(taken == 1);
    CHECK(locked == (row.handover == GV_HANDOVER_CLASSIC ? 1 : 0));
    b.nic.consume();
    CHECK(b.nic.consumed() == 1 && b.nic.bad() == 0);
  }
}

TEST(a_handover_that_is_not_known_is_refused) {
  Bench b(kTurn);
  Block::alone(0);
  b.sq()->handover = GV_HANDOVER_UNCHECKED_RELAXED + 1;
  gpuverbs::QueuePair qp(b.sq());
  CHECK(put(qp, 1) == GV_QP_ERROR);
  CHECK(b.sq()->resv_head == 0 && b.dbr() == 0);
}

TEST(a_warp_submits_to_an_exclusive_queue_by_the_policy_of_its_handle) {
  Bench b(kExclusiveTail);
  std::atomic<int> wrong{0};
  b.drained([&] {
    Block(32).run([&](uint32_t t) {
      gpuverbs::QueuePair qp(b.sq());
      for (uint64_t i = 0; i < 50; i++) wrong += put(qp, 32 * i + t) != static_cast<int64_t>(32 * i + t);
    });
  });
  CHECK(wrong == 0);
  CHECK(b.nic.wqes() == 50 * 32 && b.nic.bad() == 0);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
