// SPDX-License-Identifier: Apache-2.0
// When the proxy reads a queue's DBR. NOPs need no verbs device: they are finished here.
#include "verbs/proxy.h"

#include "check.h"
#include "nic.h"

namespace {

using namespace gpuverbs::verbs;

int poll_nothing(Cq*, int, Wc*) { return 0; }

constexpr uint32_t kNumber = 0x42;

struct Bench {
  gv_qp* queue = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 64);
  Context context{};
  Qp qp{};
  gv_verbs device;
  gv_proxy proxy{};

  Bench() {
    context.ops.poll_cq = poll_nothing;
    qp.qp_num = kNumber;
    device.context = &context;
    proxy.v = &device;
    proxy.queue = queue;
    proxy.qp = &qp;
    proxy.entries.reset(new Entry[64]);
    proxy.cap.max_send_wr = 64;
    proxy.state = GV_STATE_RTS;
  }
  ~Bench() { gv_qp_destroy(queue); }

  int64_t nop() {
    gv_request r;
    std::memset(&r, 0, sizeof r);
    r.op = GV_OP_NOP;
    r.flags = GV_FLAG_SIGNALED;
    r.wqebbs = 1;
    return gv_submit(queue->sq, &r, 1, 1);
  }
  void lose_doorbell() { *reinterpret_cast<uint64_t*>(queue->doorbell) = 0; }
  int64_t poll(int64_t ticket) { return gv_poll(queue->sq, static_cast<uint64_t>(ticket)); }
};

} // namespace

TEST(a_doorbell_makes_the_proxy_read_the_record) {
  Bench b;
  CHECK(b.nop() == 0 && b.nop() == 1);
  CHECK(serve(&b.proxy, false));
  CHECK(b.poll(1) == GV_OK);
}

TEST(a_lost_doorbell_is_a_lost_wqe_until_the_proxy_looks_again) {
  Bench b;
  CHECK(b.nop() == 0);
  CHECK(serve(&b.proxy, false));
  CHECK(b.nop() == 1);
  b.lose_doorbell();
  for (int i = 0; i < 10; i++) CHECK(!serve(&b.proxy, false));
  CHECK(b.poll(1) == GV_PENDING);
  CHECK(serve(&b.proxy, true));
  CHECK(b.poll(1) == GV_OK);
  CHECK(!serve(&b.proxy, true));
}

TEST(a_doorbell_of_another_queue_pair_does_nothing) {
  Bench b;
  CHECK(b.nop() == 0);
  b.lose_doorbell();
  *reinterpret_cast<uint64_t*>(b.queue->doorbell) = __builtin_bswap64(static_cast<uint64_t>(kNumber + 1) << 8);
  CHECK(!serve(&b.proxy, false));
  CHECK(b.poll(0) == GV_PENDING);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
