// SPDX-License-Identifier: Apache-2.0
// Creating, connecting, resetting and destroying proxied queue pairs.
#include "proxy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "gpuverbs.h"

using namespace gpuverbs;
using namespace gpuverbs::verbs;

namespace {

// Frees what there is; the first failure's errno.
int dismantle(gv_proxy* p) {
  const Library* lib = p->v->lib;
  auto step = [](int result, int before) { return before != 0 ? before : result == 0 ? 0 : failure(result); };
  int r = 0;
  if (p->qp != nullptr) r = step(lib->DestroyQp(p->qp), r);
  if (r == 0 && p->sends != nullptr) r = step(lib->DestroyCq(p->sends), r);
  if (r == 0 && p->receives != nullptr) r = step(lib->DestroyCq(p->receives), r);
  if (r == 0 && p->ring_mr != nullptr) r = step(lib->DeregMr(p->ring_mr), r);
  if (r == 0) delete p;
  return r;
}

int32_t to_init(gv_proxy* p, gv_error* error) {
  QpAttr attr{};
  attr.qp_state = kInit;
  attr.port_num = static_cast<uint8_t>(p->v->port);
  attr.pkey_index = static_cast<uint16_t>(p->pkey_index);
  attr.qp_access_flags = kAccessRemote; // regions decide
  if (p->v->attr.atomic_cap == kAtomicNone) attr.qp_access_flags &= ~8u;
  errno = 0;
  if (int r = p->v->lib->ModifyQp(p->qp, &attr, kMaskState | kMaskPkey | kMaskPort | kMaskAccess))
    return fail(error, -failure(r), failure(r), "the queue pair can't go to INIT: check port %u and P_Key index %u",
                p->v->port, p->pkey_index);
  return 0;
}

int32_t make(gv_proxy* p, gv_error* error) {
  gv_verbs* v = p->v;
  const Library* lib = v->lib;
  const uint32_t most = static_cast<uint32_t>(std::max(v->attr.max_qp_wr, 1));
  const uint32_t depth = std::min(p->queue->depth, most);
  const uint32_t receive_depth = std::min(p->queue->receive_depth, most);
  const uint32_t cqes = static_cast<uint32_t>(std::max(v->attr.max_cqe, 1));
  errno = 0;
  p->sends = lib->CreateCq(v->context, static_cast<int>(std::min(depth, cqes)), nullptr, nullptr, 0);
  if (p->sends != nullptr && receive_depth != 0)
    p->receives = lib->CreateCq(v->context, static_cast<int>(std::min(receive_depth, cqes)), nullptr, nullptr, 0);
  if (p->sends == nullptr || (receive_depth != 0 && p->receives == nullptr))
    return fail(error, -failure(-1), errno,
                "no completion queue of %u can be made: close queue pairs or raise ulimit -l", depth);
  QpInitAttr init{};
  init.send_cq = p->sends;
  init.recv_cq = p->receives != nullptr ? p->receives : p->sends;
  const uint32_t segments = std::min<uint32_t>(kMaxSegments, static_cast<uint32_t>(std::max(v->attr.max_sge, 1)));
  init.cap = QpCap{depth, receive_depth, segments, std::min<uint32_t>(GV_RQ_STRIDE / 16, segments), kInlineAsked};
  init.qp_type = kQptRc;
  init.sq_sig_all = 1; // how far verbs has come must be known also after it refused a request
  // A device may have room for less inline data and fewer segments than it takes at most: ask for less until it agrees.
  for (;;) {
    const QpCap asked = init.cap;
    errno = 0;
    p->qp = lib->CreateQp(v->pd, &init);
    if (p->qp != nullptr || asked.max_inline_data == 0) break;
    init.cap = asked;
    init.cap.max_inline_data = asked.max_inline_data > 32 ? asked.max_inline_data / 2 : 0;
  }
  if (p->qp == nullptr)
    return fail(error, -failure(-1), errno,
                "no RC queue pair of depth %u, receive depth %u can be made: use smaller ones, close"
                " queue pairs or raise ulimit -l",
                depth, receive_depth);
  p->cap = init.cap;
  p->cap.max_send_wr = std::min(p->cap.max_send_wr, std::min(depth, cqes)); // no completion finds its CQ full
  p->cap.max_recv_wr = std::min(p->cap.max_recv_wr, std::min(receive_depth, cqes));
  errno = 0;
  p->ring_mr =
      lib->RegMr(v->pd, reinterpret_cast<void*>(p->queue->ring), static_cast<size_t>(p->queue->depth) * GV_WQEBB, 0);
  if (p->ring_mr == nullptr)
    return fail(error, -failure(-1), errno,
                "the ring can't be registered: raise the limit of locked memory, ulimit -l unlimited");
  return to_init(p, error);
}

void forget(gv_proxy* p) {
  p->generation = (p->generation + 1) & 0xffff;
  p->next = p->produced = p->head = p->tail = 0;
  p->posted = 0;
  p->stopped = p->latched = p->pending = false;
  p->receive_next = p->receive_done = 0;
  __atomic_store_n(reinterpret_cast<uint64_t*>(p->queue->doorbell), 0ull, __ATOMIC_RELEASE);
  // Completions from before: the device may have left them.
  Wc wcs[16];
  while (p->v->context->ops.poll_cq(p->sends, 16, wcs) > 0) {
  }
  while (p->receives != nullptr && p->v->context->ops.poll_cq(p->receives, 16, wcs) > 0) {
  }
}

} // namespace

extern "C" int32_t gv_proxy_create(gv_verbs* v, gv_qp* queue, gv_proxy_cq* send_cq, gv_proxy_cq* receive_cq,
                                   uint32_t pkey_index, gv_proxy** out, uint32_t* number, gv_error* error) {
  gv_proxy* p = new (std::nothrow) gv_proxy();
  if (p != nullptr) p->entries.reset(new (std::nothrow) Entry[queue->depth]);
  if (p == nullptr || p->entries == nullptr) {
    delete p;
    return fail(error, -ENOMEM, 0, "no memory");
  }
  p->v = v;
  p->queue = queue;
  p->send_cq = send_cq;
  p->receive_cq = receive_cq;
  p->pkey_index = pkey_index;
  if (const int32_t code = make(p, error)) {
    dismantle(p);
    return code;
  }
  Control hold(v);
  v->served.push_back(p);
  *number = p->qp->qp_num;
  *out = p;
  return 0;
}

extern "C" int32_t gv_proxy_connect(gv_proxy* p, const gv_proxy_remote* r, gv_error* error) {
  gv_verbs* v = p->v;
  Control hold(v);
  if (p->state != GV_STATE_RESET) return fail(error, -EISCONN, 0, "the queue pair is connected: reset it first");
  QpAttr attr{};
  attr.qp_state = kRtr;
  attr.path_mtu = mtu_code(r->mtu);
  attr.dest_qp_num = r->number;
  attr.rq_psn = r->packet_sequence;
  attr.max_dest_rd_atomic = static_cast<uint8_t>(v->reads);
  attr.min_rnr_timer = static_cast<uint8_t>(r->rnr_timer);
  address_peer(v, r, &attr.ah_attr);
  errno = 0;
  if (int e = v->lib->ModifyQp(
          p->qp, &attr, kMaskState | kMaskAv | kMaskMtu | kMaskDestQpn | kMaskRqPsn | kMaskDestRdAtomic | kMaskMinRnr))
    return fail(error, -failure(e), failure(e),
                "the queue pair can't go to RTR: the peer's GID can't be reached from GID index %d,"
                " or an MTU of %u is too large for the port",
                v->gid_index, r->mtu);
  attr = QpAttr{};
  attr.qp_state = kRts;
  attr.sq_psn = r->local_packet_sequence;
  attr.timeout = static_cast<uint8_t>(r->timeout);
  attr.retry_cnt = static_cast<uint8_t>(r->retries);
  attr.rnr_retry = static_cast<uint8_t>(r->rnr_retries);
  attr.max_rd_atomic = static_cast<uint8_t>(v->reads);
  errno = 0;
  if (int e = v->lib->ModifyQp(p->qp, &attr,
                               kMaskState | kMaskSqPsn | kMaskTimeout | kMaskRetry | kMaskRnr | kMaskRdAtomic))
    return fail(error, -failure(e), failure(e), "the queue pair can't go to RTS");
  p->state = GV_STATE_RTS;
  return 0;
}

extern "C" int32_t gv_proxy_reset(gv_proxy* p, gv_error* error) {
  Control hold(p->v);
  p->state = GV_STATE_RESET;
  QpAttr attr{};
  attr.qp_state = kReset;
  errno = 0;
  if (int e = p->v->lib->ModifyQp(p->qp, &attr, kMaskState))
    return fail(error, -failure(e), failure(e), "the queue pair can't be reset");
  forget(p);
  // The owner clears the ring and its records after this call, so nothing may be taken from them before it connects or posts.
  memset(reinterpret_cast<void*>(p->queue->dbr), 0, 8);
  return to_init(p, error);
}

extern "C" int32_t gv_proxy_state(gv_proxy* p) { return p->state.load(); }

extern "C" int32_t gv_proxy_destroy(gv_proxy* p, gv_error* error) {
  gv_verbs* v = p->v;
  {
    Control hold(v);
    v->served.erase(std::remove(v->served.begin(), v->served.end(), p), v->served.end());
  }
  const int why = dismantle(p);
  if (why != 0) return fail(error, -why, why, "the queue pair can't be destroyed");
  return 0;
}
