// SPDX-License-Identifier: Apache-2.0
// libmlx5.so.1: the DEVX calls. Their state is in libibverbs.so.1, with which this library is linked.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "command.h"
#include "devx.h"

namespace standin {

// The context, which must have been opened for DEVX: the kernel has no user id else and says EINVAL.
Ctx* devx(const char* call, IbvContext* context) {
  Machine& m = Machine::get();
  Ctx* ctx = m.context(context);
  if (ctx == nullptr || !ctx->devx) {
    m.refuse(EINVAL, "%s: %s", call, ctx == nullptr ? "no such context" : "the context has no DEVX");
    return nullptr;
  }
  return ctx;
}

Obj* object_of(const char* call, const void* pub) {
  Machine& m = Machine::get();
  const auto at = m.objects.find(pub);
  if (at != m.objects.end()) return at->second.get();
  m.refuse(EINVAL, "%s: no such object", call);
  return nullptr;
}

IbvContext* open_context(const IbvDevice* device, bool must_devx); // device.cpp

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRegister = 0x800; // MLX5_BF_OFFSET

// devx_umem_find_best_pgsize of Linux drivers/infiniband/hw/mlx5/devx.c, for memory that is as contiguous as its address is aligned.
uint64_t page_of(uint64_t address, uint64_t bytes, uint64_t bitmap) {
  if (Machine::get().on("contiguous") == 0) return (bitmap & kPage) != 0 ? kPage : 0;
  uint64_t most = kPage;
  while (most < bytes) most <<= 1;
  bitmap &= (most << 1) - 1;
  bitmap &= ~uint64_t{kPage - 1};
  if (bitmap == 0) return 0;
  uint64_t page = uint64_t{1} << (63 - __builtin_clzll(bitmap));
  while (page > kPage && (address % page != 0 || bytes % page != 0)) page /= 2;
  return page;
}

DvUmem* make_umem(const char* call, IbvContext* context, const DvUmemIn& in) {
  Machine& m = Machine::get();
  Ctx* ctx = devx(call, context);
  if (ctx == nullptr) return nullptr;
  auto address = reinterpret_cast<uint64_t>(in.addr);
  const bool dmabuf = (in.comp_mask & 1) != 0; // MLX5DV_UMEM_MASK_DMABUF
  const auto refused = [&](int error, const char* text) {
    m.refuse(error, "%s: %s", call, text);
    return static_cast<DvUmem*>(nullptr);
  };
  if ((in.comp_mask & ~uint64_t{1}) != 0) return refused(EOPNOTSUPP, "comp_mask has unknown bits");
  if ((in.access & ~(kLocalWrite | kRemoteWrite | kRemoteRead | kRelaxedOrdering)) != 0)
    return refused(EINVAL, "access");
  if ((in.access & kRemoteWrite) != 0 && (in.access & kLocalWrite) == 0)
    return refused(EINVAL, "remote write without local write");
  if (in.size == 0) return refused(EINVAL, "no bytes");
  if (dmabuf && m.on("dmabuf") == 0) return refused(EOPNOTSUPP, "no dma-buf in this kernel");
  if (dmabuf && fcntl(in.dmabuf_fd, F_GETFD) < 0) return refused(EBADF, "the dma-buf is no file descriptor");
  if (dmabuf) { // the address is the offset in it
    const uint64_t memory = dmabuf_memory(in.dmabuf_fd);
    if (memory == 0) return refused(EINVAL, "the dma-buf is none of test/fake_cuda.cpp's");
    address += memory;
  }
  if (!dmabuf && !mapped(address, in.size, (in.access & kLocalWrite) != 0))
    return refused(EFAULT, "the memory is not mapped so");
  if (m.on("memlock") >= 0 && m.locked() + in.size > static_cast<uint64_t>(m.on("memlock")))
    return refused(ENOMEM, "the limit of locked memory");
  const uint64_t page = page_of(address, in.size, in.pgsz_bitmap);
  if (page == 0) return refused(EINVAL, "no page size fits pgsz_bitmap");
  auto umem = std::make_unique<Umem>();
  umem->pub.umem_id = m.fresh_number();
  umem->ctx = ctx;
  umem->address = address;
  umem->bytes = in.size;
  umem->page = page;
  umem->writable = (in.access & kLocalWrite) != 0;
  DvUmem* pub = &umem->pub;
  m.umems[pub] = std::move(umem);
  m.changed();
  return pub;
}

} // namespace

} // namespace standin

using namespace standin;

STANDIN_API bool mlx5dv_is_supported(IbvDevice*) {
  Call call("mlx5dv_is_supported");
  return Machine::get().on("mlx5") != 0;
}

STANDIN_API IbvContext* mlx5dv_open_device(IbvDevice* device, DvContextAttr* attr) {
  Call call("mlx5dv_open_device");
  if (call.failed()) return call.null();
  if (attr != nullptr && (attr->comp_mask != 0 || (attr->flags & ~kContextDevx) != 0)) {
    Machine::get().refuse(EINVAL, "mlx5dv_open_device: flags 0x%x", attr->flags);
    return nullptr;
  }
  return open_context(device, attr != nullptr && attr->flags == kContextDevx);
}

STANDIN_API int mlx5dv_init_obj(DvObj* obj, uint64_t type) {
  Call call("mlx5dv_init_obj");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  if ((type & ~(kObjPd | kObjAh)) != 0)
    return m.refuse(EOPNOTSUPP, "mlx5dv_init_obj: type 0x%llx is not modelled", static_cast<unsigned long long>(type));
  if ((type & kObjPd) != 0) {
    const auto at = m.pds.find(obj->pd.in);
    if (at == m.pds.end()) return m.refuse(EINVAL, "mlx5dv_init_obj: no such protection domain");
    auto* out = static_cast<DvPd*>(obj->pd.out);
    out->pdn = at->second->pdn;
    out->comp_mask = 0;
  }
  if ((type & kObjAh) != 0) {
    const auto at = m.ahs.find(obj->ah.in);
    if (at == m.ahs.end()) return m.refuse(EINVAL, "mlx5dv_init_obj: no such address handle");
    auto* out = static_cast<DvAh*>(obj->ah.out);
    out->av = &at->second->av;
    out->comp_mask = 0;
  }
  return 0;
}

STANDIN_API int mlx5dv_devx_general_cmd(IbvContext* context, const void* in, size_t in_bytes, void* out,
                                        size_t out_bytes) {
  Call call("mlx5dv_devx_general_cmd");
  Ctx* ctx = devx("mlx5dv_devx_general_cmd", context);
  if (ctx == nullptr) return EINVAL;
  Command c(ctx, in, in_bytes, out, out_bytes);
  if (call.failed()) return c.spoil(call.error()), call.error();
  if (c.opcode() == kQueryHcaCap) return query_caps(c);
  return Machine::get().refuse(EINVAL, "mlx5dv_devx_general_cmd: opcode 0x%x is no general command that is modelled",
                               c.opcode());
}

STANDIN_API int mlx5dv_devx_query_eqn(IbvContext* context, uint32_t vector, uint32_t* eqn) {
  Call call("mlx5dv_devx_query_eqn");
  if (call.failed()) return call.error();
  if (devx("mlx5dv_devx_query_eqn", context) == nullptr) return EINVAL;
  if (vector >= 4) return Machine::get().refuse(ENOENT, "mlx5dv_devx_query_eqn: vector %u of 4", vector);
  *eqn = 16 + vector;
  return 0;
}

STANDIN_API Obj* mlx5dv_devx_obj_create(IbvContext* context, const void* in, size_t in_bytes, void* out,
                                        size_t out_bytes) {
  Call call("mlx5dv_devx_obj_create");
  Machine& m = Machine::get();
  Ctx* ctx = devx("mlx5dv_devx_obj_create", context);
  if (ctx == nullptr) return nullptr;
  Command c(ctx, in, in_bytes, out, out_bytes);
  if (call.failed()) return c.spoil(call.error()), call.null();
  auto object = std::make_unique<Obj>();
  object->ctx = ctx;
  object->number = m.fresh_number();
  object->kind = c.opcode() == kCreateQp ? Kind::kQp : Kind::kCq;
  int refused;
  if (c.opcode() == kCreateCq)
    refused = create_cq(c, object.get());
  else if (c.opcode() == kCreateQp)
    refused = create_qp(c, object.get());
  else
    refused = m.refuse(EINVAL, "mlx5dv_devx_obj_create: opcode 0x%x makes nothing that is modelled", c.opcode());
  if (refused != 0) return errno = refused, nullptr;
  Obj* made = object.get();
  m.objects[made] = std::move(object);
  m.changed();
  return made;
}

STANDIN_API int mlx5dv_devx_obj_modify(Obj* pub, const void* in, size_t in_bytes, void* out, size_t out_bytes) {
  // Who goes to ERROR may do so at any time, on a thread of its own: counted apart, so that the other commands' numbers stay.
  const bool to_error = in_bytes >= 8 && View("qp_2err_in", in).get("opcode") == k2Err;
  Call call(to_error ? "mlx5dv_devx_obj_modify/2ERR" : "mlx5dv_devx_obj_modify");
  Obj* object = object_of("mlx5dv_devx_obj_modify", pub);
  if (object == nullptr) return EINVAL;
  Command c(object->ctx, in, in_bytes, out, out_bytes);
  if (call.failed()) return c.spoil(call.error()), call.error();
  if (object->kind == Kind::kQp) return modify_qp(c, object);
  return Machine::get().refuse(EINVAL, "mlx5dv_devx_obj_modify: CQs are not modified here");
}

STANDIN_API int mlx5dv_devx_obj_query(Obj* pub, const void* in, size_t in_bytes, void* out, size_t out_bytes) {
  Call call("mlx5dv_devx_obj_query");
  Obj* object = object_of("mlx5dv_devx_obj_query", pub);
  if (object == nullptr) return EINVAL;
  Command c(object->ctx, in, in_bytes, out, out_bytes);
  if (call.failed()) return c.spoil(call.error()), call.error();
  const uint32_t opcode = object->kind == Kind::kQp ? kQueryQp : kQueryCq;
  if (c.opcode() != opcode)
    return Machine::get().refuse(EINVAL, "mlx5dv_devx_obj_query: opcode 0x%x, not 0x%x", c.opcode(), opcode);
  return object->kind == Kind::kQp ? query_qp(c, object) : query_cq(c, object);
}

STANDIN_API int mlx5dv_devx_obj_destroy(Obj* pub) {
  Call call("mlx5dv_devx_obj_destroy");
  Machine& m = Machine::get();
  Obj* object = object_of("mlx5dv_devx_obj_destroy", pub);
  if (object == nullptr) return EINVAL;
  if (call.failed()) return call.error();
  if (int e = destroy(object)) return e;
  m.subscriptions.erase(std::remove_if(m.subscriptions.begin(), m.subscriptions.end(),
                                       [&](const Subscription& s) { return s.object == object; }),
                        m.subscriptions.end());
  m.objects.erase(pub);
  m.changed();
  return 0;
}

STANDIN_API DvUmem* mlx5dv_devx_umem_reg(IbvContext* context, void* address, size_t bytes, uint32_t access) {
  Call call("mlx5dv_devx_umem_reg");
  if (call.failed()) return call.null();
  return make_umem("mlx5dv_devx_umem_reg", context, DvUmemIn{address, bytes, access, ~uint64_t{0}, 0, -1});
}

STANDIN_API DvUmem* mlx5dv_devx_umem_reg_ex(IbvContext* context, DvUmemIn* in) {
  Call call("mlx5dv_devx_umem_reg_ex");
  if (call.failed()) return call.null();
  return make_umem("mlx5dv_devx_umem_reg_ex", context, *in);
}

STANDIN_API int mlx5dv_devx_umem_dereg(DvUmem* umem) {
  Call call("mlx5dv_devx_umem_dereg");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  const auto at = m.umems.find(umem);
  if (at == m.umems.end()) return m.refuse(EINVAL, "mlx5dv_devx_umem_dereg: no such umem");
  for (const auto& each : m.objects)
    if (each.second->umems.count(umem->umem_id) != 0)
      return m.refuse(EREMOTEIO, "mlx5dv_devx_umem_dereg: object 0x%x uses it", each.second->number);
  m.umems.erase(at);
  m.changed();
  return 0;
}

STANDIN_API DvUar* mlx5dv_devx_alloc_uar(IbvContext* context, uint32_t flags) {
  Call call("mlx5dv_devx_alloc_uar");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  Ctx* ctx = devx("mlx5dv_devx_alloc_uar", context);
  if (ctx == nullptr) return nullptr;
  const int kind = flags == kUarBf ? 0 : flags == kUarNc ? 1 : flags == kUarNcDedicated ? 2 : -1;
  const char* const names[] = {"uar.bf", "uar.nc", "uar.dedicated"};
  if (kind < 0 || m.on(names[kind]) == 0) {
    m.refuse(EOPNOTSUPP, "mlx5dv_devx_alloc_uar: flags 0x%x", flags);
    return nullptr;
  }
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  auto uar = std::make_unique<Uar>();
  uar->ctx = ctx;
  uar->kind = kind;
  uar->pub.base_addr = page;
  uar->pub.reg_addr = static_cast<uint8_t*>(page) + kRegister;
  uar->pub.page_id = m.fresh_number();
  DvUar* pub = &uar->pub;
  m.uars[pub] = std::move(uar);
  m.changed();
  return pub;
}

STANDIN_API void mlx5dv_devx_free_uar(DvUar* uar) {
  Call call("mlx5dv_devx_free_uar");
  Machine& m = Machine::get();
  const auto at = m.uars.find(uar);
  if (at == m.uars.end()) {
    m.refuse(EINVAL, "mlx5dv_devx_free_uar: no such UAR");
    return;
  }
  for (const auto& each : m.objects)
    if (each.second->uar == uar->page_id && each.second->ctx == at->second->ctx) {
      // rdma-core takes no notice of the kernel's refusal, and the UAR stays.
      m.refuse(EBUSY, "mlx5dv_devx_free_uar: object 0x%x uses UAR 0x%x", each.second->number, uar->page_id);
      return;
    }
  munmap(uar->base_addr, kPage);
  m.uars.erase(at);
  m.changed();
}
