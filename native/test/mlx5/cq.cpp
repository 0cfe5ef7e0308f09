// SPDX-License-Identifier: Apache-2.0
// Completion queues by command.
#include <cerrno>
#include <cstring>

#include "command.h"

namespace standin {

// Event queues: 16 and up, one for each of four vectors.
constexpr uint64_t kFirstEqn = 16, kEqs = 4;

int create_cq(Command& c, Obj* cq) {
  if (int e = c.check("CREATE_CQ", "create_cq_in", "create_cq_out",
                      "opcode uid op_mod cq_context cq_umem_offset cq_umem_id cq_umem_valid"))
    return e;
  const Machine& m = Machine::get();
  const View in = c.in("create_cq_in");
  const View cqc = in.inside("cq_context", "cqc");
  if (int e = c.check_inside(cqc,
                             "dbr_umem_valid cqe_sz cc oi page_offset log_cq_size uar_page c_eqn_or_apu_element "
                             "log_page_size dbr_addr dbr_umem_id"))
    return e;
  if (in.get("op_mod") != 0) return c.refuse(kBadOp, "op_mod must be zero");
  // Looked up by the kernel, mlx5_eqn2comp_eq.
  const uint64_t eqn = cqc.get("c_eqn_or_apu_element");
  if (eqn < kFirstEqn || eqn >= kFirstEqn + kEqs)
    return Machine::get().refuse(ENOENT, "CREATE_CQ: c_eqn %llu is no event queue",
                                 static_cast<unsigned long long>(eqn));
  const auto log_size = static_cast<int64_t>(cqc.get("log_cq_size"));
  if (log_size > m.cap("cmd_hca_cap", "log_max_cq_sz"))
    return c.refuse(kBadParam, "log_cq_size %lld is over the limit of %lld", static_cast<long long>(log_size),
                    static_cast<long long>(m.cap("cmd_hca_cap", "log_max_cq_sz")));
  if (cqc.get("cqe_sz") != 0) return c.refuse(kBadParam, "CQEs of other than 64 bytes are not modelled");
  if (cqc.get("oi") != 0 && m.cap("cmd_hca_cap", "cq_oi") == 0)
    return c.refuse(kBadParam, "oi is set, and the device has no cq_oi");
  if (cqc.get("page_offset") != 0)
    return c.refuse(kBadParam, "page_offset beside a umem: cq_umem_offset has the offset");
  if (int e = check_uar(c, static_cast<uint32_t>(cqc.get("uar_page")))) return e;
  if (int e = check_buffer(c, "cq", static_cast<uint32_t>(in.get("cq_umem_id")), in.get("cq_umem_offset"),
                           64ull << log_size, cqc.get("log_page_size"), true, cq, &cq->words[MLX5_CQ_RING]))
    return e;
  if (int e = check_dbr(c, cqc, cq, &cq->words[MLX5_CQ_DBR])) return e;
  cq->uar = static_cast<uint32_t>(cqc.get("uar_page"));
  cq->words[MLX5_CQ_NUMBER] = cq->number;
  cq->words[MLX5_CQ_DEPTH] = 1ll << log_size;
  cq->words[MLX5_CQ_COLLAPSED] = static_cast<int64_t>(cqc.get("cc"));
  cq->words[MLX5_CQ_IGNORES_OVERRUN] = static_cast<int64_t>(cqc.get("oi"));
  cq->words[MLX5_CQ_DEVICE] = c.ctx->device;
  cq->context.assign(cqc.at("."), cqc.at(".") + bytes_of("cqc"));
  c.out("create_cq_out").set("cqn", cq->number);
  return 0;
}

int query_cq(Command& c, const Obj* cq) {
  if (int e = c.check("QUERY_CQ", "query_cq_in", "query_cq_out", "opcode op_mod cqn")) return e;
  if (c.in("query_cq_in").get("cqn") != cq->number) return Machine::get().refuse(EINVAL, "QUERY_CQ: cqn is another's");
  memcpy(c.out("query_cq_out").at("cq_context"), cq->context.data(), cq->context.size());
  return 0;
}

} // namespace standin
