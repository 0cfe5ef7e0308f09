// SPDX-License-Identifier: Apache-2.0
// A queue pair's way through its states. What a transition takes: Linux drivers/infiniband/hw/mlx5/qp.c, __mlx5_ib_modify_qp.
#include <algorithm>
#include <cerrno>

#include "direct.h"

namespace gpuverbs::verbs {

using namespace mlx5;

namespace {

constexpr uint32_t kDynamicPort = 0xc000; // RoCE v2's UDP source ports begin there

struct Mailbox {
  uint8_t in[kWithContext] = {};
  uint8_t* qpc = in + kQpcAt;
  uint8_t* path = in + kQpcAt + qpc::kPath;
};

int32_t modify(gv_direct* d, Mailbox* m, uint32_t opcode, const char* what, const char* fix, gv_error* error) {
  uint8_t out[kShort] = {};
  put(m->in, kOpcode, opcode);
  put(m->in, kNumberIn, d->number);
  errno = 0;
  if (const int r = d->v->mlx5->ObjModify(d->qp, m->in, sizeof m->in, out, sizeof out))
    return refused(error, what, r, out, fix);
  return 0;
}

// What peers may do is for memory regions to decide. The firmware takes the atomic mode of every transition up to RTR.
void rights(const gv_direct* d, uint8_t* qpc) {
  const bool atomics = d->attr.atomics != 0 && d->v->direct->info.atomics == 1;
  put(qpc, qpc::kRwe, 1);
  put(qpc, qpc::kRre, 1);
  put(qpc, qpc::kRae, atomics);
  put(qpc, qpc::kAtomicMode, atomics ? qpc::kAtomicIbSpec : 0);
}

uint32_t log2_of(uint32_t v) { return v < 2 ? 0 : 31 - static_cast<uint32_t>(__builtin_clz(v)); }

int32_t check_gids(const gv_verbs* v, const gv_proxy_remote* r, gv_error* error) {
  if (v->gid_index >= 0 && (r->gid_high != 0 || r->gid_low != 0)) return 0;
  return fail(error, -EINVAL, 0, "%s has no GID: a global route needs one at both ends",
              v->gid_index < 0 ? "the port" : "the peer's address");
}

int32_t address(gv_direct* d, const gv_proxy_remote* r, const uint8_t* mac, uint8_t* path, gv_error* error) {
  gv_verbs* v = d->v;
  uint8_t gid[16];
  store_be64(gid, r->gid_high);
  store_be64(gid + 8, r->gid_low);
  const bool global = v->ethernet || r->lid == 0;
  put(path, ads::kPort, v->port);
  if (global) {
    if (const int32_t code = check_gids(v, r, error)) return code;
    put(path, ads::kSrcAddrIndex, static_cast<uint32_t>(v->gid_index));
    put(path, ads::kHopLimit, kHops);
    memcpy(path + ads::kRgid, gid, 16);
  }
  if (v->ethernet) {
    put(path, ads::kDscp, r->traffic_class >> 2);
    put(path, ads::kEthPrio, r->service_level & 7);
    const uint32_t low = v->direct->min_udp_sport != 0 ? v->direct->min_udp_sport : kDynamicPort;
    const uint32_t room = v->direct->max_udp_sport >= low ? v->direct->max_udp_sport - low + 1 : 1;
    put(path, ads::kUdpSport, low + (d->number ^ r->number) % room); // spreads connections over ECMP's paths
    put(path, ads::kRmacHigh, static_cast<uint32_t>(mac[0]) << 8 | mac[1]);
    put(path, ads::kRmacLow, load_be32(mac + 2));
    return 0;
  }
  put(path, ads::kGrh, global);
  put(path, ads::kRlid, r->lid);
  put(path, ads::kSl, r->service_level);
  if (global) put(path, ads::kTclass, r->traffic_class);
  return 0;
}

} // namespace

int32_t resolve_mac(gv_verbs* v, const gv_proxy_remote* r, uint8_t* mac, gv_error* error) {
  if (const int32_t code = check_gids(v, r, error)) return code;
  AhAttr attr{};
  address_peer(v, r, &attr);
  errno = 0;
  AddressHandle* ah = v->mlx5->CreateAh(v->pd, &attr);
  if (ah == nullptr)
    return refused(error, "the peer's GID leads nowhere", 0, nullptr,
                   "check the route and that the peer answers on its RoCE interface");
  DevxAh out{};
  DevxObj objects{};
  objects.ah = DevxInOut{ah, &out};
  errno = 0;
  int32_t code = 0;
  if (const int result = v->mlx5->InitObj(&objects, kObjAh))
    code = refused(error, "the peer's MAC can't be read", result, nullptr, "update rdma-core");
  else
    memcpy(mac, out.av->rmac, 6);
  errno = 0;
  const int left = v->mlx5->DestroyAh(ah);
  if (left != 0 && code == 0) {
    // Once more: an address handle is only memory and a number.
    if (const int again = v->mlx5->DestroyAh(ah))
      code = refused(error, "an address handle can't be destroyed", again, nullptr, "see dmesg");
  }
  return code;
}

int32_t to_init(gv_direct* d, gv_error* error) {
  Mailbox m;
  put(m.qpc, qpc::kPmState, qpc::kMigrated);
  rights(d, m.qpc);
  put(m.path, ads::kPort, d->v->port);
  put(m.path, ads::kPkeyIndex, d->attr.pkey_index);
  return modify(d, &m, kRst2Init, "the queue pair can't go to INIT", "check the port and the P_Key index", error);
}

int32_t to_rtr(gv_direct* d, const gv_proxy_remote* r, const uint8_t* mac, gv_error* error) {
  gv_verbs* v = d->v;
  Mailbox m;
  rights(d, m.qpc);
  put(m.qpc, qpc::kMtu, static_cast<uint32_t>(mtu_code(r->mtu)));
  put(m.qpc, qpc::kLogMsgMax, v->direct->log_max_message);
  put(m.qpc, qpc::kRemoteQpn, r->number);
  put(m.qpc, qpc::kNextRcvPsn, r->packet_sequence);
  put(m.qpc, qpc::kMinRnrNak, r->rnr_timer);
  put(m.qpc, qpc::kLogRraMax, std::min(log2_of(v->reads), v->direct->log_reads_in));
  if (const int32_t code = address(d, r, mac, m.path, error)) return code;
  return modify(d, &m, kInit2Rtr, "the queue pair can't go to RTR",
                "check that the MTU fits both ports and that the GID index is set", error);
}

int32_t to_rts(gv_direct* d, const gv_proxy_remote* r, gv_error* error) {
  Mailbox m;
  put(m.qpc, qpc::kLogSraMax, std::min(log2_of(d->v->reads), d->v->direct->log_reads_out));
  put(m.qpc, qpc::kRetryCount, r->retries);
  put(m.qpc, qpc::kRnrRetry, r->rnr_retries);
  put(m.qpc, qpc::kNextSendPsn, r->local_packet_sequence);
  put(m.path, ads::kAckTimeout, r->timeout);
  return modify(d, &m, kRtr2Rts, "the queue pair can't go to RTS", "see dmesg", error);
}

int32_t plain_transition(gv_direct* d, uint32_t opcode, const char* what, gv_error* error) {
  uint8_t in[kShort] = {}, out[kShort] = {};
  put(in, kOpcode, opcode);
  put(in, kNumberIn, d->number);
  errno = 0;
  if (const int r = d->v->mlx5->ObjModify(d->qp, in, sizeof in, out, sizeof out))
    return refused(error, what, r, out, "see dmesg");
  return 0;
}

} // namespace gpuverbs::verbs
