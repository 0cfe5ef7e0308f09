// SPDX-License-Identifier: Apache-2.0
// What Java's calls are compared with: gv_submit called from a C loop, and through JNI. In the benchmarks only.
//
// gv_submit comes as an address, since the library that holds it is loaded privately.
#include <jni.h>
#include <stdint.h>

#include "gpuverbs/queue.h"

typedef int64_t (*submit_fn)(gv_sq*, const gv_request*, uint32_t, uint32_t);

// The work of one call, as QuietQueue does it in Java: a NIC that finished everything at once, then a submit.
static inline int64_t post(submit_fn submit, gv_sq* sq, const gv_request* requests, uint32_t count, uint32_t wqebbs) {
  __atomic_store_n(&sq->completed, __atomic_load_n(&sq->ready_head, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  return submit(sq, requests, count, wqebbs);
}

// `calls` posts inside one downcall. Returns the last ticket, or the first sentinel.
int64_t twin_loop(uint64_t submit, uint64_t sq, uint64_t requests, uint32_t count, uint32_t wqebbs, uint32_t calls) {
  int64_t ticket = 0;
  for (uint32_t i = 0; i < calls && ticket >= 0; i++)
    ticket = post((submit_fn)(uintptr_t)submit, (gv_sq*)(uintptr_t)sq, (const gv_request*)(uintptr_t)requests, count,
                  wqebbs);
  return ticket;
}

JNIEXPORT jlong JNICALL Java_org_gpuverbs_bench_Twin_submit(JNIEnv* env, jclass type, jlong submit, jlong sq,
                                                            jlong requests, jint count, jint wqebbs) {
  (void)env;
  (void)type;
  return ((submit_fn)(uintptr_t)submit)((gv_sq*)(uintptr_t)sq, (const gv_request*)(uintptr_t)requests,
                                        (uint32_t)count, (uint32_t)wqebbs);
}
