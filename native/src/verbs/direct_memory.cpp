// SPDX-License-Identifier: Apache-2.0
// umems and UARs.
#include <unistd.h>

#include <cerrno>

#include "../cuda/gpu.h"
#include "direct.h"

namespace gpuverbs::verbs {

namespace {

constexpr uint32_t kAccessLocalWrite = 1; // IBV_ACCESS_LOCAL_WRITE
// The offsets of rings and CQEs in their umem are multiples of 64: with pages of 4 KiB a context can hold them, since it takes the
// offset in a page in 64ths of one (qpc.page_offset).
constexpr uint64_t kPages = 4096;

const char* umem_fix(int why) {
  switch (why) {
    case ENOMEM:
      return "raise the limit of locked memory: ulimit -l unlimited";
    case EPERM:
    case EACCES:
      return "DEVX needs privileges here: run as root, or give the container IPC_LOCK and /dev/infiniband";
    case EFAULT:
    case EINVAL:
      return "the NIC can't reach this memory";
    default:
      return "see dmesg";
  }
}

} // namespace

int32_t register_host(gv_verbs* v, uint64_t base, uint64_t bytes, Umem* out, gv_error* error) {
  DevxUmemIn in{reinterpret_cast<void*>(base), bytes, kAccessLocalWrite, kPages, 0, -1};
  errno = 0;
  out->handle = v->mlx5->UmemRegEx(v->context, &in);
  if (out->handle == nullptr) {
    const int why = failure(-1);
    return fail(error, -why, why, "the queue's %llu bytes can't be registered: %s",
                static_cast<unsigned long long>(bytes), umem_fix(why));
  }
  out->base = base;
  out->kind = GV_UMEM_HOST;
  return 0;
}

int32_t register_gpu(gv_verbs* v, gv_gpu* gpu, uint64_t base, uint64_t bytes, Umem* out, char* why, size_t room,
                     gv_error* error) {
  gv_error first{};
  int fd = -1;
  if (cuda::export_dmabuf(gpu, base, bytes, &fd, &first) == 0) {
    DevxUmemIn in{nullptr, bytes, kAccessLocalWrite, kPages, kUmemDmabuf, fd};
    errno = 0;
    out->handle = v->mlx5->UmemRegEx(v->context, &in);
    const int saved = errno;
    close(fd);
    if (out->handle != nullptr) {
      out->base = base;
      out->kind = GV_UMEM_DMABUF;
      return 0;
    }
    fail(&first, -saved, saved, "no umem of the dma-buf, errno %d: the kernel or libmlx5 has no dma-buf umems", saved);
  }
  DevxUmemIn in{reinterpret_cast<void*>(base), bytes, kAccessLocalWrite, kPages, 0, -1};
  errno = 0;
  out->handle = v->mlx5->UmemRegEx(v->context, &in);
  if (out->handle == nullptr) {
    const int last = failure(-1);
    return fail(error, -last, last,
                "the GPU's memory can't be given to the NIC: dma-buf: %.90s; nvidia-peermem: errno %d: load it, or"
                " use Placement.HOST",
                first.text, last);
  }
  snprintf(why, room, "no dma-buf (%.90s), nvidia-peermem instead", first.text);
  out->base = base;
  out->kind = GV_UMEM_PEER;
  return 0;
}

int release(gv_verbs* v, Umem* umem) {
  if (umem->handle == nullptr) return 0;
  errno = 0;
  const int r = v->mlx5->UmemDereg(umem->handle);
  if (r != 0) return failure(r);
  umem->handle = nullptr;
  return 0;
}

int32_t take_register(gv_verbs* v, Register* out, char* why, size_t room, gv_error* error) {
  static const struct {
    uint32_t flags;
    const char* name;
  } kKinds[] = {{kUarDedicated, "dedicated non-cached"}, {kUarNonCached, "non-cached"}, {kUarBlueFlame, "BlueFlame"}};
  size_t used = 0;
  for (uint32_t kind = GV_UAR_DEDICATED; kind <= GV_UAR_BLUEFLAME; kind++) {
    errno = 0;
    out->handle = v->mlx5->AllocUar(v->context, kKinds[kind].flags);
    if (out->handle != nullptr) {
      out->kind = kind;
      return 0;
    }
    const int n =
        snprintf(why + used, room - used, "%sno %s UAR (errno %d)", used == 0 ? "" : ", ", kKinds[kind].name, errno);
    used = n > 0 && used + static_cast<size_t>(n) < room ? used + static_cast<size_t>(n) : room - 1;
  }
  return fail(error, -EOPNOTSUPP, errno,
              "the NIC gives no doorbell register: %.120s; UARs need privileges in containers", why);
}

} // namespace gpuverbs::verbs

extern "C" int32_t gv_verbs_register_gpu(gv_verbs* v, gv_gpu* gpu, uint64_t address, uint64_t length, uint32_t access,
                                         gv_verbs_region* out, gv_error* error) {
  using namespace gpuverbs;
  gv_error first{};
  int32_t code = -ENOSYS;
  if (v->mlx5 == nullptr || v->mlx5->RegDmabufMr == nullptr) {
    fail(&first, code, 0, "%s", v->mlx5 == nullptr ? "only tried on a ConnectX" : "libibverbs is older than that");
  } else {
    // A dma-buf is made of whole pages.
    const uint64_t base = address & ~(verbs::kPages - 1);
    const uint64_t end = (address + length + verbs::kPages - 1) & ~(verbs::kPages - 1);
    int fd = -1;
    code = cuda::export_dmabuf(gpu, base, end - base, &fd, &first);
    if (code == 0) {
      errno = 0;
      verbs::Mr* mr = v->mlx5->RegDmabufMr(v->pd, address - base, length, address, fd, static_cast<int>(access));
      const int why = errno;
      close(fd);
      if (mr != nullptr) {
        v->regions.fetch_add(1);
        *out = gv_verbs_region{reinterpret_cast<uint64_t>(mr), mr->lkey, mr->rkey};
        return 0;
      }
      fail(&first, -why, why, "ibv_reg_dmabuf_mr: errno %d", why);
    }
  }
  code = gv_verbs_register(v, address, length, access, out, error);
  if (code == 0) return 0;
  return fail(error, code, -code,
              "%llu bytes of the GPU can't be registered: no dma-buf (%.100s), and without nvidia-peermem nothing else"
              " (errno %d): load it, or raise ulimit -l",
              static_cast<unsigned long long>(length), first.text, -code);
}
