// SPDX-License-Identifier: Apache-2.0
// What hardware refuses, one wrong thing at a time: errno, status, and a text that names it.
#include <functional>

#include "rig.h"

namespace {

enum : int { kBadOp = 2, kBadParam = 3, kBadResource = 5, kBadQpState = 0x10, kBadLength = 0x50 };

void expect(Rig& r, int error, int status, const char* text) {
  const bool right = error == EREMOTEIO && read_status(r.out) == status && read_syndrome(r.out) != 0 &&
                     last_said().find(text) != std::string::npos;
  CHECK(right);
  if (!right)
    printf("  errno %d, status 0x%x, said: %s; wanted 0x%x, %s\n", error, read_status(r.out), last_said().c_str(),
           status, text);
}

// A CQ after a change to the request or, once filled, to the mailbox.
void cq(
    Rig& r, int status, const char* text, const std::function<void(cq_request&)>& change,
    const std::function<void(uint8_t*)>& spoil = [](uint8_t*) {}) {
  const cq_request before = r.cq_wanted;
  change(r.cq_wanted);
  const size_t bytes = fill_create_cq(r.in, &r.cq_wanted);
  spoil(r.in);
  errno = 0;
  mlx5dv_devx_obj* made = mlx5dv_devx_obj_create(r.context, r.in, bytes, r.out, 16);
  CHECK(made == nullptr);
  if (made != nullptr) mlx5dv_devx_obj_destroy(made);
  expect(r, errno, status, text);
  r.cq_wanted = before;
}

void qp(
    Rig& r, int status, const char* text, const std::function<void(qp_request&)>& change,
    const std::function<void(uint8_t*)>& spoil = [](uint8_t*) {}) {
  const qp_request before = r.qp_wanted;
  change(r.qp_wanted);
  const size_t bytes = fill_create_qp(r.in, &r.qp_wanted);
  spoil(r.in);
  errno = 0;
  mlx5dv_devx_obj* made = mlx5dv_devx_obj_create(r.context, r.in, bytes, r.out, 16);
  CHECK(made == nullptr);
  if (made != nullptr) mlx5dv_devx_obj_destroy(made);
  expect(r, errno, status, text);
  r.qp_wanted = before;
}

using Fill = size_t (*)(void*, const path_request*);

void step(
    Rig& r, Fill fill, int status, const char* text, const std::function<void(path_request&)>& change,
    const std::function<void(uint8_t*)>& spoil = [](uint8_t*) {}) {
  path_request changed = r.path;
  change(changed);
  const size_t bytes = fill(r.in, &changed);
  spoil(r.in);
  expect(r, r.modify(bytes), status, text);
}

const auto same = [](auto&) {};

constexpr size_t kCqc = 0x10, kQpc = 0x18, kPath = kQpc + 0x18;

} // namespace

TEST(lengths_and_opcodes) {
  Rig r;
  const size_t bytes = fill_create_cq(r.in, &r.cq_wanted);
  CHECK(mlx5dv_devx_obj_create(r.context, r.in, bytes - 8, r.out, 16) == nullptr);
  expect(r, errno, kBadLength, "bytes of input");
  CHECK(mlx5dv_devx_obj_create(r.context, r.in, bytes, r.out, 8) == nullptr);
  expect(r, errno, kBadLength + 1, "bytes of answer");
  r.in[1] = 0x44;
  CHECK(mlx5dv_devx_obj_create(r.context, r.in, bytes, r.out, 16) == nullptr && errno == EINVAL);
  CHECK(mlx5dv_devx_general_cmd(r.context, r.in, bytes, r.out, 16) == EINVAL);
  CHECK(r.modify(bytes) == EINVAL);
  CHECK(mlx5dv_devx_obj_modify(r.send_cq, r.in, bytes, r.out, 16) == EINVAL);
}

TEST(completion_queues) {
  Rig r;
  cq(r, kBadParam, "reserved", same, [](uint8_t* in) { in[8] = 1; });
  cq(r, kBadOp, "op_mod", same, [](uint8_t* in) { in[7] = 1; });
  cq(r, kBadParam, "status", same, [](uint8_t* in) { in[kCqc] = 0x90; });
  cq(r, kBadParam, "reserved", same, [](uint8_t* in) { in[kCqc] = 0x08; });
  cq(r, kBadParam, "over the limit of 22", [](cq_request& c) { c.log_size = 23; });
}

TEST(completion_queue_resources) {
  Rig r;
  cq(r, kBadResource, "uar_page", [](cq_request& c) { c.uar = 1; });
  cq(r, kBadResource, "cq_umem_id", [](cq_request& c) { c.umem = 1; });
  cq(r, kBadResource, "dbr_umem_id", [](cq_request& c) { c.dbr_umem = 1; });
  cq(r, kBadParam, "do not fit", [](cq_request& c) { c.log_size = 10, c.offset = kPage; });
  cq(r, kBadParam, "64th", [](cq_request& c) { c.offset += 32; });
  cq(r, kBadParam, "aligned to 8", [](cq_request& c) { c.dbr += 4; });
  cq(r, kBadParam, "outside", [](cq_request& c) { c.dbr = Rig::kBytes; });
  cq(r, kBadParam, "page_offset", same, [](uint8_t* in) { in[kCqc + 0x0a] = 0x01; });
  cq(r, kBadParam, "64 bytes", same, [](uint8_t* in) { in[kCqc + 1] |= 0x20; });
  mlx5_standin_set("cap.cmd_hca_cap.cq_oi", 0);
  cq(r, kBadParam, "cq_oi", [](cq_request& c) { c.ignore_overrun = 1; });
  r.cq_wanted.eqn = 3;
  CHECK(r.create_cq() == nullptr && errno == ENOENT);
}

TEST(offsets_in_large_pages) {
  Rig r(false);
  // Memory that is one piece of 64 KiB: its pages may be that large, and offsets must be multiples of 1 KiB.
  void* area = mmap(nullptr, 32 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* block =
      reinterpret_cast<void*>((reinterpret_cast<uint64_t>(area) + 16 * kPage - 1) & ~uint64_t{16 * kPage - 1});
  mlx5dv_devx_umem* large = mlx5dv_devx_umem_reg(r.context, block, 16 * kPage, IBV_ACCESS_LOCAL_WRITE);
  cq(r, kBadParam, "65536 bytes", [&](cq_request& c) { c.umem = large->umem_id, c.offset = 64; });
  r.cq_wanted.umem = large->umem_id;
  r.cq_wanted.offset = 1024;
  mlx5dv_devx_obj* made = r.create_cq();
  CHECK(made != nullptr && mlx5dv_devx_obj_destroy(made) == 0);
  CHECK(mlx5dv_devx_umem_dereg(large) == 0);
  munmap(area, 32 * kPage);
}

TEST(read_only_umems_take_no_completions) {
  Rig r;
  mlx5dv_devx_umem* shut = r.register_4k(0);
  cq(r, kBadResource, "LOCAL_WRITE", [&](cq_request& c) { c.umem = shut->umem_id; });
  CHECK(mlx5dv_devx_umem_dereg(shut) == 0);
}

TEST(queue_pairs) {
  Rig r;
  qp(r, kBadParam, "reserved", same, [](uint8_t* in) { in[0x0c] = 1; });
  qp(r, kBadParam, "st 3", same, [](uint8_t* in) { in[kQpc + 1] = 3; });
  qp(r, kBadParam, "pm_state", same, [](uint8_t* in) { in[kQpc + 2] = 0; });
  qp(r, kBadResource, "pd", [](qp_request& q) { q.pdn = 1; });
  qp(r, kBadResource, "uar_page", [](qp_request& q) { q.uar = 1; });
  qp(r, kBadResource, "cqn_snd", [](qp_request& q) { q.send_cq = 0; });
  qp(r, kBadResource, "cqn_rcv", [](qp_request& q) { q.receive_cq = 0; });
  qp(r, kBadResource, "wq_umem_id", [](qp_request& q) { q.umem = 1; });
  qp(r, kBadParam, "do not fit", [](qp_request& q) { q.log_depth = 10; });
  qp(r, kBadParam, "do not fit", [](qp_request& q) { q.offset = Rig::kBytes; });
  qp(r, kBadParam, "64th", [](qp_request& q) { q.offset = 8; });
  qp(r, kBadParam, "aligned to 8", [](qp_request& q) { q.dbr += 4; });
  qp(r, kBadParam, "outside", [](qp_request& q) { q.dbr = Rig::kBytes; });
  qp(
      r, kBadParam, "size zero", [](qp_request& q) { q.log_receive_depth = -1; },
      [](uint8_t* in) { in[kQpc + 9] |= 0x08; });
  qp(
      r, kBadParam, "rq_type 1", [](qp_request& q) { q.log_receive_depth = -1; },
      [](uint8_t* in) { in[kQpc + 0xac] = 1; });
  qp(r, kBadParam, "no_sq", same, [](uint8_t* in) { in[kQpc + 0x0a] |= 0x80; });
  mlx5_standin_set("cap.cmd_hca_cap.log_max_qp_sz", 5);
  qp(r, kBadParam, "the limit is 5", same);
}

TEST(transitions) {
  Rig r;
  step(r, fill_init2rtr, kBadQpState, "is in RST, not INIT", same);
  step(r, fill_rtr2rts, kBadQpState, "is in RST, not RTR", same);
  step(r, fill_rst2init, kBadParam, "vhca_port_num 0", same, [](uint8_t* in) { in[kPath + 0x25] = 0; });
  step(r, fill_rst2init, kBadParam, "vhca_port_num 2", same, [](uint8_t* in) { in[kPath + 0x25] = 2; });
  step(r, fill_rst2init, kBadParam, "pm_state", same, [](uint8_t* in) { in[kQpc + 2] = 0; });
  step(r, fill_rst2init, kBadParam, "pkey_index", same, [](uint8_t* in) { in[kPath + 3] = 200; });
  step(r, fill_rst2init, kBadParam, "opt_param_mask 0x2", same, [](uint8_t* in) { in[0x13] = 2; });
  step(r, fill_rst2init, kBadParam, "mtu", same, [](uint8_t* in) { in[kQpc + 8] = 0x20; });
  CHECK(r.to_init() == 0);
  step(r, fill_rst2init, kBadQpState, "is in INIT, not RST", same);
  step(r, fill_init2rtr, kBadParam, "mtu 6", [](path_request& p) { p.mtu = 6; });
  step(r, fill_init2rtr, kBadParam, "mtu 0", [](path_request& p) { p.mtu = 0; });
  step(r, fill_init2rtr, kBadParam, "log_msg_max 31", same, [](uint8_t* in) { in[kQpc + 8] |= 0x1f; });
  step(r, fill_init2rtr, kBadParam, "over the GID table's end", same,
       [](uint8_t*) { mlx5_standin_set("cap.roce_cap.roce_address_table_size", 3); });
  mlx5_standin_set("cap.roce_cap.roce_address_table_size", 256);
  step(r, fill_init2rtr, kBadParam, "that GID is empty", [](path_request& p) { p.gid_index = 9; });
  step(r, fill_init2rtr, kBadParam, "rmac is missing", [](path_request& p) { memset(p.rmac, 0, 6); });
  step(r, fill_init2rtr, kBadParam, "rgid_rip is missing", [](path_request& p) { memset(p.rgid, 0, 16); });
  step(r, fill_init2rtr, kBadParam, "rlid on RoCE", [](path_request& p) { p.rlid = 4; });
  step(r, fill_init2rtr, kBadParam, "hop_limit", same, [](uint8_t* in) { in[kPath + 0x0b] = 0; });
  step(r, fill_init2rtr, kBadParam, "opt_param_mask 0x4000", same, [](uint8_t* in) { in[0x12] = 0x40; });
  step(r, fill_init2rtr, kBadParam, "reserved", same, [](uint8_t* in) { in[kPath + 4] = 1; });
  step(r, fill_init2rtr, kBadParam, "atomic_mode", same, [](uint8_t* in) {
    in[0x13] = 0x04, in[kQpc + 0x91] &= 0xf0, in[kQpc + 0x92] |= 0x20; // by opt_param_mask, rae without a mode
  });
  mlx5_standin_set("port.mtu", 3);
  step(r, fill_init2rtr, kBadParam, "the port has 3", same);
  mlx5_standin_set("port.mtu", 5);
  CHECK(r.to_rtr() == 0);
  step(r, fill_rtr2rts, kBadParam, "log_sra_max", same, [](uint8_t* in) { in[kQpc + 0x71] |= 0xe0; });
  step(r, fill_rtr2rts, kBadParam, "opt_param_mask 0x1000", same, [](uint8_t* in) { in[0x12] = 0x10; });
  CHECK(r.modify(fill_rtr2rts(r.in, &r.path)) == 0);
  path_request other = r.path;
  other.qpn = r.path.qpn + 1;
  CHECK(r.modify(fill_rst2init(r.in, &other)) == EINVAL);
}

TEST(what_is_in_use_cannot_be_destroyed) {
  Rig r;
  CHECK(mlx5dv_devx_obj_destroy(r.send_cq) == EREMOTEIO);
  CHECK(mlx5dv_devx_umem_dereg(r.umem) == EREMOTEIO);
  CHECK(ibv_dealloc_pd(r.pd) == EBUSY);
  mlx5dv_devx_free_uar(r.uar);
  CHECK(get("live.uars") == 1 && last_said().find("uses UAR") != std::string::npos);
}

TEST(an_old_kernel_answers_by_errno_alone) {
  Rig r;
  mlx5_standin_set("old_kernel", 1);
  memset(r.out, 0xaa, sizeof r.out);
  r.path.mtu = 6;
  CHECK(r.to_init() == 0);
  CHECK(r.to_rtr() == EINVAL && last_said().find("mtu 6") != std::string::npos);
}
