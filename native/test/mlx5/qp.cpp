// SPDX-License-Identifier: Apache-2.0
// Queue pairs by command: creating, querying, destroying.
#include <cerrno>
#include <cstring>

#include "command.h"

namespace standin {

namespace {

constexpr uint64_t kRc = 0, kMigrated = 3, kRqRegular = 0, kRqNone = 3;
constexpr uint64_t kWqebb = 64;

int check_cq(Command& c, const char* field, uint64_t number, bool needed) {
  const Obj* cq = Machine::get().object(Kind::kCq, static_cast<uint32_t>(number));
  if ((number == 0 && !needed) || (cq != nullptr && cq->ctx == c.ctx)) return 0;
  return c.refuse(kBadResource, "%s 0x%llx is no CQ of this context", field, static_cast<unsigned long long>(number));
}

// The queues' sizes into words.
int sizes(Command& c, const View& qpc, Obj* qp) {
  const Machine& m = Machine::get();
  const auto log_sq = static_cast<int64_t>(qpc.get("log_sq_size")),
             log_rq = static_cast<int64_t>(qpc.get("log_rq_size"));
  const int64_t most = m.cap("cmd_hca_cap", "log_max_qp_sz");
  if (log_sq > most || log_rq > most)
    return c.refuse(kBadParam, "log_sq_size %lld and log_rq_size %lld: the limit is %lld",
                    static_cast<long long>(log_sq), static_cast<long long>(log_rq), static_cast<long long>(most));
  if (qpc.get("no_sq") != 0) return c.refuse(kBadParam, "no_sq is not modelled");
  qp->words[MLX5_QP_DEPTH] = 1ll << log_sq;
  switch (qpc.get("rq_type")) {
    case kRqNone:
      if (log_rq != 0 || qpc.get("log_rq_stride") != 0)
        return c.refuse(kBadParam, "log_rq_size and log_rq_stride with a receive queue of size zero");
      return 0;
    case kRqRegular:
      qp->words[MLX5_QP_RECEIVE_DEPTH] = 1ll << log_rq;
      qp->words[MLX5_QP_RECEIVE_STRIDE] = 16ll << qpc.get("log_rq_stride");
      if (qp->words[MLX5_QP_RECEIVE_STRIDE] > m.cap("cmd_hca_cap", "max_wqe_sz_rq"))
        return c.refuse(kBadParam, "receive WQEs of %lld bytes are over max_wqe_sz_rq",
                        static_cast<long long>(qp->words[MLX5_QP_RECEIVE_STRIDE]));
      return 0;
    default:
      return c.refuse(kBadParam, "rq_type %llu is not modelled", static_cast<unsigned long long>(qpc.get("rq_type")));
  }
}

} // namespace

int create_qp(Command& c, Obj* qp) {
  if (int e = c.check("CREATE_QP", "create_qp_in", "create_qp_out",
                      "opcode uid op_mod qpc wq_umem_offset wq_umem_id wq_umem_valid"))
    return e;
  Machine& m = Machine::get();
  const View in = c.in("create_qp_in");
  const View qpc = in.inside("qpc", "qpc");
  if (int e = c.check_inside(qpc,
                             "st pm_state pd log_rq_size log_rq_stride no_sq log_sq_size ts_format uar_page user_index "
                             "log_page_size cqn_snd cqn_rcv dbr_addr rq_type dbr_umem_valid dbr_umem_id"))
    return e;
  if (in.get("op_mod") != 0) return c.refuse(kBadOp, "op_mod must be zero");
  if (qpc.get("st") != kRc)
    return c.refuse(kBadParam, "st %llu: RC alone is modelled", static_cast<unsigned long long>(qpc.get("st")));
  if (qpc.get("pm_state") != kMigrated) return c.refuse(kBadParam, "pm_state must be 3, migrated");
  const auto pdn = static_cast<uint32_t>(qpc.get("pd"));
  if (m.pd(pdn, c.ctx) == nullptr) return c.refuse(kBadResource, "pd 0x%x is none of this context", pdn);
  const auto page = static_cast<uint32_t>(qpc.get("uar_page"));
  if (int e = check_uar(c, page)) return e;
  if (int e = sizes(c, qpc, qp)) return e;
  const bool receives = qp->words[MLX5_QP_RECEIVE_DEPTH] != 0;
  if (int e = check_cq(c, "cqn_snd", qpc.get("cqn_snd"), true)) return e;
  if (int e = check_cq(c, "cqn_rcv", qpc.get("cqn_rcv"), receives)) return e;
  // One buffer: the receive queue, then the send queue (rdma-core, providers/mlx5/verbs.c: sq.offset = rq.wqe_cnt << rq.wqe_shift).
  const uint64_t receive_bytes =
      static_cast<uint64_t>(qp->words[MLX5_QP_RECEIVE_DEPTH] * qp->words[MLX5_QP_RECEIVE_STRIDE]);
  const uint64_t send_bytes = static_cast<uint64_t>(qp->words[MLX5_QP_DEPTH]) * kWqebb;
  int64_t buffer = 0;
  if (int e = check_buffer(c, "wq", static_cast<uint32_t>(in.get("wq_umem_id")), in.get("wq_umem_offset"),
                           receive_bytes + send_bytes, qpc.get("log_page_size"), false, qp, &buffer))
    return e;
  if (int e = check_dbr(c, qpc, qp, &qp->words[MLX5_QP_DBR])) return e;
  qp->uar = page;
  qp->pd = pdn;
  qp->words[MLX5_QP_NUMBER] = qp->number;
  qp->words[MLX5_QP_STATE] = kRst;
  qp->words[MLX5_QP_DEVICE] = c.ctx->device;
  qp->words[MLX5_QP_RECEIVE_RING] = receives ? buffer : 0;
  qp->words[MLX5_QP_RING] = buffer + static_cast<int64_t>(receive_bytes);
  const Uar* uar = m.uar(page, c.ctx);
  qp->words[MLX5_QP_DOORBELL] = static_cast<int64_t>(reinterpret_cast<uint64_t>(uar->pub.reg_addr));
  qp->words[MLX5_QP_UAR_KIND] = uar->kind;
  qp->words[MLX5_QP_SEND_CQ] = static_cast<int64_t>(qpc.get("cqn_snd"));
  qp->words[MLX5_QP_RECEIVE_CQ] = receives ? static_cast<int64_t>(qpc.get("cqn_rcv")) : 0;
  qp->words[MLX5_QP_REMOTE_DEVICE] = -1;
  qp->context.assign(qpc.at("."), qpc.at(".") + bytes_of("qpc"));
  c.out("create_qp_out").set("qpn", qp->number);
  return 0;
}

int query_qp(Command& c, Obj* qp) {
  if (int e = c.check("QUERY_QP", "query_qp_in", "query_qp_out", "opcode op_mod qpn")) return e;
  if (c.in("query_qp_in").get("qpn") != qp->number) return Machine::get().refuse(EINVAL, "QUERY_QP: qpn is another's");
  // A queue pair goes to ERROR by itself, where it is served.
  if (qp->words[MLX5_QP_STATE] == kRts && Machine::get().serve(MLX5_STANDIN_STATE, qp) == 1)
    qp->words[MLX5_QP_STATE] = kError;
  const View out = c.out("query_qp_out").inside("qpc", "qpc");
  memcpy(out.at("."), qp->context.data(), qp->context.size());
  out.set("state", static_cast<uint64_t>(qp->words[MLX5_QP_STATE]));
  out.set("hw_sq_wqebb_counter", static_cast<uint64_t>(Machine::get().serve(MLX5_STANDIN_SENT, qp)));
  out.set("hw_rq_counter", static_cast<uint64_t>(Machine::get().serve(MLX5_STANDIN_RECEIVED, qp)));
  return 0;
}

int destroy(Obj* object) {
  Machine& m = Machine::get();
  if (object->kind == Kind::kQp) {
    m.serve(MLX5_STANDIN_STOP, object);
    return 0;
  }
  for (const auto& each : m.objects)
    if (each.second->kind == Kind::kQp && (each.second->words[MLX5_QP_SEND_CQ] == object->number ||
                                           each.second->words[MLX5_QP_RECEIVE_CQ] == object->number))
      return m.refuse(EREMOTEIO, "DESTROY_CQ: queue pair 0x%x uses CQ 0x%x", each.second->number, object->number);
  return 0;
}

} // namespace standin
