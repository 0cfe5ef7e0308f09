// SPDX-License-Identifier: Apache-2.0
// Parts of the submit path that no built-in kernel holds alone, each as a kernel named PATH_MODE. Compiled to PTX, never run: a
// test compares the order of their steps with the paths that the model checker proves.
#include <gpuverbs/submit.h>

using namespace gpuverbs;

#define GV_PROBE_MODE(path, mode, call)                                                                         \
  extern "C" __attribute__((global)) void path##_##mode(gv_sq* handle, uint64_t base, uint64_t next, bool tail, \
                                                        int64_t* result) {                                      \
    constexpr uint32_t M = GV_FENCE_##mode;                                                                     \
    Queue q = view_of(handle);                                                                                  \
    (void)tail;                                                                                                 \
    *result = call;                                                                                             \
  }
#define GV_PROBE(path, call)          \
  GV_PROBE_MODE(path, SYSTEM, (call)) \
  GV_PROBE_MODE(path, DEVICE, (call))
#define GV_COMMA ,

GV_PROBE(BITMAP, publish_bitmap<M>(q, base, next))
GV_PROBE(EXCLUSIVE, publish_exclusive<M>(q, base, next, tail))
GV_PROBE(RESERVE, reserve<GV_HANDOVER_TURN_CAS GV_COMMA M>(q, static_cast<uint32_t>(next)) + static_cast<int64_t>(base))
GV_PROBE(TRY_RESERVE,
         try_reserve<GV_HANDOVER_CLASSIC GV_COMMA M>(q, static_cast<uint32_t>(next)) + static_cast<int64_t>(base))
