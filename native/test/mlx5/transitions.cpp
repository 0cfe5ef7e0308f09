// SPDX-License-Identifier: Apache-2.0
// A queue pair's way from RESET to RTS, to ERROR and back.
#include <cerrno>
#include <cstring>
#include <sstream>

#include "command.h"

namespace standin {

namespace {

// MLX5_QP_OPTPAR_*, and which a transition of RC takes: opt_mask in Linux drivers/infiniband/hw/mlx5/qp.c.
enum : uint32_t {
  kAltPath = 1 << 0,
  kRre = 1 << 1,
  kRae = 1 << 2,
  kRwe = 1 << 3,
  kPkeyIndex = 1 << 4,
  kRnrTimeout = 1 << 6,
  kPmState = 1 << 10,
  kLag = 1 << 15,
  kPriPort = 1 << 16,
};
constexpr uint32_t kRights = kRre | kRae | kRwe;

struct Transition {
  uint32_t opcode;
  const char* name;
  const char* in;
  const char* out;
  int from;
  int to;
  uint32_t optional;
  const char* allowed; // fields of the qpc
};

const Transition kTransitions[] = {
    {kRst2Init, "RST2INIT_QP", "rst2init_qp_in", "rst2init_qp_out", kRst, kInit, 0,
     "st pm_state primary_address_path rre rwe rae atomic_mode"},
    {kInit2Init, "INIT2INIT_QP", "init2init_qp_in", "init2init_qp_out", kInit, kInit,
     kRights | kPkeyIndex | kPriPort | kLag, "st pm_state primary_address_path rre rwe rae atomic_mode"},
    {kInit2Rtr, "INIT2RTR_QP", "init2rtr_qp_in", "init2rtr_qp_out", kInit, kRtr, kAltPath | kRights | kPkeyIndex | kLag,
     "st pm_state mtu log_msg_max remote_qpn primary_address_path log_rra_max atomic_mode rre rwe rae min_rnr_nak "
     "next_rcv_psn log_ack_req_freq"},
    {kRtr2Rts, "RTR2RTS_QP", "rtr2rts_qp_in", "rtr2rts_qp_out", kRtr, kRts, kAltPath | kRights | kPmState | kRnrTimeout,
     "st pm_state primary_address_path log_ack_req_freq log_sra_max retry_count rnr_retry next_send_psn atomic_mode "
     "rre rwe rae "
     "min_rnr_nak"},
    {kRts2Rts, "RTS2RTS_QP", "rts2rts_qp_in", "rts2rts_qp_out", kRts, kRts, kAltPath | kRights | kPmState | kRnrTimeout,
     "st pm_state primary_address_path atomic_mode rre rwe rae min_rnr_nak"},
};

const char* state_name(int64_t state) {
  return state == kRst ? "RST" : state == kInit ? "INIT" : state == kRtr ? "RTR" : state == kRts ? "RTS" : "ERR";
}

// What the firmware takes of this mailbox, into the queue pair's context.
void take(Obj* qp, const View& qpc, const char* names) {
  const View own("qpc", qp->context.data());
  std::istringstream in(names);
  for (std::string name; in >> name;) own.set(name.c_str(), qpc.get(name.c_str()));
}

void take_path(Obj* qp, const View& path, const char* names) {
  const View own = View("qpc", qp->context.data()).inside("primary_address_path", "ads");
  std::istringstream in(names);
  for (std::string name; in >> name;) own.set(name.c_str(), path.get(name.c_str()));
}

void take_rights(Obj* qp, const View& qpc, uint32_t mask) {
  const View own("qpc", qp->context.data());
  if ((mask & kRre) != 0) own.set("rre", qpc.get("rre"));
  if ((mask & kRwe) != 0) own.set("rwe", qpc.get("rwe"));
  if ((mask & kRae) != 0) own.set("rae", qpc.get("rae"));
}

uint64_t half(const uint8_t* raw) {
  uint64_t v;
  memcpy(&v, raw, 8);
  return __builtin_bswap64(v);
}

int to_init(Command& c, Obj* qp, const View& qpc) {
  const View path = qpc.inside("primary_address_path", "ads");
  if (qpc.get("pm_state") != 3) return c.refuse(kBadParam, "pm_state must be 3, migrated");
  const uint64_t port = path.get("vhca_port_num");
  if (port == 0 || port > static_cast<uint64_t>(Machine::get().cap("cmd_hca_cap", "num_ports")))
    return c.refuse(kBadParam, "vhca_port_num %llu is no port", static_cast<unsigned long long>(port));
  if (path.get("pkey_index") >= 128) return c.refuse(kBadParam, "pkey_index is over the table's 128");
  take(qp, qpc, "pm_state atomic_mode");
  take_rights(qp, qpc, kRights);
  take_path(qp, path, "vhca_port_num pkey_index");
  return 0;
}

int check_path(Command& c, const Obj* qp, const View& path) {
  const Machine& m = Machine::get();
  const uint64_t rmac = path.get("rmac_47_32") << 32 | path.get("rmac_31_0");
  const uint8_t* rgid = path.at("rgid_rip");
  uint8_t own[16];
  const bool grh = m.ethernet() || path.get("grh") != 0;
  const bool no_rgid = half(rgid) == 0 && half(rgid + 8) == 0;
  if (grh) {
    const auto index = static_cast<int64_t>(path.get("src_addr_index"));
    if (index >= m.cap("roce_cap", "roce_address_table_size"))
      return c.refuse(kBadParam, "src_addr_index %lld is over the GID table's end", static_cast<long long>(index));
    if (!gid(static_cast<int>(qp->words[MLX5_QP_DEVICE]), static_cast<int>(index), own))
      return c.refuse(kBadParam, "src_addr_index %lld: that GID is empty", static_cast<long long>(index));
    if (no_rgid) return c.refuse(kBadParam, "rgid_rip is missing");
    if (path.get("hop_limit") == 0) return c.refuse(kBadParam, "hop_limit is 0");
  }
  if (m.ethernet()) {
    if (rmac == 0) return c.refuse(kBadParam, "rmac is missing, which RoCE needs");
    if (path.get("rlid") != 0) return c.refuse(kBadParam, "rlid on RoCE");
  } else {
    if (rmac != 0) return c.refuse(kBadParam, "rmac on InfiniBand");
    if (path.get("rlid") == 0 && !grh) return c.refuse(kBadParam, "rlid is missing, which InfiniBand needs");
  }
  return 0;
}

int to_rtr(Command& c, Obj* qp, const View& qpc, uint32_t mask) {
  const Machine& m = Machine::get();
  const View path = qpc.inside("primary_address_path", "ads");
  const auto mtu = static_cast<int64_t>(qpc.get("mtu"));
  if (mtu < 1 || mtu > m.on("port.mtu"))
    return c.refuse(kBadParam, "mtu %lld: the port has %lld", static_cast<long long>(mtu),
                    static_cast<long long>(m.on("port.mtu")));
  const auto message = static_cast<int64_t>(qpc.get("log_msg_max"));
  if (message < 1 || message > m.cap("cmd_hca_cap", "log_max_msg"))
    return c.refuse(kBadParam, "log_msg_max %lld: the limit is %lld", static_cast<long long>(message),
                    static_cast<long long>(m.cap("cmd_hca_cap", "log_max_msg")));
  if (static_cast<int64_t>(qpc.get("log_rra_max")) > m.cap("cmd_hca_cap", "log_max_ra_res_qp"))
    return c.refuse(kBadParam, "log_rra_max is over log_max_ra_res_qp");
  if (int e = check_path(c, qp, path)) return e;
  take(qp, qpc, "mtu log_msg_max remote_qpn log_rra_max min_rnr_nak next_rcv_psn");
  take_rights(qp, qpc, mask);
  if ((mask & kRae) != 0 || qpc.get("atomic_mode") != 0) take(qp, qpc, "atomic_mode"); // it belongs to rae
  const uint64_t port = View("qpc", qp->context.data()).inside("primary_address_path", "ads").get("vhca_port_num");
  const uint64_t pkey = View("qpc", qp->context.data()).inside("primary_address_path", "ads").get("pkey_index");
  if (path.get("vhca_port_num") != 0 && path.get("vhca_port_num") != port)
    return c.refuse(kBadParam, "vhca_port_num is another port's");
  const View own("qpc", qp->context.data());
  memcpy(own.at("primary_address_path"), path.at("."), bytes_of("ads"));
  own.inside("primary_address_path", "ads").set("vhca_port_num", port);
  if ((mask & kPkeyIndex) == 0) own.inside("primary_address_path", "ads").set("pkey_index", pkey);
  if (own.get("rae") != 0 && own.get("atomic_mode") == 0)
    return c.refuse(kBadParam, "rae is set, and atomic_mode is none");
  if (own.get("rae") != 0 && m.on("atomics") == 0)
    return c.refuse(kBadParam, "rae is set, and the device has no atomics");
  return 0;
}

int to_rts(Command& c, Obj* qp, const View& qpc, uint32_t mask) {
  if (static_cast<int64_t>(qpc.get("log_sra_max")) > Machine::get().cap("cmd_hca_cap", "log_max_ra_req_qp"))
    return c.refuse(kBadParam, "log_sra_max is over log_max_ra_req_qp");
  take(qp, qpc, "log_ack_req_freq log_sra_max retry_count rnr_retry next_send_psn");
  if ((mask & kRnrTimeout) != 0) take(qp, qpc, "min_rnr_nak");
  take_rights(qp, qpc, mask);
  take_path(qp, qpc.inside("primary_address_path", "ads"), "ack_timeout");
  return 0;
}

// The context in words, for whoever serves and for tests.
void describe(Obj* qp) {
  const View own("qpc", qp->context.data());
  const View path = own.inside("primary_address_path", "ads");
  int64_t* w = qp->words;
  const auto word = [&](int at, const View& view, const char* field) { w[at] = static_cast<int64_t>(view.get(field)); };
  word(MLX5_QP_REMOTE_NUMBER, own, "remote_qpn");
  word(MLX5_QP_SEND_PSN, own, "next_send_psn");
  word(MLX5_QP_RECEIVE_PSN, own, "next_rcv_psn");
  word(MLX5_QP_RETRIES, own, "retry_count");
  word(MLX5_QP_RNR_RETRIES, own, "rnr_retry");
  word(MLX5_QP_TIMEOUT, path, "ack_timeout");
  word(MLX5_QP_MIN_RNR, own, "min_rnr_nak");
  word(MLX5_QP_MTU, own, "mtu");
  word(MLX5_QP_MAX_READS, own, "log_sra_max");
  word(MLX5_QP_MAX_TARGET_READS, own, "log_rra_max");
  word(MLX5_QP_ATOMIC_MODE, own, "atomic_mode");
  word(MLX5_QP_PORT, path, "vhca_port_num");
  word(MLX5_QP_PKEY, path, "pkey_index");
  word(MLX5_QP_GID_INDEX, path, "src_addr_index");
  word(MLX5_QP_HOP_LIMIT, path, "hop_limit");
  word(MLX5_QP_REMOTE_LID, path, "rlid");
  word(MLX5_QP_GRH, path, "grh");
  const bool ethernet = Machine::get().ethernet();
  // RoCE v2: DSCP is the traffic class's upper six bits.
  w[MLX5_QP_TRAFFIC_CLASS] = static_cast<int64_t>(ethernet ? path.get("dscp") << 2 : path.get("tclass"));
  word(MLX5_QP_SERVICE_LEVEL, path, ethernet ? "eth_prio" : "sl");
  const uint8_t* rgid = path.at("rgid_rip");
  w[MLX5_QP_REMOTE_GID_HIGH] = static_cast<int64_t>(half(rgid));
  w[MLX5_QP_REMOTE_GID_LOW] = static_cast<int64_t>(half(rgid + 8));
  w[MLX5_QP_REMOTE_MAC] = static_cast<int64_t>(path.get("rmac_47_32") << 32 | path.get("rmac_31_0"));
  w[MLX5_QP_ACCESS] =
      static_cast<int64_t>((own.get("rwe") != 0 ? kRemoteWrite : 0) | (own.get("rre") != 0 ? kRemoteRead : 0) |
                           (own.get("rae") != 0 ? kRemoteAtomic : 0));
  uint8_t theirs[8] = {};
  int device = ethernet || w[MLX5_QP_REMOTE_LID] == 0 ? device_of_gid(rgid)
                                                      : device_of_lid(static_cast<uint32_t>(w[MLX5_QP_REMOTE_LID]));
  if (device >= 0 && ethernet) {
    mac(device, theirs);
    if (half(theirs) >> 16 != static_cast<uint64_t>(w[MLX5_QP_REMOTE_MAC])) device = -1; // frames go elsewhere
  }
  w[MLX5_QP_REMOTE_DEVICE] = device;
  w[MLX5_QP_UAR_USERS] = 0;
  for (const auto& each : Machine::get().objects)
    if (each.second->kind == Kind::kQp && each.second->words[MLX5_QP_DOORBELL] == w[MLX5_QP_DOORBELL])
      w[MLX5_QP_UAR_USERS]++;
}

int plain(Command& c, Obj* qp, const char* name, const char* in, const char* out, int event, int to) {
  if (int e = c.check(name, in, out, "opcode uid op_mod qpn")) return e;
  if (c.in(in).get("qpn") != qp->number) return Machine::get().refuse(EINVAL, "%s: qpn is another's", name);
  Machine::get().serve(event, qp);
  if (event == MLX5_STANDIN_STOP) qp->served = false;
  qp->words[MLX5_QP_STATE] = to;
  Machine::get().changed();
  return 0;
}

} // namespace

int modify_qp(Command& c, Obj* qp) {
  Machine& m = Machine::get();
  const uint32_t opcode = c.opcode();
  if (opcode == k2Err) return plain(c, qp, "2ERR_QP", "qp_2err_in", "qp_2err_out", MLX5_STANDIN_FAIL, kError);
  if (opcode == k2Rst) return plain(c, qp, "2RST_QP", "qp_2rst_in", "qp_2rst_out", MLX5_STANDIN_STOP, kRst);
  const Transition* t = nullptr;
  for (const Transition& each : kTransitions)
    if (each.opcode == opcode) t = &each;
  if (t == nullptr) return m.refuse(EINVAL, "mlx5dv_devx_obj_modify: opcode 0x%x is none of a queue pair's", opcode);
  if (int e = c.check(t->name, t->in, t->out, "opcode uid op_mod qpn opt_param_mask qpc")) return e;
  const View in = c.in(t->in);
  // The kernel's check, devx_is_valid_obj_id.
  if (in.get("qpn") != qp->number) return m.refuse(EINVAL, "%s: qpn is another's", t->name);
  const View qpc = in.inside("qpc", "qpc");
  if (int e = c.check_inside(qpc, t->allowed)) return e;
  if (int e = c.check_inside(
          qpc.inside("primary_address_path", "ads"),
          "pkey_index grh mlid rlid ack_timeout src_addr_index stat_rate hop_limit tclass flow_label rgid_rip "
          "dscp udp_sport eth_prio sl vhca_port_num rmac_47_32 rmac_31_0"))
    return e;
  const auto mask = static_cast<uint32_t>(in.get("opt_param_mask"));
  if ((mask & ~t->optional) != 0)
    return c.refuse(kBadParam, "opt_param_mask 0x%x: this transition takes 0x%x", mask, t->optional);
  if (qp->words[MLX5_QP_STATE] != t->from)
    return c.refuse(kBadQpState, "queue pair 0x%x is in %s, not %s", qp->number, state_name(qp->words[MLX5_QP_STATE]),
                    state_name(t->from));
  if (qpc.get("st") != 0) return c.refuse(kBadParam, "st is not the queue pair's");
  const std::vector<uint8_t> before = qp->context;
  int e = 0;
  switch (opcode) {
    case kRst2Init:
      e = to_init(c, qp, qpc);
      break;
    case kInit2Rtr:
      e = to_rtr(c, qp, qpc, mask);
      break;
    case kRtr2Rts:
      e = to_rts(c, qp, qpc, mask);
      break;
    default:
      take_rights(qp, qpc, mask);
      break;
  }
  if (e != 0) {
    qp->context = before;
    return e;
  }
  describe(qp);
  if (opcode == kRtr2Rts)
    if (const int refused = m.serve(MLX5_STANDIN_READY, qp)) {
      qp->context = before;
      return c.refuse(kBadSystemState, "whoever serves refuses it, errno %d", refused);
    }
  if (opcode == kRtr2Rts) qp->served = true;
  qp->words[MLX5_QP_STATE] = t->to;
  m.changed();
  return 0;
}

} // namespace standin
