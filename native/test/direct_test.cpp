// SPDX-License-Identifier: Apache-2.0
// Path DIRECT on the stand-in for libibverbs and libmlx5: what reaches the firmware, who rings which register, what is refused and
// that nothing is left behind. Bytes move in the Java tests, where the software NIC serves the stand-in's queues.
#include <dlfcn.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "check.h"
#include "gpuverbs.h"
#include "mlx5/standin.h"

namespace {

constexpr int kSystemExit = 77;

struct StandIn {
  decltype(&mlx5_standin_reset) reset = nullptr;
  decltype(&mlx5_standin_set) set = nullptr;
  decltype(&mlx5_standin_get) get = nullptr;
  decltype(&mlx5_standin_fail) fail = nullptr;
  decltype(&mlx5_standin_said) said = nullptr;
  decltype(&mlx5_standin_qp) qp = nullptr;
  decltype(&mlx5_standin_event) event = nullptr;
  decltype(&mlx5_standin_async) async = nullptr;

  StandIn() {
    void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
#define GV_FIND(name) name = reinterpret_cast<decltype(name)>(dlsym(library, "mlx5_standin_" #name))
    GV_FIND(reset);
    GV_FIND(set);
    GV_FIND(get);
    GV_FIND(fail);
    GV_FIND(said);
    GV_FIND(qp);
    GV_FIND(event);
    GV_FIND(async);
#undef GV_FIND
  }
};

StandIn& standin() {
  static StandIn one;
  return one;
}

std::string said() {
  char text[4000] = "";
  standin().said(text, sizeof text);
  return text;
}

// An opened device, and queue pairs on it.
struct Rig {
  gv_verbs* verbs = nullptr;
  gv_verbs_info info{};
  gv_error error{};

  explicit Rig(int32_t gid = 3) {
    CHECK(gv_verbs_open("mlx5_0", 1, gid, &verbs, &info, &error) == 0);
    if (verbs == nullptr) std::printf("  %s\n", error.text);
  }

  ~Rig() {
    if (verbs != nullptr) CHECK(gv_verbs_close(verbs, &error) == 0);
    CHECK(standin().get("live") == 0);
    CHECK(standin().get("abandoned") == 0);
    CHECK(standin().reset() == 0);
  }

  gv_proxy_remote remote(const gv_direct_report& peer) const {
    gv_proxy_remote r{};
    r.gid_high = info.gid_high;
    r.gid_low = info.gid_low;
    r.number = peer.number;
    r.packet_sequence = 0x222;
    r.local_packet_sequence = 0x111;
    r.lid = info.lid;
    r.mtu = 1024;
    r.service_level = 3;
    r.traffic_class = 0x68;
    r.timeout = 14;
    r.retries = 6;
    r.rnr_retries = 5;
    r.rnr_timer = 12;
    return r;
  }
};

struct Pair {
  Rig& rig;
  gv_qp* queue = nullptr;
  gv_direct* direct = nullptr;
  gv_direct_report report{};
  int32_t code;

  explicit Pair(Rig& r, uint32_t ringer = GV_RINGER_SUBMITTER, uint32_t receive_depth = 0,
                gv_direct_cq* receive = nullptr, gv_direct_cq* send = nullptr, uint32_t pkey = 0)
      : rig(r) {
    gv_qp_attr attr{};
    attr.depth = 64;
    attr.receive_depth = receive_depth;
    attr.handover = GV_HANDOVER_TURN_CAS;
    attr.doorbell_every = 1;
    attr.max_group_wqebbs = 32;
    attr.collapsed = send == nullptr;
    CHECK(gv_qp_create(&attr, &queue, &rig.error) == 0);
    gv_direct_attr wanted{};
    wanted.pkey_index = pkey;
    wanted.ringer = ringer;
    wanted.atomics = 1;
    code = gv_direct_create(rig.verbs, queue, send, receive, &wanted, &direct, &report, &rig.error);
  }

  ~Pair() {
    if (direct != nullptr) CHECK(gv_direct_destroy(direct, 0, &rig.error) == 0);
    gv_qp_destroy(queue);
  }

  int64_t word(int at) const {
    int64_t words[MLX5_QP_WORDS] = {};
    CHECK(standin().qp(report.number, words) == MLX5_QP_WORDS);
    return words[at];
  }
};

bool says(const gv_error& error, const char* text) { return std::string(error.text).find(text) != std::string::npos; }

// Until it is so, five seconds at most.
template <class F>
bool in_time(F so) {
  for (int i = 0; i < 5000; i++) {
    if (so()) return true;
    const timespec ms{0, 1000000};
    nanosleep(&ms, nullptr);
  }
  return false;
}

} // namespace

TEST(every_attribute_reaches_the_firmware_on_roce) {
  Rig rig;
  gv_direct_info caps{};
  CHECK(gv_direct_available(rig.verbs, &caps, &rig.error) == 0);
  CHECK(caps.max_depth == 1u << 15 && caps.max_inline_bytes == 1024 - 36 && caps.atomics == 1);
  uint64_t ring = 0;
  gv_direct_cq* cq = nullptr;
  CHECK(gv_cq_create(128, &ring, &rig.error) == 0);
  CHECK(gv_direct_cq_create(rig.verbs, ring, 128, &cq, &rig.error) == 0);
  {
    Pair here(rig, GV_RINGER_SUBMITTER, 32, cq, nullptr, 5), there(rig);
    CHECK(here.code == 0 && there.code == 0);
    CHECK(here.report.uar == GV_UAR_DEDICATED && here.report.umem == GV_UMEM_HOST && here.report.why[0] == 0);
    gv_proxy_remote remote = rig.remote(there.report);
    CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
    CHECK(here.word(MLX5_QP_STATE) == 3);
    CHECK(here.word(MLX5_QP_RING) == static_cast<int64_t>(here.queue->ring));
    CHECK(here.word(MLX5_QP_RECEIVE_RING) == static_cast<int64_t>(here.queue->receive_ring));
    CHECK(here.word(MLX5_QP_DEPTH) == 64 && here.word(MLX5_QP_RECEIVE_DEPTH) == 32);
    CHECK(here.word(MLX5_QP_DBR) == static_cast<int64_t>(here.queue->dbr));
    CHECK(here.word(MLX5_QP_DOORBELL) == static_cast<int64_t>(here.queue->sq->doorbell));
    CHECK(here.word(MLX5_QP_UAR_KIND) == 2);
    CHECK(here.word(MLX5_QP_REMOTE_NUMBER) == there.report.number && here.word(MLX5_QP_REMOTE_DEVICE) == 0);
    CHECK(here.word(MLX5_QP_SEND_PSN) == 0x111 && here.word(MLX5_QP_RECEIVE_PSN) == 0x222);
    CHECK(here.word(MLX5_QP_RETRIES) == 6 && here.word(MLX5_QP_RNR_RETRIES) == 5);
    CHECK(here.word(MLX5_QP_TIMEOUT) == 14 && here.word(MLX5_QP_MIN_RNR) == 12);
    CHECK(here.word(MLX5_QP_MTU) == 3 && here.word(MLX5_QP_ACCESS) == (2 | 4 | 8));
    CHECK(here.word(MLX5_QP_MAX_READS) == 4 && here.word(MLX5_QP_MAX_TARGET_READS) == 4);
    CHECK(here.word(MLX5_QP_PORT) == 1 && here.word(MLX5_QP_PKEY) == 5 && here.word(MLX5_QP_GID_INDEX) == 3);
    CHECK(here.word(MLX5_QP_HOP_LIMIT) == 64 && here.word(MLX5_QP_TRAFFIC_CLASS) == 0x68);
    CHECK(here.word(MLX5_QP_SERVICE_LEVEL) == 3 && here.word(MLX5_QP_ATOMIC_MODE) == 1);
    CHECK(here.word(MLX5_QP_REMOTE_MAC) == 0x0c42a10000a0);
    CHECK(gv_direct_cq_destroy(cq, &rig.error) == -EBUSY);
    gv_direct_status status{};
    CHECK(gv_direct_query(here.direct, &status, &rig.error) == 0);
    CHECK(status.nic_state == 3 && status.state == GV_STATE_RTS && status.remote == there.report.number);
    CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == -EISCONN);
    CHECK(gv_direct_reset(here.direct, &rig.error) == 0 && here.word(MLX5_QP_STATE) == 1);
    CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0 && gv_direct_state(here.direct) == GV_STATE_RTS);
  }
  CHECK(gv_direct_cq_destroy(cq, &rig.error) == 0);
  gv_cq_destroy(ring, 128);
  CHECK(standin().get("refusals") == 0);
  if (standin().get("refusals") != 0) std::printf("  %s\n", said().c_str());
}

TEST(infiniband_goes_by_lid) {
  standin().set("port.ethernet", 0);
  Rig rig(0);
  Pair here(rig), there(rig);
  gv_proxy_remote remote = rig.remote(there.report);
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
  CHECK(here.word(MLX5_QP_REMOTE_LID) == 7 && here.word(MLX5_QP_GRH) == 0 && here.word(MLX5_QP_SERVICE_LEVEL) == 3);
  CHECK(here.word(MLX5_QP_REMOTE_MAC) == 0);
}

TEST(submitters_ring_the_register_and_the_cpu_rings_where_asked) {
  Rig rig;
  for (uint32_t ringer : {GV_RINGER_SUBMITTER, GV_RINGER_CPU}) {
    for (const char* refused : {"", "uar.dedicated", "uar.nc"}) {
      if (refused[0] != 0) standin().set(refused, 0);
      Pair here(rig, ringer);
      CHECK(here.code == 0 && here.report.ringer == ringer);
      CHECK((here.report.why[0] == 0) == (refused[0] == 0 && ringer == GV_RINGER_SUBMITTER));
      gv_proxy_remote remote = rig.remote(here.report);
      CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
      CHECK(gv_qp_ready(here.queue, here.report.number, &rig.error) == 0);
      const auto* reg = reinterpret_cast<const uint64_t*>(here.word(MLX5_QP_DOORBELL));
      gv_request nop{};
      nop.op = GV_OP_NOP;
      nop.wqebbs = 1;
      CHECK(gv_submit(here.queue->sq, &nop, 1, 1) == 0);
      const uint64_t wanted = 1ull << 16 | static_cast<uint64_t>(__builtin_bswap32(here.report.number << 8)) << 32;
      CHECK(in_time([&] { return __atomic_load_n(reg, __ATOMIC_ACQUIRE) == wanted; }));
      CHECK(__builtin_bswap32(reinterpret_cast<const uint32_t*>(here.queue->dbr)[1]) == 1);
      CHECK(here.queue->sq->doorbell_kind == (ringer == GV_RINGER_SUBMITTER && here.report.uar == GV_UAR_BLUEFLAME
                                                  ? GV_DOORBELL_WRITE_COMBINING
                                                  : GV_DOORBELL_PLAIN));
    }
    standin().set("uar.dedicated", 1);
    standin().set("uar.nc", 1);
  }
}

TEST(events_break_a_queue_pair_with_their_name) {
  Rig rig;
  static const struct {
    int type;
    uint32_t event;
  } kEvents[] = {{0x05, 2}, {0x10, 3}, {0x11, 4}};
  for (const auto& each : kEvents) {
    Pair here(rig), other(rig);
    gv_proxy_remote remote = rig.remote(other.report);
    CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
    CHECK(gv_qp_ready(here.queue, here.report.number, &rig.error) == 0);
    CHECK(standin().event(here.report.number, each.type) == 1);
    CHECK(in_time([&] { return gv_direct_state(here.direct) == GV_STATE_ERROR; }));
    gv_direct_status status{};
    CHECK(gv_direct_query(here.direct, &status, &rig.error) == 0 && status.event == each.event);
    CHECK(__atomic_load_n(&here.queue->sq->state, __ATOMIC_ACQUIRE) == GV_STATE_ERROR);
    CHECK(gv_direct_state(other.direct) == GV_STATE_RESET);
    CHECK(in_time([&] { return here.word(MLX5_QP_STATE) == 6; }));
  }
  Pair here(rig), there(rig);
  gv_proxy_remote remote = rig.remote(there.report);
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
  CHECK(standin().async(0, 8, 1) == 1);
  CHECK(in_time([&] { return gv_direct_state(here.direct) == GV_STATE_ERROR; }));
}

TEST(a_port_that_goes_down_is_told_and_breaks_nothing) {
  Rig rig;
  Pair here(rig);
  gv_direct_status status{};
  standin().set("port.state", 1);
  CHECK(standin().async(0, 10, 1) == 1);
  CHECK(in_time([&] { return gv_direct_query(here.direct, &status, &rig.error) == 0 && status.event == 11; }));
  standin().set("port.state", 4);
  CHECK(standin().async(0, 9, 1) == 1);
  CHECK(in_time([&] { return gv_direct_query(here.direct, &status, &rig.error) == 0 && status.event == 0; }));
}

TEST(a_queue_that_went_to_error_takes_the_nic_along) {
  Rig rig;
  Pair here(rig);
  gv_proxy_remote remote = rig.remote(here.report);
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == 0);
  CHECK(gv_qp_ready(here.queue, here.report.number, &rig.error) == 0);
  gv_qp_mark(here.queue, GV_STATE_ERROR);
  CHECK(in_time([&] { return here.word(MLX5_QP_STATE) == 6; }));
}

TEST(defects_are_named) {
  static const struct {
    const char* name;
    int64_t value;
    const char* text;
  } kDefects[] = {{"devx", 0, "DEVX"},
                  {"mlx5", 0, "no ConnectX"},
                  {"cap.cmd_hca_cap.cq_oi", 0, "cq_oi"},
                  {"cap.cmd_hca_cap.rc", 0, "reliable"},
                  {"cap.cmd_hca_cap.cqe_version", 0, "CQEs of version 0"},
                  {"cap.cmd_hca_cap.roce", 0, "enable_roce"}};
  for (const auto& each : kDefects) {
    CHECK(standin().set(each.name, each.value) == 0);
    Rig rig;
    gv_direct_info caps{};
    CHECK(gv_direct_available(rig.verbs, &caps, &rig.error) != 0);
    CHECK(says(rig.error, each.text));
    if (!says(rig.error, each.text)) std::printf("  %s: %s\n", each.name, rig.error.text);
  }
  CHECK(standin().set("uar.dedicated", 0) == 0 && standin().set("uar.nc", 0) == 0 && standin().set("uar.bf", 0) == 0);
  Rig rig;
  gv_direct_info caps{};
  CHECK(gv_direct_available(rig.verbs, &caps, &rig.error) == -EOPNOTSUPP && says(rig.error, "doorbell register"));
}

TEST(wrong_arguments_are_named) {
  Rig rig;
  Pair here(rig);
  gv_proxy_remote remote = rig.remote(here.report);
  remote.number = 1u << 24;
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == -EINVAL && says(rig.error, "QP number"));
  remote = rig.remote(here.report);
  remote.gid_high = remote.gid_low = 0;
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == -EINVAL && says(rig.error, "GID"));
  remote = rig.remote(here.report);
  remote.gid_low ^= 0xff00000000000000;
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) < 0 && says(rig.error, "leads nowhere"));
  standin().set("port.mtu", 2);
  remote = rig.remote(here.report);
  CHECK(gv_direct_connect(here.direct, &remote, &rig.error) == -EREMOTEIO && says(rig.error, "MTU"));
  standin().set("memlock", 4096);
  Pair more(rig);
  CHECK(more.code == -ENOMEM && says(rig.error, "ulimit -l"));
}

TEST(the_receive_ring_ends_where_the_send_ring_begins) {
  for (uint32_t depth : {1u, 2u, 64u, 128u, 16384u}) {
    gv_error error{};
    gv_qp_attr attr{};
    attr.depth = 64;
    attr.receive_depth = depth;
    attr.doorbell_every = 1;
    attr.max_group_wqebbs = 1;
    attr.collapsed = 1;
    gv_qp* queue = nullptr;
    CHECK(gv_qp_create(&attr, &queue, &error) == 0);
    CHECK(queue->receive_ring + depth * static_cast<uint64_t>(GV_RQ_STRIDE) == queue->ring);
    CHECK(queue->receive_ring % 4096 == 0 && queue->receive_ring >= queue->block);
    gv_qp_destroy(queue);
  }
}

int main(int argc, char** argv) {
  if (standin().reset == nullptr) {
    std::printf("skipped: libibverbs.so.1 is not the stand-in\n");
    return kSystemExit;
  }
  return check::run(argc, argv);
}
