// SPDX-License-Identifier: Apache-2.0
// libibverbs' memory regions.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "machine.h"

namespace standin {

namespace {

// A function of test/fake_cuda.cpp, if the process under test has loaded that; it stays loaded.
template <typename F>
F fake_cuda(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<F>(dlsym(driver, name));
}

// Memory of that driver's GPU, which the kernel reaches by nvidia-peermem.
bool out_of_reach(uint64_t address) {
  if (Machine::get().on("peermem") != 0) return false;
  auto* is_device = fake_cuda<int (*)(uint64_t)>("fake_is_device");
  return is_device != nullptr && is_device(address) == 1;
}

} // namespace

uint64_t dmabuf_memory(int fd) {
  auto* memory = fake_cuda<uint64_t (*)(int)>("fake_dmabuf");
  return memory == nullptr ? 0 : memory(fd);
}

bool mapped(uint64_t address, uint64_t bytes, bool writable) {
  if (out_of_reach(address)) return false;
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  uint64_t at = address;
  const uint64_t end = address + bytes;
  char line[512];
  while (at < end && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long from, to;
    char rights[5];
    if (sscanf(line, "%llx-%llx %4s", &from, &to, rights) != 3) continue;
    if (at < from) break;
    if (at >= to) continue;
    if (rights[0] != 'r' || (writable && rights[1] != 'w')) break;
    at = to;
  }
  fclose(maps);
  return at >= end;
}

namespace {

// mlx5's lkey and rkey of a region are one number: index << 8 | variant.
uint32_t fresh_key() {
  static std::mt19937 random{std::random_device{}()};
  for (;;) {
    const uint32_t key = static_cast<uint32_t>(random());
    bool taken = key < 0x200 || key == 0xffffffff; // 0x100 is the invalid lkey
    for (const auto& each : Machine::get().mrs) taken |= each.second->pub.lkey == key;
    if (!taken) return key;
  }
}

IbvMr* make(const char* call, IbvPd* pd, uint64_t address, uint64_t bytes, int access, bool dmabuf) {
  Machine& m = Machine::get();
  auto mr = std::make_unique<Mr>();
  mr->pub.context = pd->context;
  mr->pub.pd = pd;
  mr->pub.addr = reinterpret_cast<void*>(address);
  mr->pub.length = bytes;
  mr->pub.lkey = mr->pub.rkey = fresh_key();
  mr->access = static_cast<unsigned>(access);
  mr->dmabuf = dmabuf;
  const int64_t words[MLX5_MR_WORDS] = {mr->pub.lkey, static_cast<int64_t>(address), static_cast<int64_t>(bytes),
                                        access & 0xf, dmabuf ? 1 : 0};
  if (m.server != nullptr)
    if (const int error = m.server(MLX5_STANDIN_MR, words, nullptr, nullptr)) {
      m.refuse(error, "%s: whoever serves refuses it", call);
      return nullptr;
    }
  IbvMr* pub = &mr->pub;
  m.mrs[pub] = std::move(mr);
  m.changed();
  return pub;
}

// The kernel's checks: ib_check_mr_access, ib_umem_get.
bool acceptable(const char* call, uint64_t address, uint64_t bytes, unsigned access, bool host) {
  Machine& m = Machine::get();
  if ((access & ~(kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kRelaxedOrdering)) != 0) {
    m.refuse(EINVAL, "%s: access 0x%x", call, access);
  } else if ((access & (kRemoteWrite | kRemoteAtomic)) != 0 && (access & kLocalWrite) == 0) {
    m.refuse(EINVAL, "%s: remote write or atomic without local write", call);
  } else if (bytes == 0 || address + bytes < address) {
    m.refuse(EINVAL, "%s: length %llu", call, static_cast<unsigned long long>(bytes));
  } else if (host && !mapped(address, bytes, (access & kLocalWrite) != 0)) {
    m.refuse(EFAULT, "%s: 0x%llx, %llu bytes, is not mapped so", call, static_cast<unsigned long long>(address),
             static_cast<unsigned long long>(bytes));
  } else if (m.on("memlock") >= 0 && m.locked() + bytes > static_cast<uint64_t>(m.on("memlock"))) {
    m.refuse(ENOMEM, "%s: the limit of locked memory", call);
  } else {
    return true;
  }
  return false;
}

} // namespace

} // namespace standin

using namespace standin;

STANDIN_API IbvMr* ibv_reg_mr(IbvPd* pd, void* address, size_t bytes, int access) {
  Call call("ibv_reg_mr");
  if (call.failed()) return call.null();
  const auto at = reinterpret_cast<uint64_t>(address);
  if (!acceptable("ibv_reg_mr", at, bytes, static_cast<unsigned>(access), true)) return nullptr;
  return make("ibv_reg_mr", pd, at, bytes, access, false);
}

STANDIN_API IbvMr* ibv_reg_mr_iova2(IbvPd* pd, void* address, size_t bytes, uint64_t iova, unsigned access) {
  Call call("ibv_reg_mr_iova2");
  if (call.failed()) return call.null();
  const auto at = reinterpret_cast<uint64_t>(address);
  if (!acceptable("ibv_reg_mr_iova2", at, bytes, access, true)) return nullptr;
  if (iova != at) {
    Machine::get().refuse(EOPNOTSUPP, "ibv_reg_mr_iova2: the stand-in knows no other iova than the address");
    return nullptr;
  }
  return make("ibv_reg_mr_iova2", pd, at, bytes, static_cast<int>(access), false);
}

STANDIN_API IbvMr* ibv_reg_dmabuf_mr(IbvPd* pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access) {
  Call call("ibv_reg_dmabuf_mr");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  if (m.on("dmabuf") == 0) {
    m.refuse(EOPNOTSUPP, "ibv_reg_dmabuf_mr: not in this kernel");
    return nullptr;
  }
  if (fcntl(fd, F_GETFD) < 0) {
    m.refuse(EBADF, "ibv_reg_dmabuf_mr: %d is no file descriptor", fd);
    return nullptr;
  }
  if ((offset & 4095) != (iova & 4095)) { // ib_uverbs: the offset in the page must be the iova's
    m.refuse(EINVAL, "ibv_reg_dmabuf_mr: offset 0x%llx and iova 0x%llx differ within a page",
             static_cast<unsigned long long>(offset), static_cast<unsigned long long>(iova));
    return nullptr;
  }
  const uint64_t memory = dmabuf_memory(fd);
  if (memory != 0 && memory + offset != iova) {
    m.refuse(EOPNOTSUPP, "ibv_reg_dmabuf_mr: the stand-in knows no other iova than the memory's address");
    return nullptr;
  }
  if (!acceptable("ibv_reg_dmabuf_mr", iova, bytes, static_cast<unsigned>(access), false)) return nullptr;
  return make("ibv_reg_dmabuf_mr", pd, iova, bytes, access, true);
}

STANDIN_API int ibv_dereg_mr(IbvMr* pub) {
  Call call("ibv_dereg_mr");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  const auto at = m.mrs.find(pub);
  if (at == m.mrs.end()) return m.refuse(EINVAL, "ibv_dereg_mr: no such memory region");
  const int64_t words[MLX5_MR_WORDS] = {pub->lkey, static_cast<int64_t>(reinterpret_cast<uint64_t>(pub->addr)),
                                        static_cast<int64_t>(pub->length)};
  if (m.server != nullptr) m.server(MLX5_STANDIN_MR_GONE, words, nullptr, nullptr);
  m.mrs.erase(at);
  m.changed();
  return 0;
}
