// SPDX-License-Identifier: Apache-2.0
// The hand-made declarations of src/verbs/abi.h against libibverbs' own header, field by field, where that is installed.
#include "verbs/abi.h"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>

#include <cstdio>

namespace v = gpuverbs::verbs;

namespace {

int failures = 0;

void equal(const char* what, size_t ours, size_t theirs) {
  if (ours == theirs) return;
  fprintf(stderr, "%s: %zu here, %zu in the header\n", what, ours, theirs);
  failures++;
}

#define SIZE(ours, theirs) equal("sizeof " #theirs, sizeof(v::ours), sizeof(theirs))
#define FIELD(ours, theirs, field) equal(#theirs "." #field, offsetof(v::ours, field), offsetof(theirs, field))
#define FIELD2(ours, mine, theirs, field) equal(#theirs "." #field, offsetof(v::ours, mine), offsetof(theirs, field))
#define VALUE(ours, theirs) equal(#theirs, static_cast<size_t>(v::ours), static_cast<size_t>(theirs))

void objects() {
  SIZE(Device, ibv_device);
  FIELD(Device, ibv_device, node_type);
  FIELD(Device, ibv_device, transport_type);
  FIELD(Device, ibv_device, name);
  SIZE(ContextOps, ibv_context_ops);
  FIELD(ContextOps, ibv_context_ops, poll_cq);
  FIELD(ContextOps, ibv_context_ops, post_send);
  FIELD(ContextOps, ibv_context_ops, post_recv);
  SIZE(Context, ibv_context);
  FIELD(Context, ibv_context, ops);
  FIELD(Context, ibv_context, async_fd);
  FIELD(Mr, ibv_mr, lkey);
  FIELD(Mr, ibv_mr, rkey);
  FIELD(Cq, ibv_cq, context);
  FIELD(Qp, ibv_qp, context);
  FIELD(Qp, ibv_qp, qp_num);
}

void attributes() {
  SIZE(DeviceAttr, ibv_device_attr);
  FIELD(DeviceAttr, ibv_device_attr, node_guid);
  FIELD(DeviceAttr, ibv_device_attr, max_qp_wr);
  FIELD(DeviceAttr, ibv_device_attr, max_sge);
  FIELD(DeviceAttr, ibv_device_attr, max_cqe);
  FIELD(DeviceAttr, ibv_device_attr, max_qp_rd_atom);
  FIELD(DeviceAttr, ibv_device_attr, max_qp_init_rd_atom);
  FIELD(DeviceAttr, ibv_device_attr, atomic_cap);
  SIZE(PortAttr, ibv_port_attr);
  FIELD(PortAttr, ibv_port_attr, active_mtu);
  FIELD(PortAttr, ibv_port_attr, max_msg_sz);
  FIELD(PortAttr, ibv_port_attr, lid);
  FIELD(PortAttr, ibv_port_attr, link_layer);
  SIZE(Gid, ibv_gid);
  SIZE(AhAttr, ibv_ah_attr);
  FIELD(AhAttr, ibv_ah_attr, dlid);
  FIELD(AhAttr, ibv_ah_attr, is_global);
  FIELD(AhAttr, ibv_ah_attr, port_num);
  SIZE(QpInitAttr, ibv_qp_init_attr);
  FIELD(QpInitAttr, ibv_qp_init_attr, cap);
  FIELD(QpInitAttr, ibv_qp_init_attr, qp_type);
  FIELD(QpInitAttr, ibv_qp_init_attr, sq_sig_all);
  SIZE(QpAttr, ibv_qp_attr);
  FIELD(QpAttr, ibv_qp_attr, dest_qp_num);
  FIELD(QpAttr, ibv_qp_attr, ah_attr);
  FIELD(QpAttr, ibv_qp_attr, pkey_index);
  FIELD(QpAttr, ibv_qp_attr, port_num);
  FIELD(QpAttr, ibv_qp_attr, timeout);
  FIELD(QpAttr, ibv_qp_attr, rnr_retry);
  FIELD(QpAttr, ibv_qp_attr, max_rd_atomic);
  FIELD(QpAttr, ibv_qp_attr, min_rnr_timer);
}

void requests() {
  SIZE(Sge, ibv_sge);
  FIELD(Sge, ibv_sge, lkey);
  SIZE(SendWr, ibv_send_wr);
  FIELD(SendWr, ibv_send_wr, sg_list);
  FIELD(SendWr, ibv_send_wr, opcode);
  FIELD(SendWr, ibv_send_wr, send_flags);
  FIELD(SendWr, ibv_send_wr, imm_data);
  FIELD(SendWr, ibv_send_wr, wr.rdma.rkey);
  FIELD(SendWr, ibv_send_wr, wr.atomic.swap);
  FIELD(SendWr, ibv_send_wr, wr.atomic.rkey);
  FIELD2(SendWr, unused, ibv_send_wr, qp_type);
  SIZE(RecvWr, ibv_recv_wr);
  FIELD(RecvWr, ibv_recv_wr, num_sge);
  SIZE(Wc, ibv_wc);
  FIELD(Wc, ibv_wc, status);
  FIELD(Wc, ibv_wc, byte_len);
  FIELD(Wc, ibv_wc, imm_data);
  FIELD(Wc, ibv_wc, wc_flags);
  SIZE(AsyncEvent, ibv_async_event);
  FIELD(AsyncEvent, ibv_async_event, event_type);
}

void constants() {
  VALUE(kTransportIwarp, IBV_TRANSPORT_IWARP);
  VALUE(kQptRc, IBV_QPT_RC);
  VALUE(kPortActive, IBV_PORT_ACTIVE);
  VALUE(kLinkEthernet, IBV_LINK_LAYER_ETHERNET);
  VALUE(kMtu256, IBV_MTU_256);
  VALUE(kMtu4096, IBV_MTU_4096);
  VALUE(kAtomicNone, IBV_ATOMIC_NONE);
  VALUE(kAccessRemote, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  VALUE(kReset, IBV_QPS_RESET);
  VALUE(kErr, IBV_QPS_ERR);
  VALUE(kMaskState, IBV_QP_STATE);
  VALUE(kMaskAccess, IBV_QP_ACCESS_FLAGS);
  VALUE(kMaskPkey, IBV_QP_PKEY_INDEX);
  VALUE(kMaskPort, IBV_QP_PORT);
  VALUE(kMaskAv, IBV_QP_AV);
  VALUE(kMaskMtu, IBV_QP_PATH_MTU);
  VALUE(kMaskTimeout, IBV_QP_TIMEOUT);
  VALUE(kMaskRetry, IBV_QP_RETRY_CNT);
  VALUE(kMaskRnr, IBV_QP_RNR_RETRY);
  VALUE(kMaskRqPsn, IBV_QP_RQ_PSN);
  VALUE(kMaskRdAtomic, IBV_QP_MAX_QP_RD_ATOMIC);
  VALUE(kMaskMinRnr, IBV_QP_MIN_RNR_TIMER);
  VALUE(kMaskSqPsn, IBV_QP_SQ_PSN);
  VALUE(kMaskDestRdAtomic, IBV_QP_MAX_DEST_RD_ATOMIC);
  VALUE(kMaskDestQpn, IBV_QP_DEST_QPN);
  VALUE(kWrWrite, IBV_WR_RDMA_WRITE);
  VALUE(kWrWriteImm, IBV_WR_RDMA_WRITE_WITH_IMM);
  VALUE(kWrSend, IBV_WR_SEND);
  VALUE(kWrSendImm, IBV_WR_SEND_WITH_IMM);
  VALUE(kWrRead, IBV_WR_RDMA_READ);
  VALUE(kWrCompareSwap, IBV_WR_ATOMIC_CMP_AND_SWP);
  VALUE(kWrFetchAdd, IBV_WR_ATOMIC_FETCH_AND_ADD);
  VALUE(kSendFence, IBV_SEND_FENCE);
  VALUE(kSendSignaled, IBV_SEND_SIGNALED);
  VALUE(kSendSolicited, IBV_SEND_SOLICITED);
  VALUE(kSendInline, IBV_SEND_INLINE);
  VALUE(kWcFlush, IBV_WC_WR_FLUSH_ERR);
  VALUE(kWcRemAccess, IBV_WC_REM_ACCESS_ERR);
  VALUE(kWcRetry, IBV_WC_RETRY_EXC_ERR);
  VALUE(kWcRnr, IBV_WC_RNR_RETRY_EXC_ERR);
  VALUE(kWcRemInvRd, IBV_WC_REM_INV_RD_REQ_ERR);
  VALUE(kWcRemAbort, IBV_WC_REM_ABORT_ERR);
  VALUE(kWcRecvWithImm, IBV_WC_RECV_RDMA_WITH_IMM);
  VALUE(kWcWithImm, IBV_WC_WITH_IMM);
  VALUE(kEventQpFatal, IBV_EVENT_QP_FATAL);
  VALUE(kEventQpAccessErr, IBV_EVENT_QP_ACCESS_ERR);
  VALUE(kEventDeviceFatal, IBV_EVENT_DEVICE_FATAL);
  VALUE(kEventPortErr, IBV_EVENT_PORT_ERR);
}

} // namespace

int main() {
  objects();
  attributes();
  requests();
  constants();
  return failures == 0 ? 0 : 1;
}

#else
#include <cstdio>

int main() {
  puts("skipped: infiniband/verbs.h is not installed");
  return 0;
}
#endif
