/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp and block primitives as PTX, so that nvcc, NVRTC and a clang without the CUDA toolkit compile the same text. In the tests'
 * twin of a GPU (GV_WARP_TWIN) each lane is a thread of the host, and one function, which a test defines, makes lanes meet.
 */
#ifndef GPUVERBS_WARP_H
#define GPUVERBS_WARP_H

#include "order.h"

namespace gpuverbs {

constexpr uint32_t kFullWarp = 0xffffffffu;

#if GV_ON_DEVICE

GV_FN uint32_t lane_id() {
  uint32_t v;
  asm("mov.u32 %0, %%laneid;" : "=r"(v));
  return v;
}

GV_FN uint32_t lanes_below() {
  uint32_t v;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(v));
  return v;
}

/* The lanes that run this instruction together right now. Only its being full means anything. */
GV_FN uint32_t active_lanes() {
  uint32_t v;
  asm volatile("activemask.b32 %0;" : "=r"(v));
  return v;
}

GV_FN uint32_t count_ones(uint32_t v) {
  uint32_t r;
  asm("popc.b32 %0, %1;" : "=r"(r) : "r"(v));
  return r;
}

GV_FN uint32_t first_one(uint32_t v) {
  uint32_t reversed, zeros;
  asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(v));
  asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(reversed));
  return zeros;
}

GV_FN uint32_t last_one(uint32_t v) {
  uint32_t zeros;
  asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(v));
  return 31 - zeros;
}

GV_FN void sync_lanes(uint32_t mask) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }

GV_FN uint32_t ballot(uint32_t mask, bool predicate) {
  uint32_t r;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, %2;\n\t}"
               : "=r"(r)
               : "r"(static_cast<uint32_t>(predicate)), "r"(mask));
  return r;
}

GV_FN uint32_t from_lane(uint32_t mask, uint32_t v, uint32_t lane) {
  uint32_t r;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(r) : "r"(v), "r"(lane), "r"(mask));
  return r;
}

GV_FN uint64_t from_lane(uint32_t mask, uint64_t v, uint32_t lane) {
  const uint32_t low = from_lane(mask, static_cast<uint32_t>(v), lane);
  const uint32_t high = from_lane(mask, static_cast<uint32_t>(v >> 32), lane);
  return static_cast<uint64_t>(high) << 32 | low;
}

GV_FN int64_t from_lane(uint32_t mask, int64_t v, uint32_t lane) {
  return static_cast<int64_t>(from_lane(mask, static_cast<uint64_t>(v), lane));
}

/* The lanes of `mask` that hold the same value as this one. */
GV_FN uint32_t lanes_with(uint32_t mask, uint64_t v) {
  uint32_t r;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask));
  return r;
}

GV_FN uint32_t thread_in_block() {
  uint32_t x, y, z, nx, ny;
  asm("mov.u32 %0, %%tid.x;" : "=r"(x));
  asm("mov.u32 %0, %%tid.y;" : "=r"(y));
  asm("mov.u32 %0, %%tid.z;" : "=r"(z));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(nx));
  asm("mov.u32 %0, %%ntid.y;" : "=r"(ny));
  return x + nx * (y + ny * z);
}

GV_FN uint32_t threads_in_block() {
  uint32_t nx, ny, nz;
  asm("mov.u32 %0, %%ntid.x;" : "=r"(nx));
  asm("mov.u32 %0, %%ntid.y;" : "=r"(ny));
  asm("mov.u32 %0, %%ntid.z;" : "=r"(nz));
  return nx * ny * nz;
}

GV_FN uint32_t block_id_x() {
  uint32_t v;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(v));
  return v;
}

GV_FN void sync_block() { asm volatile("bar.sync 0;" ::: "memory"); }

#else /* the twin */

/* Where this thread stands in its grid. */
struct TwinPlace {
  uint32_t lane, thread, threads, block;
  uint32_t active; /* the lanes that a test lets run together */
};
extern "C" const gpuverbs::TwinPlace* gv_twin_place(void);
/* Returns once every lane of the mask has called, with what each gave; mask 0: every thread of the block, and nothing is exchanged. */
extern "C" void gv_twin_meet(uint32_t mask, uint64_t mine, uint64_t* all);

GV_FN uint32_t lane_id() { return gv_twin_place()->lane; }
GV_FN uint32_t lanes_below() { return (1u << lane_id()) - 1; }
GV_FN uint32_t active_lanes() { return gv_twin_place()->active; }
GV_FN uint32_t count_ones(uint32_t v) { return static_cast<uint32_t>(__builtin_popcount(v)); }
GV_FN uint32_t first_one(uint32_t v) { return static_cast<uint32_t>(__builtin_ctz(v)); }
GV_FN uint32_t last_one(uint32_t v) { return 31u - static_cast<uint32_t>(__builtin_clz(v)); }

GV_FN void sync_lanes(uint32_t mask) {
  uint64_t all[32];
  gv_twin_meet(mask, 0, all);
}

GV_FN uint32_t lanes_with(uint32_t mask, uint64_t v) {
  uint64_t all[32];
  gv_twin_meet(mask, v, all);
  uint32_t same = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    if (all[first_one(rest)] == v) same |= rest & (0u - rest);
  return same;
}

GV_FN uint32_t ballot(uint32_t mask, bool predicate) {
  uint64_t all[32];
  gv_twin_meet(mask, predicate, all);
  uint32_t votes = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    if (all[first_one(rest)] != 0) votes |= rest & (0u - rest);
  return votes;
}

GV_FN uint64_t from_lane(uint32_t mask, uint64_t v, uint32_t lane) {
  uint64_t all[32];
  gv_twin_meet(mask, v, all);
  return all[lane];
}

GV_FN uint32_t from_lane(uint32_t mask, uint32_t v, uint32_t lane) {
  return static_cast<uint32_t>(from_lane(mask, static_cast<uint64_t>(v), lane));
}

GV_FN int64_t from_lane(uint32_t mask, int64_t v, uint32_t lane) {
  return static_cast<int64_t>(from_lane(mask, static_cast<uint64_t>(v), lane));
}

GV_FN uint32_t thread_in_block() { return gv_twin_place()->thread; }
GV_FN uint32_t threads_in_block() { return gv_twin_place()->threads; }
GV_FN uint32_t block_id_x() { return gv_twin_place()->block; }
GV_FN void sync_block() { gv_twin_meet(0, 0, nullptr); }
#endif

/* Sum of v over the lanes of `mask` below this one; `total` over all of them. */
GV_FN uint32_t sum_below(uint32_t mask, uint32_t v, uint32_t* total) {
  uint32_t sum = 0, all = 0;
#if GV_ON_DEVICE
#pragma unroll 1
#endif
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_one(rest);
    const uint32_t theirs = from_lane(mask, v, lane);
    all += theirs;
    if (lane < lane_id()) sum += theirs;
  }
  *total = all;
  return sum;
}

} // namespace gpuverbs

#endif
