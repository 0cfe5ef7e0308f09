// SPDX-License-Identifier: Apache-2.0
// libibverbs' calls about devices, ports, protection domains and address handles.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "machine.h"

namespace standin {

namespace {

uint64_t big(uint64_t v) { return __builtin_bswap64(v); }

uint64_t guid(int device) { return 0x0c42a10300a0ull << 16 | static_cast<uint64_t>(device + 1); }

int refuse_data_path() {
  return Machine::get().refuse(EOPNOTSUPP, "the stand-in moves nothing for ibv_post and ibv_poll");
}

} // namespace

void mac(int device, uint8_t* six) {
  const uint8_t bytes[6] = {0x0c, 0x42, 0xa1, 0x00, 0x00, static_cast<uint8_t>(0xa0 + device)};
  memcpy(six, bytes, 6);
}

bool gid(int device, int index, uint8_t* raw) {
  const Machine& m = Machine::get();
  memset(raw, 0, 16);
  if (index < 0 || index >= kGids || index >= m.on("gids")) return false;
  if (!m.ethernet()) {
    if (index > 0) return false;
    const uint64_t prefix = big(0xfe80ull << 48), id = big(guid(device));
    memcpy(raw, &prefix, 8);
    memcpy(raw + 8, &id, 8);
    return true;
  }
  if (index < 2) {
    raw[0] = 0xfe;
    raw[1] = 0x80;
    uint8_t six[6];
    mac(device, six);
    const uint8_t eui[8] = {static_cast<uint8_t>(six[0] ^ 2), six[1], six[2], 0xff, 0xfe, six[3], six[4], six[5]};
    memcpy(raw + 8, eui, 8);
  } else {
    raw[10] = raw[11] = 0xff;
    const uint8_t ip[4] = {10, 77, 0, static_cast<uint8_t>(device + 1)};
    memcpy(raw + 12, ip, 4);
  }
  return true;
}

int device_of_gid(const uint8_t* raw) {
  uint8_t each[16];
  for (int d = 0; d < Machine::get().on("devices"); d++)
    for (int i = 0; i < kGids; i++)
      if (gid(d, i, each) && memcmp(each, raw, 16) == 0) return d;
  return -1;
}

int device_of_lid(uint32_t lid) {
  const Machine& m = Machine::get();
  const int64_t first = m.on("port.lid");
  const int64_t d = static_cast<int64_t>(lid) - first;
  return lid != 0 && d >= 0 && d < m.on("devices") ? static_cast<int>(d) : -1;
}

// Opens for both libraries; mlx5dv_open_device asks for DEVX.
IbvContext* open_context(const IbvDevice* device, bool must_devx) {
  Machine& m = Machine::get();
  const int index = device == &m.devices[0] ? 0 : device == &m.devices[1] ? 1 : -1;
  if (index < 0 || index >= m.on("devices")) {
    m.refuse(ENODEV, "ibv_open_device: no such device");
    return nullptr;
  }
  if (m.on("uverbs") == 3) {
    m.refuse(EACCES, "ibv_open_device: /dev/infiniband/uverbs%d can't be opened", index);
    return nullptr;
  }
  if (must_devx && m.on("devx") == 0) {
    m.refuse(EINVAL, "mlx5dv_open_device: the kernel or the firmware gives no DEVX context");
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  auto ctx = std::make_unique<Ctx>();
  ctx->device = index;
  ctx->devx = m.on("devx") != 0; // ibv_open_device too tries with it first
  ctx->pub.device = &m.devices[index];
  ctx->pub.ops[11] = reinterpret_cast<void*>(&refuse_data_path);
  ctx->pub.ops[25] = reinterpret_cast<void*>(&refuse_data_path);
  ctx->pub.ops[26] = reinterpret_cast<void*>(&refuse_data_path);
  ctx->pub.cmd_fd = -1;
  ctx->pub.async_fd = ends[0];
  ctx->pub.num_comp_vectors = 4;
  ctx->event_write = ends[1];
  pthread_mutex_init(&ctx->pub.mutex, nullptr);
  IbvContext* pub = &ctx->pub;
  m.contexts[pub] = std::move(ctx);
  m.changed();
  return pub;
}

} // namespace standin

using namespace standin;

STANDIN_API IbvDevice** ibv_get_device_list(int* count) {
  Call call("ibv_get_device_list");
  if (count != nullptr) *count = 0;
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  if (m.on("uverbs") == 1) {
    m.refuse(ENOSYS, "ibv_get_device_list: no RDMA in the kernel");
    return nullptr;
  }
  const int n = m.on("uverbs") == 2 ? 0 : static_cast<int>(m.on("devices"));
  auto** list = static_cast<IbvDevice**>(calloc(static_cast<size_t>(n) + 1, sizeof(IbvDevice*)));
  if (list == nullptr) return nullptr;
  for (int i = 0; i < n; i++) list[i] = &m.devices[i];
  if (count != nullptr) *count = n;
  m.lists.insert(list);
  return list;
}

STANDIN_API void ibv_free_device_list(IbvDevice** list) {
  Call call("ibv_free_device_list");
  if (Machine::get().lists.erase(list) == 0)
    Machine::get().refuse(EINVAL, "ibv_free_device_list: not a list of ibv_get_device_list's, or freed before");
  else
    free(list);
}

STANDIN_API const char* ibv_get_device_name(const IbvDevice* device) { return device->name; }

STANDIN_API IbvContext* ibv_open_device(IbvDevice* device) {
  Call call("ibv_open_device");
  return call.failed() ? call.null() : open_context(device, false);
}

STANDIN_API int ibv_close_device(IbvContext* context) {
  Call call("ibv_close_device");
  if (call.failed()) return call.minus_one();
  Machine& m = Machine::get();
  Ctx* ctx = m.context(context);
  if (ctx == nullptr) return m.refuse(EINVAL, "ibv_close_device: no such context"), -1;
  // The kernel destroys what is left, queue pairs first. Whoever closes so has lost track, and is told.
  const auto sweep = [&](auto& all, auto belongs, const char* what) {
    for (auto at = all.begin(); at != all.end();) {
      if (!belongs(*at->second)) {
        ++at;
        continue;
      }
      m.refuse(0, "ibv_close_device: %s was still alive", what);
      m.abandoned++;
      at = all.erase(at);
    }
  };
  for (const auto& each : m.objects)
    if (each.second->ctx == ctx && each.second->kind == Kind::kQp) m.serve(MLX5_STANDIN_STOP, each.second.get());
  const auto of_ctx = [&](const auto& o) { return o.ctx == ctx; };
  const auto of_pub = [&](const auto& o) { return o.pub.context == context; };
  sweep(m.objects, of_ctx, "a DEVX queue pair or CQ");
  sweep(m.uars, of_ctx, "a UAR");
  sweep(m.umems, of_ctx, "a umem");
  sweep(m.channels, of_ctx, "an event channel");
  for (const auto& each : m.mrs)
    if (of_pub(*each.second) && m.server != nullptr) {
      const int64_t words[MLX5_MR_WORDS] = {each.second->pub.lkey};
      m.server(MLX5_STANDIN_MR_GONE, words, nullptr, nullptr);
    }
  sweep(m.mrs, of_pub, "a memory region");
  sweep(m.ahs, of_pub, "an address handle");
  sweep(m.pds, of_pub, "a protection domain");
  sweep(
      m.verbs_qps, [&](const IbvQp& q) { return q.context == context; }, "a verbs queue pair");
  sweep(
      m.verbs_cqs, [&](const IbvCq& q) { return q.context == context; }, "a verbs CQ");
  close(ctx->event_write);
  close(context->async_fd);
  m.contexts.erase(context);
  m.changed();
  return 0;
}

STANDIN_API int ibv_query_device(IbvContext* context, IbvDeviceAttr* out) {
  Call call("ibv_query_device");
  if (call.failed()) return call.error();
  const Machine& m = Machine::get();
  const Ctx* ctx = m.context(context);
  memset(out, 0, sizeof *out);
  snprintf(out->fw_ver, sizeof out->fw_ver, "20.35.1012");
  out->node_guid = out->sys_image_guid = big(guid(ctx->device));
  out->max_mr_size = ~0ull;
  out->page_size_cap = 0xfffffffffffff000;
  out->vendor_id = 0x02c9;
  out->vendor_part_id = 4123;
  out->max_qp = 1 << 17;
  out->max_qp_wr = 1 << m.cap("cmd_hca_cap", "log_max_qp_sz");
  out->max_sge = out->max_sge_rd = 30;
  out->max_cq = 1 << 24;
  out->max_cqe = (1 << m.cap("cmd_hca_cap", "log_max_cq_sz")) - 1;
  out->max_mr = 1 << 24;
  out->max_pd = 1 << 24;
  out->max_qp_rd_atom = 1 << m.cap("cmd_hca_cap", "log_max_ra_res_qp");
  out->max_qp_init_rd_atom = 1 << m.cap("cmd_hca_cap", "log_max_ra_req_qp");
  out->atomic_cap = m.on("atomics") == 1 ? 1 : 0; // IBV_ATOMIC_HCA; the kernel counts host order only
  out->max_pkeys = 128;
  out->phys_port_cnt = 1;
  return 0;
}

STANDIN_API int ibv_query_port(IbvContext* context, uint8_t port, IbvPortAttr* out) {
  Call call("ibv_query_port");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  if (port != 1) return m.refuse(EINVAL, "ibv_query_port: port %u of 1", port);
  memset(out, 0, offsetof(IbvPortAttr, port_cap_flags2));
  out->state = static_cast<int>(m.on("port.state"));
  out->phys_state = static_cast<uint8_t>(m.on("port.state") == kPortDown ? 3 : 5);
  out->max_mtu = 5;
  out->active_mtu = static_cast<int>(m.on("port.mtu"));
  out->gid_tbl_len = static_cast<int>(m.cap("roce_cap", "roce_address_table_size"));
  out->max_msg_sz = 1u << m.cap("cmd_hca_cap", "log_max_msg");
  out->pkey_tbl_len = 1;
  out->link_layer = static_cast<uint8_t>(m.ethernet() ? kLinkEthernet : kLinkInfiniband);
  if (!m.ethernet())
    out->lid = static_cast<uint16_t>(m.on("port.lid") == 0 ? 0 : m.on("port.lid") + m.context(context)->device);
  out->active_width = 2;
  out->active_speed = 64;
  return 0;
}

STANDIN_API int ibv_query_gid(IbvContext* context, uint8_t port, int index, IbvGid* out) {
  Call call("ibv_query_gid");
  if (call.failed()) return call.minus_one();
  Machine& m = Machine::get();
  if (port != 1 || index < 0 || index >= m.cap("roce_cap", "roce_address_table_size"))
    return m.refuse(EINVAL, "ibv_query_gid: port %u, index %d", port, index), -1;
  gid(m.context(context)->device, index, out->raw); // an empty entry is all zero, and no error
  return 0;
}

STANDIN_API IbvPd* ibv_alloc_pd(IbvContext* context) {
  Call call("ibv_alloc_pd");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  auto pd = std::make_unique<Pd>();
  pd->pub.context = context;
  pd->pub.handle = pd->pdn = m.fresh_number();
  IbvPd* pub = &pd->pub;
  m.pds[pub] = std::move(pd);
  m.changed();
  return pub;
}

STANDIN_API int ibv_dealloc_pd(IbvPd* pub) {
  Call call("ibv_dealloc_pd");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  const auto at = m.pds.find(pub);
  if (at == m.pds.end()) return m.refuse(EINVAL, "ibv_dealloc_pd: no such protection domain");
  for (const auto& each : m.mrs)
    if (each.second->pub.pd == pub) return m.refuse(EBUSY, "ibv_dealloc_pd: a memory region uses it");
  for (const auto& each : m.ahs)
    if (each.second->pub.pd == pub) return m.refuse(EBUSY, "ibv_dealloc_pd: an address handle uses it");
  for (const auto& each : m.objects)
    if (each.second->kind == Kind::kQp && each.second->pd == at->second->pdn)
      return m.refuse(EBUSY, "ibv_dealloc_pd: queue pair 0x%x uses it", each.second->number);
  m.pds.erase(at);
  m.changed();
  return 0;
}

STANDIN_API IbvAh* ibv_create_ah(IbvPd* pd, IbvAhAttr* attr) {
  Call call("ibv_create_ah");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  const Ctx* ctx = m.context(pd->context);
  uint8_t own[16];
  const int to = attr->is_global != 0 ? device_of_gid(attr->dgid.raw) : device_of_lid(attr->dlid);
  const auto refused = [&](int error, const char* text) {
    m.refuse(error, "ibv_create_ah: %s", text);
    return static_cast<IbvAh*>(nullptr);
  };
  if (attr->port_num != 1) return refused(EINVAL, "the port must be 1");
  if (m.ethernet() && attr->is_global == 0) return refused(EINVAL, "RoCE needs a global route");
  if (attr->is_global != 0 && !gid(ctx->device, attr->sgid_index, own)) return refused(EINVAL, "that GID is empty");
  if (m.ethernet() && to < 0) return refused(EHOSTUNREACH, "nobody answers for that GID");
  auto ah = std::make_unique<Ah>();
  ah->pub.context = pd->context;
  ah->pub.pd = pd;
  if (m.ethernet()) mac(to, ah->av.rmac);
  ah->av.tclass = attr->traffic_class;
  ah->av.hop_limit = attr->hop_limit;
  ah->av.rlid = static_cast<uint16_t>(attr->dlid << 8 | attr->dlid >> 8);
  memcpy(ah->av.rgid, attr->dgid.raw, 16);
  IbvAh* pub = &ah->pub;
  m.ahs[pub] = std::move(ah);
  m.changed();
  return pub;
}

STANDIN_API int ibv_destroy_ah(IbvAh* ah) {
  Call call("ibv_destroy_ah");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  if (m.ahs.erase(ah) == 0) return m.refuse(EINVAL, "ibv_destroy_ah: no such address handle");
  m.changed();
  return 0;
}
