// SPDX-License-Identifier: Apache-2.0
// Queues whose submitters are kernels. The heads lie in GPU memory, where atomics are fast and, over PCIe, possible at all; ring,
// DBR and CQE there too (GV_PLACEMENT_GPU) or in pinned host memory (GV_PLACEMENT_HOST). The doorbell is in host memory in both.
#include "queue.h"

#include <cstddef>
#include <cstring>
#include <new>

#include "../layout.h"
#include "gpu.h"
#include "gpuverbs/completion.h"

using namespace gpuverbs;
using namespace gpuverbs::cuda;

namespace {

gv_gpu* gpu_of(const gv_qp* qp) { return reinterpret_cast<gv_gpu*>(qp->gpu); }

bool in_gpu_memory(const gv_qp* qp, uint64_t address) {
  return qp->block == 0 || address < qp->block || address >= qp->block + qp->block_bytes;
}

// Fills memory that lies on either side. On the GPU's by copies, which need no SM: a memset is a kernel, and would wait
// behind one that fills the GPU until this very queue is there.
int32_t fill(gv_qp* qp, uint64_t address, int byte, uint64_t bytes, gv_error* error) {
  if (address == 0) return 0;
  if (!in_gpu_memory(qp, address)) {
    std::memset(reinterpret_cast<void*>(address), byte, bytes);
    return 0;
  }
  unsigned char pattern[kPage];
  std::memset(pattern, byte, sizeof pattern);
  for (uint64_t at = 0; at < bytes; at += sizeof pattern) {
    const uint64_t n = bytes - at < sizeof pattern ? bytes - at : sizeof pattern;
    const uint64_t from = reinterpret_cast<uint64_t>(pattern);
    if (const int32_t code = gv_gpu_copy(gpu_of(qp), address + at, from, n, error)) return code;
  }
  return 0;
}

// With ring and CQE in GPU memory, which the CPU can't read, the host's gv_sq names a mirror of them.
bool mirrored(const gv_qp* qp) { return qp->cqe != 0 && qp->sq->cqe != qp->cqe; }

int32_t fetch(gv_qp* qp, void* to, uint64_t from, uint64_t bytes, gv_error* error) {
  return gv_gpu_copy(gpu_of(qp), reinterpret_cast<uint64_t>(to), from, bytes, error);
}

void advance(uint64_t* completed, uint64_t to) {
  uint64_t now = __atomic_load_n(completed, __ATOMIC_ACQUIRE);
  while (static_cast<int64_t>(to - now) > 0 &&
         !__atomic_compare_exchange_n(completed, &now, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
}

// Brings the mirror up to date for gv_poll: the CQE, and of the ring the one WQE whose size that asks for. `out` is the device's gv_sq.
int32_t refresh_mirror(gv_qp* qp, gv_sq* out, gv_error* error) {
  unsigned char cqe[GV_CQE_SIZE];
  if (const int32_t code = fetch(qp, cqe, qp->cqe, sizeof cqe, error)) return code;
  uint32_t tail = 0;
  std::memcpy(&tail, cqe + kCqeTail, sizeof tail);
  advance(&qp->sq->completed, out->completed); // the 16-bit counter is widened from there
  if (cqe_opcode(tail) != kCqeRequest && cqe_opcode(tail) != kCqeRequestError) return 0;
  const uint64_t done = __atomic_load_n(&qp->sq->completed, __ATOMIC_ACQUIRE);
  const auto ahead = static_cast<int16_t>(static_cast<uint16_t>(cqe_counter(tail) - static_cast<uint32_t>(done)));
  if (ahead < 0) return 0;
  const uint64_t index = done + static_cast<uint64_t>(ahead);
  const uint64_t slot = (index & (qp->depth - 1)) * GV_WQEBB;
  unsigned char control[16];
  if (const int32_t code = fetch(qp, control, qp->ring + slot, sizeof control, error)) return code;
  // A submitter that knows of the completion may have overwritten the WQE meanwhile; then its own count tells.
  if (const int32_t code = fetch(qp, out, qp->device_sq, sizeof *out, error)) return code;
  if (static_cast<int64_t>(out->completed - index) > 0) return 0;
  std::memcpy(reinterpret_cast<void*>(qp->sq->ring + slot), control, sizeof control);
  auto* mirror = reinterpret_cast<unsigned char*>(qp->sq->cqe);
  std::memcpy(mirror, cqe, kCqeTail);
  __atomic_store_n(reinterpret_cast<uint32_t*>(mirror + kCqeTail), tail, __ATOMIC_RELEASE);
  return 0;
}

} // namespace

int32_t gpuverbs::cuda::write_device_sq(gv_qp* qp, uint32_t state, gv_error* error) {
  gv_sq image = *qp->sq;
  clear_heads(&image);
  image.ring = qp->ring;
  image.cqe = qp->cqe;
  image.state = state;
  image.doorbells = image.full = image.stalls = image.scans = 0;
  return gv_gpu_copy(gpu_of(qp), qp->device_sq, reinterpret_cast<uint64_t>(&image), sizeof image, error);
}

int32_t gpuverbs::cuda::clear_device_queue(gv_qp* qp, gv_error* error) {
  int32_t code = fill(qp, qp->ring, 0, static_cast<uint64_t>(qp->depth) * GV_WQEBB, error);
  if (code == 0) code = fill(qp, qp->receive_ring, 0, static_cast<uint64_t>(qp->receive_depth) * GV_RQ_STRIDE, error);
  if (code == 0) code = fill(qp, qp->cqe, kInvalidCqe, GV_CQE_SIZE, error);
  if (code == 0) code = fill(qp, qp->dbr, 0, 8, error);
  if (code == 0) code = fill(qp, qp->doorbell, 0, 8, error);
  if (code == 0) code = fill(qp, qp->sq->bitmap, 0, qp->depth / 8, error);
  if (code != 0) return code;
  if (mirrored(qp)) std::memset(reinterpret_cast<void*>(qp->sq->cqe), kInvalidCqe, GV_CQE_SIZE);
  qp->receive_posted = 0;
  clear_heads(qp->sq);
  return write_device_sq(qp, GV_STATE_RESET, error);
}

void gpuverbs::cuda::mark_device_queue(gv_qp* qp, uint32_t state) {
  // A dead context can't be told; its kernels are gone with it.
  gv_gpu_copy(gpu_of(qp), qp->device_sq + offsetof(gv_sq, state), reinterpret_cast<uint64_t>(&state), sizeof state,
              nullptr);
}

void gpuverbs::cuda::destroy_device_queue(gv_qp* qp) {
  gv_gpu_free(gpu_of(qp), qp->device_block, GV_MEMORY_DEVICE, nullptr);
  gv_gpu_free(gpu_of(qp), qp->block, GV_MEMORY_PINNED, nullptr);
  delete qp->sq;
  delete qp;
}

extern "C" int32_t gv_gpu_qp_create(gv_gpu* gpu, const gv_qp_attr* a, int32_t placement, gv_qp** out, gv_error* error) {
  if (const int32_t bad = check_attributes(a, error)) return bad;
  if (placement != GV_PLACEMENT_GPU && placement != GV_PLACEMENT_HOST)
    return fail(error, -EINVAL, 0, "placement %d is not known", placement);
  if (a->fence_mode == GV_FENCE_DEVICE && placement != GV_PLACEMENT_GPU)
    return fail(error, -EINVAL, 0,
                "fence mode DEVICE orders nothing outside the GPU: use SYSTEM, or place the queue in GPU memory");
  if (placement == GV_PLACEMENT_GPU && a->receive_depth != 0)
    return fail(error, -EINVAL, 0, "a queue in GPU memory has no receive queue: use host placement to receive");

  // Both blocks have the same plan; a part has bytes where it lies and none in the other block.
  const bool on_gpu = placement == GV_PLACEMENT_GPU;
  const uint64_t ring = round_up(static_cast<uint64_t>(a->depth) * GV_WQEBB, kPage);
  // mlx5: one buffer holds the receive queue, then at once the send queue.
  const uint64_t receive = static_cast<uint64_t>(a->receive_depth) * GV_RQ_STRIDE;
  const uint64_t host_rings = round_up(receive + ring, kPage);
  const uint64_t words = kPage; // DBR, CQE and host control, a line each
  // What a NIC reads and writes there has pages of its own, and is aligned as dma-bufs have to be.
  const uint64_t own = round_up(sizeof(gv_sq), kPage) + round_up(a->depth / 8, kPage);
  const uint64_t device_bytes = own + (on_gpu ? round_up(ring + words, kDevicePage) + kDevicePage : 0);
  const uint64_t host_bytes = host_rings + words + kPage; // with placement GPU ring and CQE here are the mirror

  gv_qp* qp = new (std::nothrow) gv_qp();
  gv_sq* sq = new (std::nothrow) gv_sq();
  uint64_t device = 0, host = 0;
  int32_t code = qp == nullptr || sq == nullptr ? fail(error, -ENOMEM, 0, "no memory for a queue handle") : 0;
  if (code == 0) code = gv_gpu_allocate(gpu, device_bytes, GV_MEMORY_DEVICE, &device, error);
  if (code == 0) code = gv_gpu_allocate(gpu, host_bytes, GV_MEMORY_PINNED, &host, error);
  if (code != 0) {
    gv_gpu_free(gpu, device, GV_MEMORY_DEVICE, nullptr);
    delete sq;
    delete qp;
    return code;
  }
  std::memset(reinterpret_cast<void*>(host), 0, host_bytes);
  const uint64_t bitmap = device + round_up(sizeof(gv_sq), kPage);
  const uint64_t device_rest = round_up(device + own, kDevicePage);
  const uint64_t host_receive = host, host_ring = host + receive;
  const uint64_t host_words = host + host_rings, doorbell_page = host_words + words;
  const uint64_t queue_words = on_gpu ? device_rest + ring : host_words;

  qp->sq = sq;
  qp->gpu = reinterpret_cast<uint64_t>(gpu);
  qp->device_sq = qp->device_block = device;
  qp->block = host;
  qp->block_bytes = host_bytes;
  qp->depth = a->depth;
  qp->receive_depth = a->receive_depth;
  qp->ring = on_gpu ? device_rest : host_ring;
  qp->receive_ring = a->receive_depth == 0 ? 0 : host_receive;
  qp->dbr = queue_words;
  qp->cqe = a->collapsed ? queue_words + kLine : 0;
  qp->host_control = host_words + 2 * kLine;
  qp->doorbell = doorbell_page;

  sq->ring = host_ring;
  sq->cqe = a->collapsed ? host_words + kLine : 0;
  sq->dbr = qp->dbr;
  sq->doorbell = qp->doorbell;
  sq->host_control = qp->host_control;
  sq->bitmap = bitmap;
  set_policy(sq, a);
  sq->state = GV_STATE_RESET;
  code = clear_device_queue(qp, error);
  if (code != 0) {
    destroy_device_queue(qp);
    return code;
  }
  *out = qp;
  return 0;
}

extern "C" int32_t gv_gpu_qp_read(gv_qp* qp, gv_sq* out, gv_error* error) {
  if (qp->gpu == 0) return fail(error, -EINVAL, 0, "the queue is not a GPU's");
  const int32_t code = fetch(qp, out, qp->device_sq, sizeof *out, error);
  return code == 0 && mirrored(qp) ? refresh_mirror(qp, out, error) : code;
}

extern "C" int32_t gv_gpu_submit(gv_qp* qp, uint64_t function, uint64_t stream, uint64_t requests, uint64_t starts,
                                 uint32_t count, uint32_t wqebbs, uint64_t base, gv_error* error) {
  uint64_t handle = qp->device_sq;
  uint64_t end = base + wqebbs;
  void* args[] = {&handle, &requests, &starts, &count, &base, &end};
  // A warp a group; groups of one block publish side by side, so no more warps than a scheduler keeps resident together.
  const uint32_t groups = (count + GV_GROUP_REQUESTS - 1) / GV_GROUP_REQUESTS;
  const uint32_t warps = groups < 4 ? groups : 4;
  const uint32_t blocks = (groups + warps - 1) / warps;
  return gv_launch(gpu_of(qp), function, stream, blocks, 1, 1, warps * 32, 1, 1, 0, args, error);
}
