// SPDX-License-Identifier: Apache-2.0
// The stand-in by itself: the life of a queue pair, the machine's defects, faults, events. Mailboxes by the kernel's header and calls by
// rdma-core's, where those are installed.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

#include "rig.h"

namespace {

int64_t served[MLX5_QP_WORDS];
int last_event;
int64_t send_ring;
int broken;

int server(int event, const int64_t* words, const int64_t* send, const int64_t*) {
  if (event == MLX5_STANDIN_SENT) return 77;
  if (event == MLX5_STANDIN_RECEIVED) return 0;
  last_event = event;
  if (event == MLX5_STANDIN_STATE) return broken;
  if (event == MLX5_STANDIN_READY) {
    memcpy(served, words, sizeof served);
    send_ring = send[MLX5_CQ_RING];
  }
  return 0;
}

bool refused(const char* text) { return last_said().find(text) != std::string::npos; }

} // namespace

#ifdef STANDIN_HEADERS
TEST(the_structs_are_rdma_cores) {
  using namespace standin;
  CHECK(sizeof(IbvDevice) == sizeof(ibv_device) && offsetof(IbvDevice, name) == offsetof(ibv_device, name));
  CHECK(sizeof(IbvContext) == sizeof(ibv_context) && offsetof(IbvContext, async_fd) == offsetof(ibv_context, async_fd));
  CHECK(offsetof(IbvContext, abi_compat) == offsetof(ibv_context, abi_compat));
  CHECK(offsetof(IbvContext, ops) + 11 * 8 == offsetof(ibv_context, ops.poll_cq));
  CHECK(offsetof(IbvContext, ops) + 25 * 8 == offsetof(ibv_context, ops.post_send));
  CHECK(offsetof(IbvContext, ops) + 26 * 8 == offsetof(ibv_context, ops.post_recv));
  CHECK(sizeof(IbvPd) == sizeof(ibv_pd) && sizeof(IbvMr) == sizeof(ibv_mr) && sizeof(IbvAh) == sizeof(ibv_ah));
  CHECK(offsetof(IbvMr, lkey) == offsetof(ibv_mr, lkey) && offsetof(IbvMr, rkey) == offsetof(ibv_mr, rkey));
  CHECK(sizeof(IbvCq) >= sizeof(ibv_cq) && offsetof(IbvCq, cqe) == offsetof(ibv_cq, cqe));
  CHECK(sizeof(IbvQp) >= sizeof(ibv_qp) && offsetof(IbvQp, qp_type) == offsetof(ibv_qp, qp_type));
  CHECK(sizeof(IbvDeviceAttr) == sizeof(ibv_device_attr));
  CHECK(offsetof(IbvDeviceAttr, atomic_cap) == offsetof(ibv_device_attr, atomic_cap));
  CHECK(offsetof(IbvDeviceAttr, phys_port_cnt) == offsetof(ibv_device_attr, phys_port_cnt));
  CHECK(sizeof(IbvPortAttr) == sizeof(ibv_port_attr) && offsetof(IbvPortAttr, lid) == offsetof(ibv_port_attr, lid));
  CHECK(offsetof(IbvPortAttr, link_layer) == offsetof(ibv_port_attr, link_layer));
  CHECK(sizeof(IbvAhAttr) == sizeof(ibv_ah_attr) && offsetof(IbvAhAttr, dlid) == offsetof(ibv_ah_attr, dlid));
  CHECK(offsetof(IbvAhAttr, sgid_index) == offsetof(ibv_ah_attr, grh.sgid_index));
  CHECK(offsetof(IbvAhAttr, port_num) == offsetof(ibv_ah_attr, port_num));
  CHECK(sizeof(IbvQpInitAttr) == sizeof(ibv_qp_init_attr) && sizeof(IbvAsyncEvent) == sizeof(ibv_async_event));
  CHECK(sizeof(DvUmem) == sizeof(mlx5dv_devx_umem) && sizeof(DvUmemIn) == sizeof(mlx5dv_devx_umem_in));
  CHECK(offsetof(DvUmemIn, dmabuf_fd) == offsetof(mlx5dv_devx_umem_in, dmabuf_fd));
  CHECK(sizeof(DvUar) == sizeof(mlx5dv_devx_uar) && offsetof(DvUar, page_id) == offsetof(mlx5dv_devx_uar, page_id));
  CHECK(sizeof(DvAv) == sizeof(mlx5_wqe_av) && offsetof(DvAv, rmac) == offsetof(mlx5_wqe_av, rmac));
  CHECK(sizeof(DvObj) == sizeof(mlx5dv_obj) && offsetof(DvObj, pd) == offsetof(mlx5dv_obj, pd));
  CHECK(offsetof(DvObj, ah) == offsetof(mlx5dv_obj, ah) && sizeof(DvContextAttr) == sizeof(mlx5dv_context_attr));
}
#endif

TEST(a_queue_pair_goes_to_rts_and_back) {
  Rig r;
  mlx5_standin_serve(server);
  CHECK(r.qp != nullptr && r.state() == 0);
  CHECK(r.to_init() == 0 && r.state() == 1);
  CHECK(r.to_rtr() == 0 && r.state() == 2);
  CHECK(r.to_rts() == 0 && r.state() == 3);
  CHECK(last_event == MLX5_STANDIN_STATE);
  const auto block = static_cast<int64_t>(reinterpret_cast<uint64_t>(r.block));
  CHECK(served[MLX5_QP_NUMBER] == r.path.qpn && served[MLX5_QP_RECEIVE_RING] == block);
  CHECK(served[MLX5_QP_RING] == block + 32 * 64 && served[MLX5_QP_DEPTH] == 64 && served[MLX5_QP_RECEIVE_DEPTH] == 32);
  CHECK(served[MLX5_QP_RECEIVE_STRIDE] == 64);
  CHECK(served[MLX5_QP_DBR] == block + static_cast<int64_t>(Rig::kDbr) + 128);
  CHECK(reinterpret_cast<void*>(served[MLX5_QP_DOORBELL]) == r.uar->reg_addr && served[MLX5_QP_UAR_USERS] == 1);
  CHECK(send_ring == block + static_cast<int64_t>(Rig::kSendCq));
  CHECK(served[MLX5_QP_SEND_PSN] == 0x111 && served[MLX5_QP_RECEIVE_PSN] == 0x222 &&
        served[MLX5_QP_REMOTE_DEVICE] == 0);
  CHECK(served[MLX5_QP_RETRIES] == 6 && served[MLX5_QP_RNR_RETRIES] == 5 && served[MLX5_QP_TIMEOUT] == 16);
  CHECK(served[MLX5_QP_ACCESS] == 14 && served[MLX5_QP_MTU] == 5 && served[MLX5_QP_GID_INDEX] == 3);
  broken = 1;
  CHECK(r.state() == 6); // by itself
  broken = 0;
  CHECK(r.to_reset() == 0 && r.state() == 0 && last_event == MLX5_STANDIN_STOP);
  CHECK(r.to_init() == 0 && r.to_rtr() == 0 && r.to_rts() == 0);
  CHECK(r.to_error() == 0 && r.state() == 6 && last_event == MLX5_STANDIN_FAIL);
  CHECK(get("refusals") == 0);
  mlx5_standin_serve(nullptr);
}

TEST(infiniband_goes_by_lid) {
  mlx5_standin_set("port.ethernet", 0);
  Rig r(false);
  ibv_port_attr port{};
  CHECK(ibv_query_port(r.context, 1, &port) == 0 && port.lid == 7 && port.link_layer == IBV_LINK_LAYER_INFINIBAND);
  r.qp = r.create_qp();
  r.path.qpn = r.path.remote_qpn = read_qpn(r.out);
  r.path.mtu = 5;
  CHECK(r.to_init() == 0);
  CHECK(r.to_rtr() == EREMOTEIO && refused("rlid is missing"));
  r.path.rlid = 7;
  CHECK(r.to_rtr() == 0 && r.to_rts() == 0);
  int64_t words[MLX5_QP_WORDS];
  CHECK(mlx5_standin_qp(r.path.qpn, words) == MLX5_QP_WORDS && words[MLX5_QP_REMOTE_DEVICE] == 0);
}

TEST(devices_may_be_missing_in_three_ways) {
  mlx5_standin_set("uverbs", 1);
  CHECK(ibv_get_device_list(nullptr) == nullptr && errno == ENOSYS);
  mlx5_standin_set("uverbs", 2);
  CHECK(open_devx() == nullptr);
  mlx5_standin_set("uverbs", 3);
  CHECK(open_devx() == nullptr && errno == EACCES);
  CHECK(get("live") == 0 && mlx5_standin_reset() == 0);
}

TEST(without_devx_a_context_opens_and_commands_are_refused) {
  mlx5_standin_set("devx", 0);
  CHECK(open_devx() == nullptr && errno == EINVAL);
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_context* context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  uint8_t in[MAILBOX], out[8192];
  CHECK(mlx5dv_devx_general_cmd(context, in, fill_query_caps(in, 0), out, 4112) == EINVAL && refused("no DEVX"));
  CHECK(mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC) == nullptr && errno == EINVAL);
  CHECK(ibv_close_device(context) == 0 && mlx5_standin_reset() == 0);
}

TEST(each_kind_of_uar_can_be_refused) {
  Rig r;
  const uint32_t kinds[] = {MLX5DV_UAR_ALLOC_TYPE_BF, MLX5DV_UAR_ALLOC_TYPE_NC, 1u << 31};
  const char* const names[] = {"uar.bf", "uar.nc", "uar.dedicated"};
  for (int i = 0; i < 3; i++) {
    mlx5dv_devx_uar* uar = mlx5dv_devx_alloc_uar(r.context, kinds[i]);
    CHECK(uar != nullptr && static_cast<uint8_t*>(uar->reg_addr) == static_cast<uint8_t*>(uar->base_addr) + 0x800);
    mlx5dv_devx_free_uar(uar);
    CHECK(mlx5_standin_set(names[i], 0) == 0);
    CHECK(mlx5dv_devx_alloc_uar(r.context, kinds[i]) == nullptr && errno == EOPNOTSUPP);
  }
}

TEST(memory_is_checked_as_the_kernel_does) {
  Rig r;
  CHECK(ibv_reg_mr(r.pd, r.block, 100, IBV_ACCESS_REMOTE_WRITE) == nullptr && errno == EINVAL);
  CHECK(ibv_reg_mr(r.pd, reinterpret_cast<void*>(4096), 100, 0) == nullptr && errno == EFAULT);
  void* shut = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(ibv_reg_mr(r.pd, shut, 100, IBV_ACCESS_LOCAL_WRITE) == nullptr && errno == EFAULT);
  ibv_mr* mr = ibv_reg_mr(r.pd, shut, 100, IBV_ACCESS_REMOTE_READ);
  CHECK(mr != nullptr && mr->lkey == mr->rkey && mr->length == 100);
  CHECK(ibv_dealloc_pd(r.pd) == EBUSY);
  CHECK(ibv_dereg_mr(mr) == 0);
  mlx5_standin_set("memlock", Rig::kBytes + 99);
  CHECK(ibv_reg_mr(r.pd, r.block, 100, IBV_ACCESS_LOCAL_WRITE) == nullptr && errno == ENOMEM);
  CHECK(mlx5dv_devx_umem_reg(r.context, r.block, kPage, 1) == nullptr && errno == ENOMEM);
  mlx5_standin_set("memlock", -1);
  const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const auto at = reinterpret_cast<uint64_t>(r.block);
  mr = ibv_reg_dmabuf_mr(r.pd, 0, 100, at, fd, IBV_ACCESS_LOCAL_WRITE);
  CHECK(mr != nullptr && ibv_dereg_mr(mr) == 0);
  CHECK(ibv_reg_dmabuf_mr(r.pd, 0, 100, at, 1000, 0) == nullptr && errno == EBADF);
  CHECK(ibv_reg_dmabuf_mr(r.pd, 8, 100, at, fd, 0) == nullptr && errno == EINVAL);
  mlx5_standin_set("dmabuf", 0);
  CHECK(ibv_reg_dmabuf_mr(r.pd, 0, 100, at, fd, 0) == nullptr && errno == EOPNOTSUPP);
  close(fd);
  munmap(shut, kPage);
}

TEST(capabilities_are_as_set) {
  Rig r;
  const auto mode = [&] {
    CHECK(mlx5dv_devx_general_cmd(r.context, r.in, fill_query_caps(r.in, 3), r.out, 4112) == 0);
    return read_atomic_mode(r.out);
  };
  CHECK(mode() == 1);
  mlx5_standin_set("atomics", 2);
  CHECK(mode() == 0);
  ibv_device_attr attr{};
  CHECK(ibv_query_device(r.context, &attr) == 0 && attr.atomic_cap == IBV_ATOMIC_NONE);
  CHECK(mlx5_standin_set("cap.cmd_hca_cap.cqe_version", 0) == 0);
  CHECK(mlx5_standin_set("cap.cmd_hca_cap.no_such", 0) == -1 && mlx5_standin_set("nonsense", 0) == -1);
}

TEST(the_nth_call_fails_and_no_other) {
  Rig r;
  CHECK(mlx5_standin_fail("ibv_alloc_pd", 2, ENOMEM) == 0);
  ibv_pd* first = ibv_alloc_pd(r.context);
  CHECK(first != nullptr);
  CHECK(ibv_alloc_pd(r.context) == nullptr && errno == ENOMEM && get("faults") == 1);
  ibv_pd* third = ibv_alloc_pd(r.context);
  CHECK(third != nullptr && ibv_dealloc_pd(first) == 0 && ibv_dealloc_pd(third) == 0);
  CHECK(mlx5_standin_fail("mlx5dv_devx_obj_modify", 1, EREMOTEIO) == 0);
  CHECK(r.to_init() == EREMOTEIO && read_status(r.out) == 0x0f && read_syndrome(r.out) != 0 && r.state() == 0);
  CHECK(r.to_init() == 0);
  CHECK(mlx5_standin_fail("", 1, EIO) == 0);
  CHECK(ibv_dealloc_pd(r.pd) == EIO);
  CHECK(mlx5_standin_fail("mlx5dv_devx_free_uar", 1, EIO) == -1 && mlx5_standin_fail("nonsense", 1, EIO) == -1);
  CHECK(get("refusals") == 0);
}

TEST(events_of_the_device_and_of_devx_objects_go_different_ways) {
  Rig r;
  CHECK(mlx5_standin_async(0, IBV_EVENT_QP_FATAL, 0) == -1);
  CHECK(mlx5_standin_async(0, IBV_EVENT_PORT_ERR, 1) == 1);
  ibv_async_event event{};
  CHECK(ibv_get_async_event(r.context, &event) == 0 && event.event_type == IBV_EVENT_PORT_ERR);
  CHECK(event.element.port_num == 1 && get("live.events") == 1);
  ibv_ack_async_event(&event);
  CHECK(get("live.events") == 0);
  fcntl(r.context->async_fd, F_SETFL, O_NONBLOCK);
  CHECK(ibv_get_async_event(r.context, &event) == -1 && errno == EAGAIN);

  mlx5dv_devx_event_channel* channel =
      mlx5dv_devx_create_event_channel(r.context, mlx5dv_devx_create_event_channel_flags{});
  uint16_t types[] = {0x05, 0x11};
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, r.qp, sizeof types, types, 77) == 0);
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, nullptr, sizeof types, types, 77) == EINVAL);
  CHECK(mlx5_standin_event(r.path.qpn, 0x05) == 1 && r.state() == 6);
  alignas(8) uint8_t record[128];
  auto* header = reinterpret_cast<mlx5dv_devx_async_event_hdr*>(record);
  CHECK(mlx5dv_devx_get_event(channel, header, sizeof record) == 72 && header->cookie == 77);
  mlx5dv_devx_destroy_event_channel(channel);
  CHECK(mlx5_standin_event(r.path.qpn, 0x05) == 0);
}

TEST(closing_a_context_with_live_objects_is_counted) {
  ibv_context* context = open_devx();
  ibv_pd* pd = ibv_alloc_pd(context);
  (void)pd;
  CHECK(mlx5_standin_reset() == -1);
  CHECK(ibv_close_device(context) == 0 && get("abandoned") == 1 && get("live") == 0 && mlx5_standin_reset() == 0);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
