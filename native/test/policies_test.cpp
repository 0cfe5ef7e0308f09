// SPDX-License-Identifier: Apache-2.0
// Every sound policy, with submitters on several threads and a drain that checks each WQE: nothing lost, doubled, torn or
// uncovered, past several wraps of the 16-bit index. Built plain, with ASan/UBSan and with TSan.
#include <chrono>
#include <thread>

#include "check.h"
#include "nic.h"

namespace {

constexpr auto kLimit = std::chrono::seconds(120);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kWqes = 70000;
#else
constexpr uint64_t kWqes = 210000;
#endif

const Policy kPolicies[] = {
    {"classic_always", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1},
    {"classic_every_4", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 4},
    {"classic_device", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 1},
    {"turn_cas_always", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1},
    {"turn_cas_every_64", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 64},
    {"turn_cas_device", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 64},
    {"turn_ldst_every_64", GV_HANDOVER_TURN_LDST, GV_FENCE_SYSTEM, 64},
    {"turn_ldst_device", GV_HANDOVER_TURN_LDST, GV_FENCE_DEVICE, 1},
    {"bitmap", GV_HANDOVER_BITMAP, GV_FENCE_SYSTEM, 1},
    {"bitmap_device", GV_HANDOVER_BITMAP, GV_FENCE_DEVICE, 1},
    {"exclusive_every_16", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 16},
};

struct Run {
  std::atomic<bool> stop{false};
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + kLimit;
  bool late() const { return std::chrono::steady_clock::now() > end; }
};

// Submits the ids [first, end) in batches of 1 to 40 requests of one or two basic blocks. Waits while the ring is full.
template <class Submit>
void submit_ids(uint64_t first, uint64_t end, Run& run, std::atomic<uint64_t>& refused, Submit submit) {
  uint32_t size = 1;
  std::vector<gv_request> batch;
  for (uint64_t id = first; id < end;) {
    batch.clear();
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < size && id < end; i++, id++) {
      batch.push_back(write_request(id, static_cast<uint8_t>(1 + id % 3), id % 7 == 0 ? GV_FLAG_SIGNALED : 0));
      blocks += batch.back().wqebbs;
    }
    size = size % 40 + 1;
    for (;;) {
      const int64_t ticket = submit(batch, blocks);
      if (ticket >= 0) break;
      if ((ticket != GV_FULL && ticket != GV_BUSY) || run.late()) {
        refused++;
        return;
      }
      sched_yield();
    }
  }
}

void drain(gv_qp* qp, uint64_t wqes, TestNic& nic, Run& run) {
  while (nic.wqes() < wqes && !run.late() && nic.bad() == 0)
    if (nic.consume() == 0) sched_yield();
  (void)qp;
}

void verify(const Policy& p, gv_qp* qp, const TestNic& nic, uint64_t refused) {
  if (nic.bad() != 0) std::printf("  %s: %s\n", p.name, nic.first_wrong().c_str());
  CHECK(refused == 0);
  CHECK(nic.bad() == 0);
  CHECK(nic.wqes() == kWqes);
  CHECK(nic.sum() == kWqes * (kWqes - 1) / 2);
  CHECK(qp->sq->resv_head == nic.consumed());
  CHECK(qp->sq->ready_head == nic.consumed());
}

void threads_case(const Policy& p, int threads) {
  gv_qp* qp = open_queue(p, 512);
  CHECK(qp != nullptr);
  if (qp == nullptr) return;
  TestNic nic(qp);
  Run run;
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++)
    all.emplace_back([&, t] {
      submit_ids(kWqes * t / threads, kWqes * (t + 1) / threads, run, refused,
                 [&](std::vector<gv_request>& b, uint32_t blocks) {
                   return gv_submit(qp->sq, b.data(), static_cast<uint32_t>(b.size()), blocks);
                 });
    });
  drain(qp, kWqes, nic, run);
  for (auto& t : all) t.join();
  verify(p, qp, nic, refused);
  gv_qp_destroy(qp);
}

void lanes_case(const Policy& p, uint32_t lanes) {
  gv_qp* qp = open_queue(p, 512);
  gv_lanes* pool = nullptr;
  CHECK(qp != nullptr && gv_lanes_start(lanes, &pool, nullptr) == 0);
  if (qp == nullptr || pool == nullptr) return;
  TestNic nic(qp);
  Run run;
  std::atomic<uint64_t> refused{0};
  std::thread caller([&] {
    // Lanes read a batch after submit has returned: keep each until the pool is through with it.
    std::vector<std::vector<gv_request>> kept;
    submit_ids(0, kWqes, run, refused, [&](std::vector<gv_request>& b, uint32_t blocks) -> int64_t {
      if (kept.size() >= 256) {
        while (!gv_lanes_idle(pool, qp->sq) && !run.late()) sched_yield();
        kept.clear();
      }
      kept.push_back(b);
      const int64_t ticket = gv_lanes_submit(pool, qp->sq, kept.back().data(), static_cast<uint32_t>(b.size()), blocks);
      if (ticket < 0) kept.pop_back();
      return ticket;
    });
    while (!gv_lanes_idle(pool, nullptr) && !run.late()) sched_yield();
  });
  drain(qp, kWqes, nic, run);
  caller.join();
  gv_lanes_stop(pool);
  verify(p, qp, nic, refused);
  gv_qp_destroy(qp);
}

} // namespace

TEST(one_thread_of_every_policy_loses_nothing) {
  for (const Policy& p : kPolicies) threads_case(p, 1);
}

TEST(four_threads_of_every_shared_policy_lose_nothing) {
  for (const Policy& p : kPolicies)
    if (p.handover != GV_HANDOVER_EXCLUSIVE) threads_case(p, 4);
}

TEST(lane_threads_of_every_shared_policy_lose_nothing) {
  for (const Policy& p : kPolicies)
    if (p.handover != GV_HANDOVER_EXCLUSIVE) lanes_case(p, 3);
}

TEST(one_lane_thread_serves_an_exclusive_queue) { lanes_case(kPolicies[10], 1); }

TEST(a_batch_rings_a_turn_queue_once_and_a_classic_queue_once_a_group) {
  for (const Policy& p : {Policy{"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 256},
                          Policy{"classic", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1},
                          Policy{"exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 16}}) {
    gv_qp* qp = open_queue(p, 1024);
    std::vector<gv_request> b;
    for (int i = 0; i < 64; i++) b.push_back(write_request(i));
    CHECK(gv_submit(qp->sq, b.data(), 64, 64) == 63);
    const uint64_t expected = p.handover == GV_HANDOVER_TURN_CAS ? 1 : p.handover == GV_HANDOVER_CLASSIC ? 2 : 4;
    CHECK(qp->sq->doorbells == expected);
    gv_qp_destroy(qp);
  }
}

TEST(tickets_tell_done_pending_failed_and_flushed) {
  gv_qp* qp = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 64);
  TestNic nic(qp);
  const gv_request r = write_request(1);
  for (int i = 0; i < 3; i++) CHECK(gv_submit(qp->sq, &r, 1, 1) == i);
  CHECK(gv_poll(qp->sq, 0) == GV_PENDING);
  nic.complete(0);
  CHECK(gv_poll(qp->sq, 0) == GV_OK);
  nic.complete(1, 13, 0x13);
  CHECK(gv_poll(qp->sq, 2) == 0x05);
  CHECK(gv_poll(qp->sq, 1) == 0x13);
  CHECK(gv_poll(qp->sq, 0) == GV_OK);
  CHECK(gv_submit(qp->sq, &r, 1, 1) == GV_QP_ERROR);
  CHECK(gv_qp_reset(qp, nullptr) == 0);
  CHECK(gv_submit(qp->sq, &r, 1, 1) == GV_NOT_CONNECTED);
  CHECK(gv_qp_ready(qp, 7, nullptr) == 0);
  CHECK(gv_submit(qp->sq, &r, 1, 1) == 0);
  gv_qp_mark(qp, GV_STATE_CLOSED);
  CHECK(gv_submit(qp->sq, &r, 1, 1) == GV_CLOSED);
  gv_qp_destroy(qp);
}

TEST(a_full_ring_refuses_and_changes_nothing) {
  gv_qp* qp = open_queue({"classic", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1}, 64);
  std::vector<gv_request> b(64, write_request(3));
  CHECK(gv_submit(qp->sq, b.data(), 64, 64) == 63);
  CHECK(gv_submit(qp->sq, b.data(), 1, 1) == GV_FULL);
  CHECK(qp->sq->resv_head == 64);
  CHECK(qp->sq->full == 1);
  gv_qp_destroy(qp);
}

TEST(receives_are_posted_with_a_terminated_list) {
  gv_qp_attr a;
  std::memset(&a, 0, sizeof a);
  a.depth = 64;
  a.receive_depth = 2;
  a.doorbell_every = a.max_group_wqebbs = a.collapsed = 1;
  gv_qp* qp = nullptr;
  CHECK(gv_qp_create(&a, &qp, nullptr) == 0);
  const gv_segment s = {0x1122334455667788ull, 100, 0xabcdef01};
  CHECK(gv_post_receive(qp, &s, 1, 0) == 0);
  CHECK(gv_post_receive(qp, &s, 1, 0) == 1);
  CHECK(gv_post_receive(qp, &s, 1, 0) == GV_FULL);
  CHECK(gv_post_receive(qp, &s, 1, 1) == 2);
  const uint8_t expected[32] = {0,    0,    0,    100,  0xab, 0xcd, 0xef, 1, 0x11, 0x22, 0x33, 0x44,
                                0x55, 0x66, 0x77, 0x88, 0,    0,    0,    0, 0,    0,    1,    0};
  CHECK(std::memcmp(reinterpret_cast<void*>(qp->receive_ring), expected, 32) == 0);
  CHECK(*reinterpret_cast<uint32_t*>(qp->dbr) == __builtin_bswap32(3));
  gv_qp_destroy(qp);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
