// SPDX-License-Identifier: Apache-2.0
// Lane threads at their edges: more of them than processors, and an end while there is work left.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"
#include "gpuverbs.h"
#include "nic.h"

namespace {

constexpr uint32_t kGroups = 8;

// More than may work at once, so that some sleep although there is work.
uint32_t too_many_lanes() { return std::min(256u, 2 * std::max(1u, std::thread::hardware_concurrency()) + 4); }

// gv_lanes_stop on a thread of its own, which is left behind if it does not end.
class Stop {
 public:
  explicit Stop(gv_lanes* pool) : over_(new std::atomic<bool>(false)) {
    std::thread([pool, over = over_] {
      gv_lanes_stop(pool);
      *over = true;
    }).detach();
  }

  bool ends() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!*over_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return *over_;
  }

 private:
  std::shared_ptr<std::atomic<bool>> over_;
};

} // namespace

TEST(lanes_without_a_place_end_too_when_stopped_while_there_is_work) {
  const std::vector<gv_request> batch(kGroups * GV_GROUP_REQUESTS, write_request(1));
  for (int round = 0; round < 10; round++) {
    gv_qp* qp = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 1024);
    qp->sq->resv_head = 1; // reserved and abandoned: whoever comes next waits for its turn
    gv_lanes* pool = nullptr;
    CHECK(gv_lanes_start(too_many_lanes(), &pool, nullptr) == 0);
    const auto count = static_cast<uint32_t>(batch.size());
    CHECK(gv_lanes_submit(pool, qp->sq, batch.data(), count, count) == count);
    Stop stop(pool);
    for (int i = 0; i < 2000; i++) std::this_thread::yield(); // the lanes hear of it while the work can't go on
    gv_qp_mark(qp, GV_STATE_CLOSED);
    const bool ended = stop.ends();
    CHECK(ended);
    if (!ended) return; // the lanes may still use the queue
    gv_qp_destroy(qp);
  }
}

TEST(lanes_finish_the_batches_in_flight_before_they_end) {
  const std::vector<gv_request> batch(kGroups * GV_GROUP_REQUESTS, write_request(1));
  for (int round = 0; round < 20; round++) {
    gv_qp* qp = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 1024);
    gv_lanes* pool = nullptr;
    CHECK(gv_lanes_start(too_many_lanes(), &pool, nullptr) == 0);
    const auto count = static_cast<uint32_t>(batch.size());
    for (int i = 0; i < 4; i++) CHECK(gv_lanes_submit(pool, qp->sq, batch.data(), count, count) >= 0);
    const bool ended = Stop(pool).ends();
    CHECK(ended);
    if (!ended) return;
    CHECK(qp->sq->ready_head == 4 * batch.size());
    gv_qp_destroy(qp);
  }
}

int main(int argc, char** argv) { return check::run(argc, argv); }
