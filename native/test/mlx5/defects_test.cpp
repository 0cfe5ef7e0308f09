// SPDX-License-Identifier: Apache-2.0
// Path DIRECT through its C ABI on the stand-in: what it asks the firmware for, machines with a defect, and faults that come by themselves.
#include <dlfcn.h>

#include "life.h"

namespace {

enum { kQpError = 0x05, kCqError = 0x04 }; // MLX5_EVENT_TYPE_*
enum { kPortErr = 10, kPortActive = 9 };   // IBV_EVENT_*

void machine(std::initializer_list<std::pair<const char*, int64_t>> switches) {
  CHECK(mlx5_standin_reset() == 0);
  for (const auto& each : switches) CHECK(mlx5_standin_set(each.first, each.second) == 0);
}

// A life that ends with an error whose text says so.
void expect_failure(Life& life, const char* step, const char* text) {
  life.run();
  const bool right = life.code() < 0 && life.step() == step && std::strstr(life.error().text, text) != nullptr;
  CHECK(right);
  if (!right)
    std::printf("  wanted %s: %s; got %s: %d %s\n", step, text, life.step().c_str(), life.code(), life.error().text);
  expect_nothing_left(text);
}

void expect_success(Life& life) {
  life.run();
  CHECK(life.code() == 0 && life.unwind_code() == 0);
  if (life.code() != 0) std::printf("  %s: %s; said:\n%s", life.step().c_str(), life.error().text, said().c_str());
  expect_nothing_left("a life");
}

// A switch or a question of the driver without a GPU.
int fake(const char* name, int value = 0) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto* call = driver == nullptr ? nullptr : reinterpret_cast<int (*)(int)>(dlsym(driver, name));
  CHECK(call != nullptr);
  return call == nullptr ? -1 : call(value);
}

struct Gpu {
  gv_gpu* open = nullptr;
  Gpu() {
    gv_error error{};
    const int32_t code = gv_gpu_open(0, &open, &error);
    CHECK(code == 0);
    if (code != 0) std::printf("  %s\n", error.text);
  }
  ~Gpu() { gv_gpu_close(open); }
};

bool wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); i++) {
    const timespec pause = {0, 1000000};
    nanosleep(&pause, nullptr);
  }
  return condition();
}

} // namespace

TEST(what_the_firmware_is_asked_for) {
  machine({});
  Life life;
  int64_t w[MLX5_QP_WORDS] = {}, peer[MLX5_QP_WORDS] = {}, send[MLX5_CQ_WORDS] = {}, receive[MLX5_CQ_WORDS] = {};
  life.during = [&](Life& l) {
    CHECK(mlx5_standin_qp(l.report(0).number, w) == MLX5_QP_WORDS);
    CHECK(mlx5_standin_qp(l.report(1).number, peer) == MLX5_QP_WORDS);
    CHECK(mlx5_standin_cq(static_cast<uint32_t>(w[MLX5_QP_SEND_CQ]), send) == MLX5_CQ_WORDS);
    CHECK(mlx5_standin_cq(static_cast<uint32_t>(peer[MLX5_QP_RECEIVE_CQ]), receive) == MLX5_CQ_WORDS);
    const gv_qp* q = l.queue(0);
    CHECK(w[MLX5_QP_RING] == static_cast<int64_t>(q->ring) && w[MLX5_QP_DBR] == static_cast<int64_t>(q->dbr));
    CHECK(w[MLX5_QP_DOORBELL] == static_cast<int64_t>(q->sq->doorbell) && w[MLX5_QP_DEPTH] == kDepth);
    CHECK(w[MLX5_QP_UAR_USERS] == 1 && w[MLX5_QP_UAR_KIND] == 2 && l.report(0).uar == GV_UAR_DEDICATED);
    CHECK(w[MLX5_QP_RECEIVE_RING] == 0 && w[MLX5_QP_RECEIVE_CQ] == 0);
    CHECK(send[MLX5_CQ_RING] == static_cast<int64_t>(q->cqe));
    CHECK(send[MLX5_CQ_COLLAPSED] == 1 && send[MLX5_CQ_IGNORES_OVERRUN] == 1);
    CHECK(peer[MLX5_QP_RECEIVE_RING] == static_cast<int64_t>(l.queue(1)->receive_ring));
    CHECK(peer[MLX5_QP_RECEIVE_DEPTH] == 32 && peer[MLX5_QP_RECEIVE_STRIDE] == GV_RQ_STRIDE);
    CHECK(receive[MLX5_CQ_COLLAPSED] == 0 && receive[MLX5_CQ_IGNORES_OVERRUN] == 0);
    CHECK(receive[MLX5_CQ_DEPTH] == kDepth);
  };
  expect_success(life);
  CHECK(life.moved());
  CHECK(w[MLX5_QP_REMOTE_NUMBER] == peer[MLX5_QP_NUMBER] && w[MLX5_QP_REMOTE_DEVICE] == 0);
  CHECK(w[MLX5_QP_SEND_PSN] == 100 && w[MLX5_QP_RECEIVE_PSN] == 101 && peer[MLX5_QP_SEND_PSN] == 101);
  CHECK(w[MLX5_QP_RETRIES] == 7 && w[MLX5_QP_RNR_RETRIES] == 6 && w[MLX5_QP_TIMEOUT] == 14 && w[MLX5_QP_MIN_RNR] == 12);
  CHECK(w[MLX5_QP_MTU] == 5 && w[MLX5_QP_ACCESS] == 14 && w[MLX5_QP_PORT] == 1 && w[MLX5_QP_GID_INDEX] == 3);
  CHECK(w[MLX5_QP_MAX_READS] > 0 && w[MLX5_QP_MAX_TARGET_READS] > 0 && w[MLX5_QP_HOP_LIMIT] > 0);
  CHECK(life.report(0).why[0] == 0);
  CHECK(mlx5_standin_get("refusals") == 0);
  if (mlx5_standin_get("refusals") != 0) std::printf("%s", said().c_str());
}

TEST(infiniband_goes_by_lid) {
  machine({{"port.ethernet", 0}});
  Life life;
  life.infiniband = true;
  life.during = [](Life& l) {
    int64_t w[MLX5_QP_WORDS];
    CHECK(mlx5_standin_qp(l.report(0).number, w) == MLX5_QP_WORDS);
    CHECK(w[MLX5_QP_REMOTE_LID] == 7 && w[MLX5_QP_REMOTE_MAC] == 0 && w[MLX5_QP_REMOTE_DEVICE] == 0);
  };
  expect_success(life);
  CHECK(life.info().ethernet == 0 && mlx5_standin_get("refusals") == 0);
}

TEST(the_next_best_register_is_taken_and_said) {
  machine({{"uar.dedicated", 0}});
  Life second;
  expect_success(second);
  CHECK(second.report().uar == GV_UAR_NON_CACHED && std::strstr(second.report().why, "dedicated") != nullptr);
  machine({{"uar.dedicated", 0}, {"uar.nc", 0}});
  Life third;
  expect_success(third);
  CHECK(third.report().uar == GV_UAR_BLUEFLAME && std::strstr(third.report().why, "non-cached") != nullptr);
  machine({{"uar.dedicated", 0}, {"uar.nc", 0}, {"uar.bf", 0}});
  Life none;
  expect_failure(none, "available", "register");
}

TEST(defects_of_the_machine_are_named) {
  const struct {
    const char* name;
    int64_t value;
    const char* step;
    const char* text;
  } defects[] = {
      {"uverbs", 1, "open", "no RDMA"},
      {"uverbs", 2, "open", "does not know"},
      {"uverbs", 3, "open", "permissions"},
      {"devx", 0, "available", "DEVX"},
      {"gids", 0, "open", "is empty"},
      {"memlock", 4095, "register", "ulimit -l"},
      {"memlock", 8192, "cq_create", "ulimit -l"},
      {"cap.cmd_hca_cap.cqe_version", 0, "available", "CQEs of version 0"},
      {"cap.cmd_hca_cap.cq_oi", 0, "available", "cq_oi"},
      {"cap.cmd_hca_cap.rc", 0, "available", "reliable connections"},
      {"cap.cmd_hca_cap.roce", 0, "available", "RoCE"},
      {"cap.cmd_hca_cap.log_max_qp_sz", 5, "create", "depth"},
      {"cap.cmd_hca_cap.log_max_cq_sz", 5, "cq_create", "CQ"},
  };
  for (const auto& each : defects) {
    machine({{each.name, each.value}});
    Life life;
    expect_failure(life, each.step, each.text);
  }
}

TEST(memory_that_the_nic_is_refused_says_why) {
  const struct {
    int error;
    const char* text;
  } reasons[] = {{EPERM, "privileges"}, {EFAULT, "can't reach"}, {EIO, "dmesg"}};
  for (const auto& each : reasons) {
    machine({});
    CHECK(mlx5_standin_fail("mlx5dv_devx_umem_reg_ex", 1, each.error) == 0);
    Life life;
    expect_failure(life, "cq_create", each.text);
  }
}

TEST(an_old_kernel_that_keeps_the_answer_still_gives_an_error) {
  machine({{"old_kernel", 1}, {"cap.cmd_hca_cap.log_max_ra_res_qp", 4}});
  Life life;
  CHECK(mlx5_standin_fail("mlx5dv_devx_obj_modify", 2, EINVAL) == 0);
  life.run();
  CHECK(life.code() == -EINVAL && std::strlen(life.error().text) > 20);
  expect_nothing_left("an old kernel");
}

TEST(atomics_are_as_the_firmware_has_them) {
  machine({{"atomics", 0}});
  Life none;
  expect_success(none);
  CHECK(none.direct().atomics == 0);
  machine({{"atomics", 2}});
  Life big;
  big.run();
  CHECK(big.direct().atomics == 2);
  expect_nothing_left("big-endian atomics");
}

TEST(a_fault_of_a_queue_pair_or_its_cq_breaks_it) {
  for (const int type : {static_cast<int>(kQpError), static_cast<int>(kCqError)}) {
    machine({});
    Life life;
    life.broken = true;
    life.during = [&](Life& l) {
      int64_t w[MLX5_QP_WORDS];
      CHECK(mlx5_standin_qp(l.report(0).number, w) == MLX5_QP_WORDS);
      const auto of = static_cast<uint32_t>(type == kCqError ? w[MLX5_QP_SEND_CQ] : w[MLX5_QP_NUMBER]);
      CHECK(mlx5_standin_event(of, type) == 1);
      CHECK(wait_for([&] { return gv_direct_state(l.served(0)) == GV_STATE_ERROR; }));
      CHECK(wait_for([&] { return __atomic_load_n(&l.queue(0)->sq->state, __ATOMIC_ACQUIRE) == GV_STATE_ERROR; }));
      gv_direct_status status{};
      gv_error error;
      CHECK(gv_direct_query(l.served(0), &status, &error) == 0 && status.event != 0);
    };
    expect_success(life);
  }
}

TEST(a_port_that_goes_down_is_told_and_breaks_nothing) {
  machine({});
  Life life;
  life.during = [](Life& l) {
    gv_error error;
    const auto event = [&] {
      gv_direct_status status{};
      CHECK(gv_direct_query(l.served(0), &status, &error) == 0);
      return status.event;
    };
    CHECK(event() == 0);
    mlx5_standin_set("port.state", 1);
    CHECK(mlx5_standin_async(0, kPortErr, 1) == 1);
    CHECK(wait_for([&] { return event() != 0; }));
    mlx5_standin_set("port.state", 4);
    CHECK(mlx5_standin_async(0, kPortActive, 1) == 1);
    CHECK(wait_for([&] { return event() == 0; }));
  };
  expect_success(life);
}

// ---- a GPU's queue pairs, on the driver without a GPU (test/fake_cuda.cpp) --------------------------------------

TEST(a_gpu_rings_the_register_itself) {
  machine({});
  Gpu gpu;
  Life life;
  life.gpu = gpu.open;
  life.during = [](Life& l) {
    int64_t w[MLX5_QP_WORDS];
    CHECK(mlx5_standin_qp(l.report(0).number, w) == MLX5_QP_WORDS);
    CHECK(static_cast<int64_t>(l.queue(0)->sq->doorbell) == w[MLX5_QP_DOORBELL]);
    CHECK(fake("fake_registered") == 1);
  };
  expect_success(life);
  CHECK(life.report().ringer == GV_RINGER_SUBMITTER && life.report().umem == GV_UMEM_HOST && life.report().why[0] == 0);
  CHECK(fake("fake_registered") == 0);
}

TEST(where_the_gpu_cannot_have_the_register_the_cpu_rings) {
  for (const bool asked : {false, true}) {
    machine({});
    Gpu gpu;
    if (!asked) fake("fake_refuse_io_memory", 1);
    Life life;
    life.gpu = gpu.open;
    if (asked) life.ringer = GV_RINGER_CPU;
    life.during = [](Life& l) {
      int64_t w[MLX5_QP_WORDS];
      CHECK(mlx5_standin_qp(l.report(0).number, w) == MLX5_QP_WORDS);
      auto* mailbox = reinterpret_cast<uint64_t*>(l.queue(0)->doorbell);
      auto* reg = reinterpret_cast<uint64_t*>(w[MLX5_QP_DOORBELL]);
      CHECK(mailbox != reg);
      __atomic_store_n(mailbox, 0x1122334455667788ull, __ATOMIC_RELEASE);
      CHECK(wait_for([&] { return __atomic_load_n(reg, __ATOMIC_ACQUIRE) == 0x1122334455667788ull; }));
      CHECK(__atomic_load_n(mailbox, __ATOMIC_ACQUIRE) == 0);
    };
    expect_success(life);
    CHECK(life.report().ringer == GV_RINGER_CPU && std::strstr(life.report().why, "CPU rings") != nullptr);
    fake("fake_refuse_io_memory", 0);
    CHECK(fake("fake_registered") == 0);
  }
}

TEST(a_cpu_that_rings_needs_fences_of_the_system) {
  machine({});
  Gpu gpu;
  Life life;
  life.gpu = gpu.open;
  life.placement = GV_PLACEMENT_GPU;
  life.fence_mode = GV_FENCE_DEVICE;
  life.ringer = GV_RINGER_CPU;
  expect_failure(life, "create", "fence mode DEVICE is not enough");
}

TEST(queues_in_gpu_memory_go_by_dmabuf_else_by_peermem) {
  Gpu gpu;
  const auto live = [&](bool dmabuf, int64_t kernel, int64_t peermem, Life& life) {
    machine({{"dmabuf", kernel}, {"peermem", peermem}});
    fake("fake_refuse_dmabuf", dmabuf ? 0 : 1);
    life.gpu = gpu.open;
    life.placement = GV_PLACEMENT_GPU;
  };
  Life best, exported, not_exported, neither;
  live(true, 1, 0, best);
  expect_success(best);
  CHECK(best.report().umem == GV_UMEM_DMABUF && best.report().why[0] == 0);
  live(true, 0, 1, exported);
  expect_success(exported);
  CHECK(exported.report().umem == GV_UMEM_PEER && std::strstr(exported.report().why, "dma-buf") != nullptr);
  live(false, 1, 1, not_exported);
  expect_success(not_exported);
  CHECK(not_exported.report().umem == GV_UMEM_PEER);
  live(false, 1, 0, neither);
  expect_failure(neither, "create", "nvidia-peermem");
  fake("fake_refuse_dmabuf", 0);
}

TEST(gpu_memory_is_registered_by_dmabuf_else_by_peermem) {
  Gpu gpu;
  static const struct {
    int64_t kernel, memlock;
    int refuse;
    int32_t code;
    bool dmabuf;
  } kCases[] = {{1, -1, 0, 0, true}, {0, -1, 0, 0, false}, {1, -1, 1, 0, false}, {1, 4096, 0, -ENOMEM, false}};
  for (const auto& each : kCases) {
    machine({{"dmabuf", each.kernel}, {"memlock", each.memlock}});
    fake("fake_refuse_dmabuf", each.refuse);
    gv_error error{};
    gv_verbs* verbs = nullptr;
    gv_verbs_info info{};
    CHECK(gv_verbs_open("mlx5_0", 1, 3, &verbs, &info, &error) == 0);
    uint64_t memory = 0;
    CHECK(gv_gpu_allocate(gpu.open, 1 << 20, GV_MEMORY_DEVICE, &memory, &error) == 0);
    gv_verbs_region region{};
    // A part of a page, so that the dma-buf begins before it and ends behind.
    const int32_t code = gv_verbs_register_gpu(verbs, gpu.open, memory + 4160, 100000, 1 | 2, &region, &error);
    CHECK(code == each.code);
    if (code == 0) {
      CHECK(mlx5_standin_get("live.mrs") == 1);
      CHECK(mlx5_standin_get("calls.ibv_reg_mr") == (each.dmabuf ? 0 : 1));
      CHECK(gv_verbs_deregister(verbs, region.handle, &error) == 0);
    } else {
      CHECK(std::strstr(error.text, "ulimit -l") != nullptr);
    }
    CHECK(gv_verbs_close(verbs, &error) == 0);
    CHECK(gv_gpu_free(gpu.open, memory, GV_MEMORY_DEVICE, &error) == 0);
    fake("fake_refuse_dmabuf", 0);
    expect_nothing_left("a GPU's region");
  }
}

int main(int argc, char** argv) { return check::run(argc, argv); }
