// SPDX-License-Identifier: Apache-2.0
// Each invariant of the submit path: a scenario that holds as the code is, and that a deliberately broken variant fails.
// Interleavings are forced step by step (hooks.h), so a broken variant fails every time.
#include "hooks.h"
#include "nic.h"

using gpuverbs::Step;
using hooks::Actor;
using hooks::Mutant;

namespace {

constexpr uint64_t kTimeout = 1000000; // of the test's clock

const Policy kTurn = {"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1};
const Policy kTurnSkip = {"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 32};
const Policy kClassic = {"classic", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1};
const Policy kBitmap = {"bitmap", GV_HANDOVER_BITMAP, GV_FENCE_SYSTEM, 1};

int at(Step s) { return static_cast<int>(s); }

// A queue, its drain and a way to submit one WRITE from an actor.
struct Bench {
  gv_qp* qp;
  TestNic nic;

  explicit Bench(const Policy& p, uint32_t depth = 64) : qp(open_queue(p, depth, 0, kTimeout)), nic(qp) {}
  ~Bench() { gv_qp_destroy(qp); }

  int64_t submit(uint64_t id, uint8_t flags = 0) {
    const gv_request r = write_request(id, 1, flags);
    return gv_submit(qp->sq, &r, 1, 1);
  }

  uint32_t dbr() const {
    return __builtin_bswap32(__atomic_load_n(reinterpret_cast<uint32_t*>(qp->dbr) + 1, __ATOMIC_ACQUIRE));
  }
  uint64_t ready_head() const { return __atomic_load_n(&qp->sq->ready_head, __ATOMIC_ACQUIRE); }
};

// Runs a scenario as the code is (it must report no violation) and with a defect (it must report one).
void detects(const char* mutant, bool (*violated)()) {
  CHECK(!violated());
  Mutant on(mutant);
  CHECK(violated());
}

// Held in front of passing the turn on, a submitter has rung: the NIC may read now, and must find the WQE.
bool garbage_under_the_doorbell() {
  Bench b(kTurn);
  Actor a(at(Step::handover_add), [&] { b.submit(5); });
  if (!a.settle()) return true;
  b.nic.consume();
  return b.nic.consumed() != 1 || b.nic.bad() != 0;
}

// A has reserved slot 0 and not written it; B must not publish past it.
bool successor_overtakes(const Policy& p, Step spin) {
  Bench b(p);
  int64_t second = -1;
  Actor a(Actor::kWrite, [&] { b.submit(1); });
  if (!a.settle() || !a.held()) return true;
  bool overtaken;
  {
    Actor s(Actor::kNowhere, [&] { second = b.submit(2); });
    s.passes(spin, 4); // waiting for its turn, or through
    overtaken = s.finished() || b.ready_head() != 0 || b.dbr() != 0;
    a.finish();
    s.finish();
  }
  b.nic.consume();
  return overtaken || b.nic.bad() != 0 || b.nic.consumed() != 2 || second != 1;
}

bool turn_is_jumped() { return successor_overtakes(kTurn, Step::turn_load); }

// A waits in front of its DBR store for producer index 1 while B rings for 2: when A goes on the DBR must not fall back to 1.
bool dbr_goes_back() {
  Bench b(kClassic);
  Actor a(at(Step::dbr_store), [&] { b.submit(1); });
  if (!a.settle() || !a.held()) return true;
  Actor s(Actor::kNowhere, [&] { b.submit(2); });
  if (!s.passes(Step::lock_cas, 4)) s.settle(); // waits for the lock, or, without one, has rung
  const uint32_t before = b.dbr();
  a.finish();
  s.finish();
  return b.dbr() < before || b.dbr() != 2;
}

bool tail_is_never_rung() {
  Bench b(kTurnSkip);
  b.submit(1);
  b.submit(2);
  b.nic.consume();
  return b.nic.consumed() != 2;
}

bool slot_is_overwritten() {
  Bench b(kTurn);
  for (uint64_t i = 0; i < 64; i++) b.submit(i);
  const bool refused = b.submit(64) == GV_FULL;
  b.nic.consume();
  return !refused || b.nic.bad() != 0;
}

// 300 unsignalled WRITEs through a ring of 64: they only fit if completions come by themselves.
bool ring_never_frees_itself() {
  Bench b(kTurn);
  for (uint64_t i = 0; i < 300; i++) {
    if (b.submit(i) == GV_FULL) {
      b.nic.consume();
      if (b.submit(i) < 0) return true;
    }
  }
  return b.nic.bad() != 0;
}

// A CQE older than the cached index is not 64 K ahead of it.
bool old_completion_frees_the_ring() {
  Bench b(kTurn);
  for (uint64_t i = 0; i < 64; i++) b.submit(i);
  b.nic.consume(); // the CQE names WQE 63
  gv_poll(b.qp->sq, 63);
  b.qp->sq->completed = 64;
  b.nic.complete(40); // an older CQE, seen late
  gv_poll(b.qp->sq, 64);
  return b.qp->sq->completed != 64;
}

// A never comes; B's wait for its turn must end with the test's clock past the deadline, and kill the queue for all.
bool wait_is_unbounded() {
  Bench b(kTurn);
  int64_t second = 0;
  Actor a(Actor::kWrite, [&] { b.submit(1); });
  if (!a.settle()) return true;
  Actor s(Actor::kNowhere, [&] { second = b.submit(2); });
  s.passes(Step::turn_load, 300); // the first slow check takes the time
  hooks::clock() += 2 * kTimeout;
  s.passes(Step::turn_load, 100000); // more than enough for the next one
  const bool unbounded = !s.finished();
  hooks::mutant() = nullptr; // let a broken one out
  a.finish();
  s.finish();
  return unbounded || second != GV_TIMEOUT;
}

// A queue in ERROR ends a wait at once, whatever the clock says.
bool error_is_not_seen() {
  Bench b(kTurn);
  int64_t second = 0;
  Actor a(Actor::kWrite, [&] { b.submit(1); });
  if (!a.settle()) return true;
  Actor s(Actor::kNowhere, [&] { second = b.submit(2); });
  s.passes(Step::turn_load, 4);
  gv_qp_mark(b.qp, GV_STATE_ERROR);
  s.passes(Step::turn_load, 1000);
  const bool missed = !s.finished();
  hooks::mutant() = nullptr;
  a.finish();
  s.finish();
  return missed || second != GV_QP_ERROR;
}

// Whoever gives up after reserving leaves a gap: the queue must say so, or its successors wait for nothing.
bool gap_is_silent() {
  Bench b(kTurn);
  Actor a(Actor::kWrite, [&] { b.submit(1); });
  if (!a.settle()) return true;
  int64_t second = 0;
  Actor s(Actor::kNowhere, [&] { second = b.submit(2); });
  s.passes(Step::turn_load, 300);
  hooks::clock() += 2 * kTimeout;
  s.finish();
  const bool silent = b.qp->sq->state != GV_STATE_ERROR;
  a.finish();
  return silent || second != GV_TIMEOUT;
}

} // namespace

TEST(I1_a_wqe_is_written_before_any_index_that_covers_it) {
  detects("publish_before_write", garbage_under_the_doorbell);
}

TEST(I2_nobody_publishes_past_a_predecessor) { detects("no_turn", turn_is_jumped); }

TEST(I2_holds_for_every_chained_policy) {
  CHECK(!successor_overtakes(kClassic, Step::handover_cas));
  CHECK(!successor_overtakes({"ldst", GV_HANDOVER_TURN_LDST, GV_FENCE_SYSTEM, 1}, Step::turn_load_acquire));
}

TEST(I2_bitmap_posts_only_up_to_the_first_gap) {
  Bench b(kBitmap);
  Actor a(Actor::kWrite, [&] { b.submit(1); });
  CHECK(a.settle() && a.held());
  CHECK(b.submit(2) == 1); // publishes slot 1 and scans: slot 0 is not ready
  CHECK(b.dbr() == 0 && b.ready_head() == 0);
  a.finish();
  b.nic.consume();
  CHECK(b.nic.consumed() == 2 && b.nic.bad() == 0);
}

TEST(I3_the_dbr_never_goes_back) { detects("no_lock", dbr_goes_back); }

TEST(I3_the_tail_of_a_batch_is_rung) { detects("no_tail_rule", tail_is_never_rung); }

TEST(I4_a_slot_is_reused_only_after_its_completion) { detects("no_slot_check", slot_is_overwritten); }

TEST(I4_a_full_ring_frees_itself_without_signalled_requests) { detects("no_forced_signal", ring_never_frees_itself); }

TEST(I5_an_old_counter_is_behind_not_64k_ahead) { detects("unsigned_credit", old_completion_frees_the_ring); }

TEST(I5_a_depth_below_the_bound_is_refused) {
  gv_qp_attr a;
  std::memset(&a, 0, sizeof a);
  a.depth = 64;
  a.doorbell_every = 64;
  a.collapsed = 1;
  a.max_group_wqebbs = 1;
  gv_qp* qp = nullptr;
  gv_error error;
  CHECK(gv_qp_create(&a, &qp, &error) == 0); // 64 >= 64 + 1 - 1
  gv_qp_destroy(qp);
  a.max_group_wqebbs = 2;
  CHECK(gv_qp_create(&a, &qp, &error) == -22);
  CHECK(std::string(error.text).find("64 is too small") != std::string::npos);
}

TEST(I6_a_wait_ends_at_its_deadline) { detects("unbounded_wait", wait_is_unbounded); }

TEST(I6_a_wait_ends_when_the_queue_is_in_error) { detects("unbounded_wait", error_is_not_seen); }

TEST(I8_giving_up_after_a_reservation_kills_the_queue) { detects("silent_give_up", gap_is_silent); }

TEST(I8_full_is_decided_before_anything_is_reserved) {
  Bench b(kTurn);
  for (uint64_t i = 0; i < 64; i++) b.submit(i);
  CHECK(b.submit(64) == GV_FULL);
  CHECK(b.qp->sq->resv_head == 64 && b.qp->sq->state == GV_STATE_RTS);
}

// The 16-bit counter means an index only beside a `completed` that is current: a poller may sleep for a lap between the two.
TEST(a_poller_that_slept_for_a_lap_of_the_index_names_the_right_error) {
  Bench b(kTurn);
  Actor poller(at(Step::cqe_load), [&] { gv_poll(b.qp->sq, 0); });
  CHECK(poller.settle() && poller.held());
  constexpr uint64_t kFails = 65536 + 10;
  for (uint64_t i = 0; i <= kFails; i++) {
    CHECK(b.submit(i, GV_FLAG_SIGNALED) == static_cast<int64_t>(i));
    if (i != kFails) b.nic.consume();
  }
  b.nic.complete(kFails, 13, 0x13);
  CHECK(poller.finish());
  CHECK(gv_poll(b.qp->sq, kFails) == 0x13);
  CHECK(gv_poll(b.qp->sq, kFails - 1) == GV_OK);
  CHECK(b.qp->sq->error_index == kFails);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
