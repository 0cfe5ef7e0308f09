// SPDX-License-Identifier: Apache-2.0
// Drains for rings that no NIC reads: they follow the DBR or the doorbell, check every WQE and write the collapsed CQE.
// Their reading of a WQE is their own, not the encoder's.
#pragma once

#include <cstdint>

#include "gpuverbs/queue.h"

namespace drain {

using u64 = unsigned long long;

constexpr uint64_t kRemoteBase = 0x0000100000000000ull;
constexpr uint64_t kLocalBase = 0x0000200000000000ull;
constexpr uint32_t kRkey = 0x11223344u;
constexpr uint32_t kLkey = 0x55667788u;
constexpr uint32_t kBytes = 64;
constexpr uint32_t kFirstQpn = 0x100;

struct Found {
  u64 consumed, bad_control, bad_data, sum, backwards;
};

__host__ __device__ inline uint32_t swap32(uint32_t v) {
#ifdef __CUDA_ARCH__
  return __byte_perm(v, 0, 0x0123);
#else
  return __builtin_bswap32(v);
#endif
}

__host__ __device__ inline uint64_t swap64(uint64_t v) {
  return static_cast<uint64_t>(swap32(static_cast<uint32_t>(v))) << 32 | swap32(static_cast<uint32_t>(v >> 32));
}

// One WQE as six 64-bit words in memory order: control, remote, data. Adds what is wrong with it to `f`.
__host__ __device__ inline void check(const uint64_t w[6], uint32_t index, uint32_t qpn, Found& f) {
  const uint32_t op = swap32(static_cast<uint32_t>(w[0])), qd = swap32(static_cast<uint32_t>(w[0] >> 32));
  if (((op >> 8) & 0xffff) != (index & 0xffff) || (op & 0xff) != 0x08 || qd != (qpn << 8 | 3)) f.bad_control++;
  const uint64_t remote = swap64(w[2]) - kRemoteBase, local = swap64(w[5]) - kLocalBase;
  if (remote != local || swap32(static_cast<uint32_t>(w[3])) != kRkey ||
      swap32(static_cast<uint32_t>(w[4])) != kBytes || swap32(static_cast<uint32_t>(w[4] >> 32)) != kLkey)
    f.bad_data++;
  f.sum += remote / kBytes;
}

__device__ inline void load_wqe(const uint8_t* p, uint64_t w[6]) {
  for (int i = 0; i < 3; i++)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(w[2 * i]), "=l"(w[2 * i + 1])
                 : "l"(p + 16 * i)
                 : "memory");
}

__device__ inline uint32_t load_dbr(const gv_sq* q) {
  uint32_t v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(q->dbr + 4) : "memory");
  return swap32(v) & 0xffff;
}

__device__ inline void store_cqe(const gv_sq* q, uint32_t index) {
  const uint32_t tail = (index >> 8 & 0xff) | (index & 0xff) << 8;
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(q->cqe + 0x3c), "r"(tail) : "memory");
}

// One block follows the DBR of one queue until `expected` WQEs have been checked.
__global__ void __launch_bounds__(1024, 1)
    one_queue(gv_sq* q, u64 expected, volatile int* started, volatile int* stop, Found* out) {
  __shared__ int s_n, s_stop;
  const int t = threadIdx.x;
  Found f = {0, 0, 0, 0, 0};
  u64 consumed = 0;
  unsigned idle = 0;
  if (t == 0) *started = 1;
  while (consumed < expected) {
    if (t == 0) {
      int n = 0;
      for (int k = 0; k < 64 && n == 0; k++) {
        const uint32_t d = (load_dbr(q) - static_cast<uint32_t>(consumed)) & 0xffff;
        if (d > 0x8000)
          f.backwards++;
        else
          n = static_cast<int>(d);
      }
      __threadfence();
      s_n = n;
      s_stop = n == 0 && (++idle & 255) == 0 ? *stop : 0;
    }
    __syncthreads();
    const int n = s_n;
    if (s_stop) break;
    for (int i = t; i < n; i += 1024) {
      uint64_t w[6];
      load_wqe(reinterpret_cast<const uint8_t*>(q->ring) + (((consumed + i) & (q->depth - 1)) << 6), w);
      check(w, static_cast<uint32_t>(consumed + i), q->qpn, f);
    }
    __syncthreads();
    if (n && t == 0) {
      __threadfence();
      store_cqe(q, static_cast<uint32_t>(consumed + n - 1));
    }
    consumed += n;
  }
  atomicAdd(&out->bad_control, f.bad_control);
  atomicAdd(&out->bad_data, f.bad_data);
  atomicAdd(&out->sum, f.sum);
  if (t == 0) {
    out->consumed = consumed;
    out->backwards = f.backwards;
  }
}

// One block, a warp a queue in turn.
__global__ void __launch_bounds__(1024, 1)
    many_queues(gv_sq* queues, int n_queues, u64 expected, volatile int* started, volatile int* stop, Found* out) {
  __shared__ uint32_t consumed[256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  Found f = {0, 0, 0, 0, 0};
  for (int i = threadIdx.x; i < 256; i += 1024) consumed[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) *started = 1;
  unsigned idle = 0;
  for (;;) {
    bool left = false, progress = false;
    for (int i = warp; i < n_queues; i += 32) {
      const gv_sq* q = queues + i;
      const uint32_t from = consumed[i];
      if (from >= expected) continue;
      left = true;
      uint32_t n = (__shfl_sync(~0u, load_dbr(q), 0) - from) & 0xffff;
      if (n > 0x8000) f.backwards += lane == 0;
      if (n == 0 || n > 0x8000) continue;
      progress = true;
      if (n > 512) n = 512;
      __threadfence();
      for (uint32_t k = lane; k < n; k += 32) {
        uint64_t w[6];
        load_wqe(reinterpret_cast<const uint8_t*>(q->ring) + (((from + k) & (q->depth - 1)) << 6), w);
        check(w, from + k, q->qpn, f);
      }
      __syncwarp();
      if (lane == 0) {
        __threadfence();
        store_cqe(q, from + n - 1);
        consumed[i] = from + n;
      }
      __syncwarp();
    }
    if (!left) break;
    if (!progress && (++idle & 1023) == 0 && __shfl_sync(~0u, *stop, 0)) break;
  }
  atomicAdd(&out->bad_control, f.bad_control);
  atomicAdd(&out->bad_data, f.bad_data);
  atomicAdd(&out->sum, f.sum);
  atomicAdd(&out->backwards, f.backwards);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < n_queues; i++) out->consumed += consumed[i];
}

// After a run within the ring's depth: every slot, once.
__global__ void whole_ring(gv_sq* queues, u64 expected, Found* out) {
  const gv_sq* q = queues + blockIdx.x;
  Found f = {0, 0, 0, 0, 0};
  for (u64 i = threadIdx.x; i < expected; i += blockDim.x) {
    uint64_t w[6];
    load_wqe(reinterpret_cast<const uint8_t*>(q->ring) + ((i & (q->depth - 1)) << 6), w);
    check(w, static_cast<uint32_t>(i), q->qpn, f);
  }
  atomicAdd(&out->bad_control, f.bad_control);
  atomicAdd(&out->bad_data, f.bad_data);
  atomicAdd(&out->sum, f.sum);
  if (threadIdx.x == 0) atomicAdd(&out->consumed, load_dbr(q) == (expected & 0xffff) ? expected : 0ull);
}

} // namespace drain
