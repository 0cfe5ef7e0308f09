// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace standin {

const char* const kSymbols[] = {
    "ibv_get_device_list",
    "ibv_open_device",
    "ibv_close_device",
    "ibv_query_device",
    "ibv_query_port",
    "ibv_query_gid",
    "ibv_alloc_pd",
    "ibv_dealloc_pd",
    "ibv_reg_mr",
    "ibv_reg_mr_iova2",
    "ibv_reg_dmabuf_mr",
    "ibv_dereg_mr",
    "ibv_create_ah",
    "ibv_destroy_ah",
    "ibv_create_cq",
    "ibv_destroy_cq",
    "ibv_create_qp",
    "ibv_modify_qp",
    "ibv_destroy_qp",
    "ibv_get_async_event",
    "mlx5dv_open_device",
    "mlx5dv_init_obj",
    "mlx5dv_devx_general_cmd",
    "mlx5dv_devx_query_eqn",
    "mlx5dv_devx_obj_create",
    "mlx5dv_devx_obj_modify",
    "mlx5dv_devx_obj_modify/2ERR",
    "mlx5dv_devx_obj_query",
    "mlx5dv_devx_obj_destroy",
    "mlx5dv_devx_umem_reg",
    "mlx5dv_devx_umem_reg_ex",
    "mlx5dv_devx_umem_dereg",
    "mlx5dv_devx_alloc_uar",
    "mlx5dv_devx_create_event_channel",
    "mlx5dv_devx_subscribe_devx_event",
    "mlx5dv_devx_get_event",
};
const size_t kSymbolCount = sizeof kSymbols / sizeof kSymbols[0];

namespace {

// Some of a ConnectX-6's capabilities: the ones that matter to RC queue pairs.
const std::map<std::string, int64_t> kCaps = {
    {"cmd_hca_cap.log_max_qp_sz", 15},
    {"cmd_hca_cap.log_max_qp", 18},
    {"cmd_hca_cap.log_max_cq_sz", 22},
    {"cmd_hca_cap.log_max_cq", 24},
    {"cmd_hca_cap.log_max_ra_req_qp", 4},
    {"cmd_hca_cap.log_max_ra_res_qp", 4},
    {"cmd_hca_cap.num_ports", 1},
    {"cmd_hca_cap.log_max_msg", 30},
    {"cmd_hca_cap.cqe_version", 1},
    {"cmd_hca_cap.compact_address_vector", 1},
    {"cmd_hca_cap.roce", 1},
    {"cmd_hca_cap.atomic", 1},
    {"cmd_hca_cap.cq_oi", 1},
    {"cmd_hca_cap.rc", 1},
    {"cmd_hca_cap.uar_4k", 1},
    {"cmd_hca_cap.log_pg_sz", 12},
    {"cmd_hca_cap.bf", 1},
    {"cmd_hca_cap.log_bf_reg_size", 9},
    {"cmd_hca_cap.max_wqe_sz_sq", 1024},
    {"cmd_hca_cap.max_wqe_sz_rq", 512},
    {"cmd_hca_cap.log_max_uctx", 12},
    {"cmd_hca_cap.log_max_umem", 18},
    {"cmd_hca_cap.uctx_cap", 3},
    {"atomic_caps.supported_atomic_req_8B_endianness_mode_1", 1},
    {"atomic_caps.atomic_operations", 0xf},
    {"atomic_caps.atomic_size_qp", 0x1f8},
    {"roce_cap.roce_version", 5},
    {"roce_cap.r_roce_dest_udp_port", 4791},
    {"roce_cap.r_roce_min_src_udp_port", 0xc000},
    {"roce_cap.r_roce_max_src_udp_port", 0xffff},
    {"roce_cap.roce_address_table_size", 256},
};

} // namespace

Machine& Machine::get() {
  static auto* machine = new Machine(); // never destroyed: threads of the process under test may outlive main
  return *machine;
}

Machine::Machine() {
  for (int i = 0; i < kMaxDevices; i++) {
    IbvDevice& d = devices[i];
    memset(&d, 0, sizeof d);
    d.node_type = 1;      // IBV_NODE_CA
    d.transport_type = 0; // IBV_TRANSPORT_IB
    snprintf(d.name, sizeof d.name, "mlx5_%d", i);
    snprintf(d.dev_name, sizeof d.dev_name, "uverbs%d", i);
    snprintf(d.dev_path, sizeof d.dev_path, "/sys/class/infiniband_verbs/uverbs%d", i);
    snprintf(d.ibdev_path, sizeof d.ibdev_path, "/sys/class/infiniband/mlx5_%d", i);
  }
  defaults();
}

void Machine::defaults() {
  switches_ = {{"devices", 1},       {"uverbs", 0},        {"devx", 1},     {"mlx5", 1},
               {"uar.dedicated", 1}, {"uar.nc", 1},        {"uar.bf", 1},   {"port.state", kPortActive},
               {"port.mtu", 5},      {"port.ethernet", 1}, {"port.lid", 7}, {"gids", kGids},
               {"atomics", 1},       {"dmabuf", 1},        {"memlock", -1}, {"peermem", 1},
               {"old_kernel", 0},    {"contiguous", 1}};
  caps_ = kCaps;
}

int64_t Machine::on(const char* name) const {
  const auto at = switches_.find(name);
  if (at == switches_.end()) {
    fprintf(stderr, "mlx5 stand-in: no switch %s\n", name);
    abort();
  }
  return at->second;
}

bool Machine::set(const std::string& name, int64_t value) {
  if (name.rfind("cap.", 0) == 0) {
    const std::string field = name.substr(4);
    const size_t dot = field.find('.');
    if (dot == std::string::npos || !has_place(field.substr(0, dot).c_str(), field.substr(dot + 1).c_str()))
      return false;
    caps_[field] = value;
    return true;
  }
  const auto at = switches_.find(name);
  if (at == switches_.end()) return false;
  at->second = value;
  return true;
}

int64_t Machine::cap(const char* structure, const char* field) const {
  const auto at = caps_.find(std::string(structure) + "." + field);
  return at == caps_.end() ? 0 : at->second;
}

bool Machine::fault(const char* symbol, int* error) {
  all_calls_++;
  calls_[symbol]++;
  if (fault_after_ == 0 || (!fault_symbol_.empty() && fault_symbol_ != symbol)) return false;
  bool can_fail = false; // what returns nothing does not count as a call that could fail
  for (size_t i = 0; i < kSymbolCount; i++) can_fail |= strcmp(kSymbols[i], symbol) == 0;
  if (!can_fail || --fault_after_ != 0) return false;
  faults_++;
  *error = fault_error_;
  return true;
}

bool Machine::arm(const std::string& symbol, int64_t nth, int error) {
  bool known = symbol.empty();
  for (size_t i = 0; i < kSymbolCount; i++) known |= symbol == kSymbols[i];
  if (!known || nth < 0 || (nth > 0 && error <= 0)) return false;
  fault_symbol_ = symbol;
  fault_after_ = nth;
  fault_error_ = error;
  return true;
}

int64_t Machine::calls(const std::string& symbol) const {
  if (symbol.empty()) return all_calls_;
  const auto at = calls_.find(symbol);
  return at == calls_.end() ? 0 : at->second;
}

int Machine::refuse(int error, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (said_.size() == 100) said_.pop_front();
  said_.emplace_back(text);
  refusals_++;
  errno = error;
  return error;
}

std::string Machine::said() const {
  std::string all;
  for (const std::string& each : said_) all += each + "\n";
  return all;
}

void Machine::changed() {
  generation_++;
  change_.notify_all();
}

bool Machine::wait(std::unique_lock<std::recursive_mutex>& held, int64_t seen, int64_t milliseconds) {
  return change_.wait_for(held, std::chrono::milliseconds(milliseconds), [&] { return generation_ != seen; });
}

int64_t Machine::live() const {
  return static_cast<int64_t>(contexts.size() + pds.size() + mrs.size() + ahs.size() + umems.size() + uars.size() +
                              objects.size() + channels.size() + verbs_cqs.size() + verbs_qps.size() + lists.size());
}

bool Machine::reset() {
  if (live() != 0) return false;
  defaults();
  calls_.clear();
  said_.clear();
  all_calls_ = fault_after_ = refusals_ = faults_ = abandoned = 0;
  changed();
  return true;
}

void Machine::drop() {
  for (const auto& each : objects) serve(MLX5_STANDIN_STOP, each.second.get());
  subscriptions.clear();
  objects.clear();
  uars.clear();
  umems.clear();
  channels.clear();
  if (server != nullptr)
    for (const auto& each : mrs) {
      const int64_t words[MLX5_MR_WORDS] = {each.second->pub.lkey};
      server(MLX5_STANDIN_MR_GONE, words, nullptr, nullptr);
    }
  mrs.clear();
  ahs.clear();
  pds.clear();
  verbs_qps.clear();
  verbs_cqs.clear();
  lists.clear();
  for (auto& each : contexts) dropped_.push_back(std::move(each.second));
  contexts.clear();
  changed();
}

Obj* Machine::object(Kind kind, uint32_t number) const {
  for (const auto& each : objects)
    if (each.second->kind == kind && each.second->number == number) return each.second.get();
  return nullptr;
}

Uar* Machine::uar(uint32_t page_id, const Ctx* ctx) const {
  for (const auto& each : uars)
    if (each.second->pub.page_id == page_id && each.second->ctx == ctx) return each.second.get();
  return nullptr;
}

Umem* Machine::umem(uint32_t id, const Ctx* ctx) const {
  for (const auto& each : umems)
    if (each.second->pub.umem_id == id && each.second->ctx == ctx) return each.second.get();
  return nullptr;
}

Pd* Machine::pd(uint32_t pdn, const Ctx* ctx) const {
  for (const auto& each : pds)
    if (each.second->pdn == pdn && each.second->pub.context == &ctx->pub) return each.second.get();
  return nullptr;
}

Ctx* Machine::context(const void* pub) const {
  const auto at = contexts.find(pub);
  return at == contexts.end() ? nullptr : at->second.get();
}

uint64_t Machine::locked() const {
  uint64_t bytes = 0;
  for (const auto& each : mrs) bytes += each.second->pub.length;
  for (const auto& each : umems) bytes += each.second->bytes;
  return bytes;
}

int Machine::serve(int event, const Obj* qp) {
  if (server == nullptr || (event != MLX5_STANDIN_READY && !qp->served)) return 0;
  const Obj* send = object(Kind::kCq, static_cast<uint32_t>(qp->words[MLX5_QP_SEND_CQ]));
  const Obj* receive = object(Kind::kCq, static_cast<uint32_t>(qp->words[MLX5_QP_RECEIVE_CQ]));
  return server(event, qp->words, send == nullptr ? nullptr : send->words,
                receive == nullptr ? nullptr : receive->words);
}

std::nullptr_t Call::null() const {
  errno = error_;
  return nullptr;
}

int Call::minus_one() const {
  errno = error_;
  return -1;
}

int Call::error() const {
  errno = error_;
  return error_;
}

} // namespace standin
