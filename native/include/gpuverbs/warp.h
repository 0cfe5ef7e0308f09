/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp and block primitives as PTX, so that nvcc, NVRTC and a clang without the CUDA toolkit compile the same text.
 */
#ifndef GPUVERBS_WARP_H
#define GPUVERBS_WARP_H

#include "order.h"

namespace gpuverbs {

constexpr uint32_t kFullWarp = 0xffffffffu;

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

/* Sum of v over the lanes of `mask` below this one; `total` over all of them. */
GV_FN uint32_t sum_below(uint32_t mask, uint32_t v, uint32_t* total) {
  uint32_t sum = 0, all = 0;
#pragma unroll 1
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_one(rest);
    const uint32_t theirs = from_lane(mask, v, lane);
    all += theirs;
    if (lane < lane_id()) sum += theirs;
  }
  *total = all;
  return sum;
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

} // namespace gpuverbs

#endif
