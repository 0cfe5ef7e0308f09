// SPDX-License-Identifier: Apache-2.0
// Two queue pairs of path DIRECT from opening their device to closing it, through the C ABI on the stand-in.
#ifndef GPUVERBS_TEST_MLX5_LIFE_H
#define GPUVERBS_TEST_MLX5_LIFE_H

#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>

#include "check.h"
#include "gpuverbs.h"
#include "nic.h"
#include "standin.h"

constexpr uint32_t kDepth = 64;
constexpr uint64_t kGidLow = 0xffff0a4d0001; // ::ffff:10.77.0.1, of which the upper half is 0

inline std::string said() {
  char text[20000];
  mlx5_standin_said(text, sizeof text);
  return text;
}

// Two queue pairs of one device from opening to closing.
class Life {
 public:
  // What the machine is like.
  bool infiniband = false;
  gv_gpu* gpu = nullptr; // whose queue pair the first one is
  int32_t placement = GV_PLACEMENT_HOST;
  uint32_t ringer = GV_RINGER_SUBMITTER;
  uint32_t fence_mode = GV_FENCE_SYSTEM;
  // Called while both queue pairs are in RTS.
  std::function<void(Life&)> during;
  bool broken = false; // by that

  void run() {
    live();
    unwind();
  }

  int32_t code() const { return code_; } // of the first step that failed, while living; 0
  int32_t unwind_code() const { return unwind_code_; }
  const gv_error& error() const { return first_; }
  const std::string& step() const { return step_; }
  const std::string& why() const { return why_; }
  bool moved() const { return moved_; }
  const gv_direct_report& report(int i = 0) const { return report_[i]; }
  const gv_direct_info& direct() const { return direct_; }
  const gv_verbs_info& info() const { return info_; }
  gv_direct* served(int i) const { return served_[i]; }
  gv_qp* queue(int i) const { return qp_[i]; }

 private:
  gv_verbs* v_ = nullptr;
  gv_verbs_info info_{};
  gv_direct_info direct_{};
  gv_qp* qp_[2] = {};
  gv_direct* served_[2] = {};
  uint64_t ring_ = 0, address_ = 0;
  gv_direct_cq* cq_ = nullptr;
  gv_verbs_region region_{};
  uint8_t memory_[4096];
  gv_direct_report report_[2] = {};
  gv_error error_{}, first_{};
  int32_t code_ = 0, unwind_code_ = 0;
  std::string step_, why_;
  bool moved_ = false;

  // Whether the step went well; its text is kept if it is the first that did not.
  bool went(const char* name, int32_t result) {
    if (result == 0) return true;
    if (code_ == 0) {
      code_ = result;
      first_ = error_;
      step_ = name;
    }
    return false;
  }

  gv_proxy_remote remote(int of) const {
    gv_proxy_remote r{};
    r.gid_low = infiniband ? 0 : kGidLow;
    r.lid = infiniband ? info_.lid : 0;
    r.number = report_[1 - of].number;
    r.packet_sequence = 100u + static_cast<uint32_t>(1 - of);
    r.local_packet_sequence = 100u + static_cast<uint32_t>(of);
    r.mtu = info_.mtu;
    r.timeout = 14;
    r.retries = 7;
    r.rnr_retries = 6;
    r.rnr_timer = 12;
    return r;
  }

  bool connect() {
    for (int i = 0; i < 2; i++) {
      const gv_proxy_remote r = remote(i);
      if (!went("connect", gv_direct_connect(served_[i], &r, &error_))) return false;
      if (!went("ready", gv_qp_ready(qp_[i], report_[i].number, &error_))) return false;
    }
    return true;
  }

  // One batch that a drain consumes in the place of the NIC.
  void submit() {
    gv_qp seen = *qp_[0];
    seen.doorbell =
        seen.sq->doorbell; // the register that submitters ring; gv_qp.doorbell is where they leave word for a CPU
    TestNic nic(&seen);
    const gv_request request = write_request(5, 1, 1);
    const int64_t ticket = gv_submit(qp_[0]->sq, &request, 1, 1);
    for (int i = 0; i < 1000 && nic.consumed() == 0; i++) {
      nic.consume();
      struct timespec pause = {0, 1000000};
      if (nic.consumed() == 0) nanosleep(&pause, nullptr);
    }
    if (nic.consumed() == 1) nic.complete(0);
    moved_ = ticket == 0 && nic.bad() == 0 && gv_poll(qp_[0]->sq, 0) == GV_OK;
  }

  bool create() {
    gv_qp_attr a{};
    a.depth = kDepth;
    a.handover = GV_HANDOVER_TURN_CAS;
    a.doorbell_every = 1;
    a.max_group_wqebbs = 1;
    a.collapsed = 1;
    for (int i = 0; i < 2; i++) {
      a.receive_depth = i == 0 ? 0 : 32;
      const bool on_gpu = i == 0 && gpu != nullptr;
      a.fence_mode = on_gpu ? fence_mode : static_cast<uint32_t>(GV_FENCE_SYSTEM);
      if (!went("gv_qp_create",
                on_gpu ? gv_gpu_qp_create(gpu, &a, placement, &qp_[i], &error_) : gv_qp_create(&a, &qp_[i], &error_)))
        return false;
      gv_direct_attr d{};
      d.ringer = ringer;
      d.atomics = direct_.atomics != 0 ? 1 : 0;
      if (!went("create",
                gv_direct_create(v_, qp_[i], nullptr, i == 0 ? nullptr : cq_, &d, &served_[i], &report_[i], &error_))) {
        served_[i] = nullptr;
        return false;
      }
      report_[i].why[sizeof report_[i].why - 1] = 0;
      if (why_.empty()) why_ = report_[i].why;
    }
    return true;
  }

  void live() {
    if (!went("open", gv_verbs_open("mlx5_0", 1, infiniband ? -1 : 3, &v_, &info_, &error_))) {
      v_ = nullptr;
      return;
    }
    if (!went("available", gv_direct_available(v_, &direct_, &error_))) return;
    if (!went("register",
              gv_verbs_register(v_, reinterpret_cast<uint64_t>(memory_), sizeof memory_, 15, &region_, &error_))) {
      region_ = {};
      return;
    }
    if (!went("gv_cq_create", gv_cq_create(kDepth, &ring_, &error_))) return;
    if (!went("cq_create", gv_direct_cq_create(v_, ring_, kDepth, &cq_, &error_))) {
      cq_ = nullptr;
      return;
    }
    gv_direct_cq_consumed(cq_, 0);
    if (!create() || !connect()) return;
    if (gpu == nullptr) submit();
    if (during) during(*this);
    if (code_ != 0) return;
    gv_direct_status status{};
    if (!went("query", gv_direct_query(served_[0], &status, &error_))) return;
    if (!broken) CHECK(status.nic_state == 3 && gv_direct_state(served_[0]) == GV_STATE_RTS);
    for (int i = 0; i < 2; i++) {
      if (!went("reset", gv_direct_reset(served_[i], &error_))) return;
      if (!went("gv_qp_reset", gv_qp_reset(qp_[i], &error_))) return;
    }
    if (connect() && gpu == nullptr) submit();
  }

  // Gives back; what fails once because a fault was in the way must go the second time.
  void give(const std::function<int32_t()>& back) {
    int32_t result = back();
    if (result != 0) {
      if (unwind_code_ == 0) unwind_code_ = result;
      CHECK(std::strlen(error_.text) > 0);
      result = back();
    }
    CHECK(result == 0);
    if (result != 0) std::printf("  at the second try too: %s\n", error_.text);
  }

  void unwind() {
    for (int i = 1; i >= 0; i--) {
      if (served_[i] != nullptr) give([&] { return gv_direct_destroy(served_[i], 0, &error_); });
      if (qp_[i] != nullptr) gv_qp_destroy(qp_[i]);
    }
    if (cq_ != nullptr) give([&] { return gv_direct_cq_destroy(cq_, &error_); });
    if (ring_ != 0) gv_cq_destroy(ring_, kDepth);
    if (region_.handle != 0) give([&] { return gv_verbs_deregister(v_, region_.handle, &error_); });
    if (v_ != nullptr) give([&] { return gv_verbs_close(v_, &error_); });
  }
};

inline bool expect_nothing_left(const std::string& where) {
  if (mlx5_standin_get("live") == 0 && mlx5_standin_get("abandoned") == 0) return true;
  CHECK(false);
  std::printf("  %s: %lld objects left, %lld abandoned; said:\n%s", where.c_str(),
              static_cast<long long>(mlx5_standin_get("live")), static_cast<long long>(mlx5_standin_get("abandoned")),
              said().c_str());
  mlx5_standin_drop();
  return false;
}

#endif
