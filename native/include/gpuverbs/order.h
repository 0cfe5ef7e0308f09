/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ordering steps as inline functions: step_NAME<fence mode>(...), one for each row of steps.def.
 *
 * In a CUDA kernel each is one PTX instruction, preceded in the PTX by the comment `// gv:NAME`, which is how the build reads the
 * path back from the compiled code. On the host each is the matching __atomic builtin. Nothing else in these headers
 * orders anything.
 */
#ifndef GPUVERBS_ORDER_H
#define GPUVERBS_ORDER_H

#include "queue.h"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__)
#define GV_ON_DEVICE 1
/* Clang without a CUDA toolkit has the language but none of its keywords' macros. */
#if defined(__clang__) && !defined(__device__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define GV_FN static __device__ __forceinline__
#define GV_FN_METHOD __device__ __forceinline__
#else
#define GV_ON_DEVICE 0
#define GV_FN static inline __attribute__((always_inline))
#define GV_FN_METHOD __attribute__((always_inline)) inline
#include <sched.h>
#include <time.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define GV_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GV_TSAN 1
#endif
#endif
#ifndef GV_TSAN
#define GV_TSAN 0
#endif

/*
 * Where the code of a kernel differs from that of lane threads by its protocol, not by its instructions, the tests' twin of a GPU
 * (warp.h) takes the kernel's: one submitter carries both heads, where lane threads publish what their caller has reserved.
 */
#if GV_ON_DEVICE || defined(GV_WARP_TWIN)
#define GV_IN_KERNEL 1
#else
#define GV_IN_KERNEL 0
#endif

namespace gpuverbs {

enum class Step : uint32_t {
#define GV_STEP(name, kind, ssem, sscope, dsem, dscope) name,
#include "steps.def"
#undef GV_STEP
};

/*
 * Test builds of the host library define GV_STEP_HOOKS: gv_step_hook(step) is then called before each step and may wait (to
 * force an interleaving) or return false (to leave the step out); gv_mutant(name) turns a named protocol defect on; gv_test_now()
 * is the clock.
 * Otherwise neither exists in the code.
 */
#if defined(GV_STEP_HOOKS)
extern "C" bool gv_step_hook(uint32_t step);
extern "C" bool gv_mutant(const char* name);
extern "C" uint64_t gv_test_now(void);
#define GV_HOOK(name) gv_step_hook(static_cast<uint32_t>(Step::name))
#define GV_MUTANT(name) gv_mutant(#name)
#else
#define GV_HOOK(name) true
#define GV_MUTANT(name) false
#endif

#if GV_ON_DEVICE
/* fence.release and fence.acquire came with PTX 8.6 and sm_90; before them the stronger fence.acq_rel does. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(__CUDACC_VER_MAJOR__) && \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8))
#define GV_FENCE_release "release"
#define GV_FENCE_acquire "acquire"
#else
#define GV_FENCE_release "acq_rel"
#define GV_FENCE_acquire "acq_rel"
#endif
#define GV_FENCE_acq_rel "acq_rel"
#define GV_FENCE_sc "sc"

#define GV_BY_MODE(name, before, ssem, sscope, dsem, dscope, after, ...)              \
  do {                                                                                \
    if (M == GV_FENCE_SYSTEM)                                                         \
      asm volatile("// gv:" #name "\n\t" before #ssem "." #sscope after __VA_ARGS__); \
    else                                                                              \
      asm volatile("// gv:" #name "\n\t" before #dsem "." #dscope after __VA_ARGS__); \
  } while (0)

#define GV_DEFINE_fence(name, ssem, sscope, dsem, dscope)                                     \
  template <uint32_t M>                                                                       \
  GV_FN void step_##name() {                                                                  \
    if (M == GV_FENCE_SYSTEM)                                                                 \
      asm volatile("// gv:" #name "\n\tfence." GV_FENCE_##ssem "." #sscope ";" ::: "memory"); \
    else                                                                                      \
      asm volatile("// gv:" #name "\n\tfence." GV_FENCE_##dsem "." #dscope ";" ::: "memory"); \
  }
#define GV_DEFINE_load64(name, ssem, sscope, dsem, dscope)                                                       \
  template <uint32_t M>                                                                                          \
  GV_FN uint64_t step_##name(const uint64_t* p) {                                                                \
    uint64_t v;                                                                                                  \
    GV_BY_MODE(name, "ld.", ssem, sscope, dsem, dscope, ".global.b64 %0, [%1];", : "=l"(v) : "l"(p) : "memory"); \
    return v;                                                                                                    \
  }
#define GV_DEFINE_load32(name, ssem, sscope, dsem, dscope)                                                       \
  template <uint32_t M>                                                                                          \
  GV_FN uint32_t step_##name(const uint32_t* p) {                                                                \
    uint32_t v;                                                                                                  \
    GV_BY_MODE(name, "ld.", ssem, sscope, dsem, dscope, ".global.b32 %0, [%1];", : "=r"(v) : "l"(p) : "memory"); \
    return v;                                                                                                    \
  }
#define GV_DEFINE_pair64(name, ssem, sscope, dsem, dscope)                                \
  template <uint32_t M>                                                                   \
  GV_FN void step_##name(const uint64_t* p, uint64_t* first, uint64_t* second) {          \
    uint64_t a, b;                                                                        \
    GV_BY_MODE(name, "ld.", ssem, sscope, dsem, dscope, ".global.v2.b64 {%0, %1}, [%2];", \
               : "=l"(a), "=l"(b)                                                         \
               : "l"(p)                                                                   \
               : "memory");                                                               \
    *first = a;                                                                           \
    *second = b;                                                                          \
  }
#define GV_DEFINE_store64(name, ssem, sscope, dsem, dscope)                                                    \
  template <uint32_t M>                                                                                        \
  GV_FN void step_##name(uint64_t* p, uint64_t v) {                                                            \
    GV_BY_MODE(name, "st.", ssem, sscope, dsem, dscope, ".global.b64 [%0], %1;", ::"l"(p), "l"(v) : "memory"); \
  }
#define GV_DEFINE_store32(name, ssem, sscope, dsem, dscope)                                                    \
  template <uint32_t M>                                                                                        \
  GV_FN void step_##name(uint32_t* p, uint32_t v) {                                                            \
    GV_BY_MODE(name, "st.", ssem, sscope, dsem, dscope, ".global.b32 [%0], %1;", ::"l"(p), "r"(v) : "memory"); \
  }
#define GV_DEFINE_mmio64(name, ssem, sscope, dsem, dscope)                                                          \
  template <uint32_t M>                                                                                             \
  GV_FN void step_##name(uint64_t* p, uint64_t v) {                                                                 \
    GV_BY_MODE(name, "st.mmio.", ssem, sscope, dsem, dscope, ".global.b64 [%0], %1;", ::"l"(p), "l"(v) : "memory"); \
  }
#define GV_DEFINE_cas64(name, ssem, sscope, dsem, dscope)                                      \
  template <uint32_t M>                                                                        \
  GV_FN uint64_t step_##name(uint64_t* p, uint64_t expected, uint64_t desired) {               \
    uint64_t old;                                                                              \
    GV_BY_MODE(name, "atom.", ssem, sscope, dsem, dscope, ".global.cas.b64 %0, [%1], %2, %3;", \
               : "=l"(old)                                                                     \
               : "l"(p), "l"(expected), "l"(desired)                                           \
               : "memory");                                                                    \
    return old;                                                                                \
  }
#define GV_DEFINE_add64(name, ssem, sscope, dsem, dscope)                                  \
  template <uint32_t M>                                                                    \
  GV_FN uint64_t step_##name(uint64_t* p, uint64_t v) {                                    \
    uint64_t old;                                                                          \
    GV_BY_MODE(name, "atom.", ssem, sscope, dsem, dscope, ".global.add.u64 %0, [%1], %2;", \
               : "=l"(old)                                                                 \
               : "l"(p), "l"(v)                                                            \
               : "memory");                                                                \
    return old;                                                                            \
  }
#define GV_DEFINE_red64(name, ssem, sscope, dsem, dscope)                                                           \
  template <uint32_t M>                                                                                             \
  GV_FN void step_##name(uint64_t* p, uint64_t v) {                                                                 \
    GV_BY_MODE(name, "red.", ssem, sscope, dsem, dscope, ".global.add.u64 [%0], %1;", ::"l"(p), "l"(v) : "memory"); \
  }
#define GV_DEFINE_redxor32(name, ssem, sscope, dsem, dscope)                                                        \
  template <uint32_t M>                                                                                             \
  GV_FN void step_##name(uint32_t* p, uint32_t v) {                                                                 \
    GV_BY_MODE(name, "red.", ssem, sscope, dsem, dscope, ".global.xor.b32 [%0], %1;", ::"l"(p), "r"(v) : "memory"); \
  }

#else /* host */

/* TSan does not model fences, so under it every access of a step carries the order that its fence would give. */
#if GV_TSAN
#define GV_LOAD_relaxed __ATOMIC_ACQUIRE
#define GV_STORE_relaxed __ATOMIC_RELEASE
#define GV_RMW_relaxed __ATOMIC_ACQ_REL
#define GV_RMW_release __ATOMIC_ACQ_REL
#define GV_HOST_FENCE(order) ((void)0)
#else
#define GV_LOAD_relaxed __ATOMIC_RELAXED
#define GV_STORE_relaxed __ATOMIC_RELAXED
#define GV_RMW_relaxed __ATOMIC_RELAXED
#define GV_RMW_release __ATOMIC_RELEASE
#define GV_HOST_FENCE(order) __atomic_thread_fence(order)
#endif
#define GV_LOAD_acquire __ATOMIC_ACQUIRE
#define GV_STORE_release __ATOMIC_RELEASE
#define GV_FENCE_release __ATOMIC_RELEASE
#define GV_FENCE_acquire __ATOMIC_ACQUIRE
#define GV_FENCE_acq_rel __ATOMIC_ACQ_REL
#define GV_FENCE_sc __ATOMIC_SEQ_CST

/*
 * A fence of system scope also orders what a NIC sees. On x86-64 the processor's own order does; on aarch64 a NIC is in the outer
 * shareable domain, which atomic_thread_fence (dmb ish) leaves out: rdma-core, util/udma_barrier.h.
 */
#if defined(__aarch64__)
#define GV_HOST_SCOPE_sys asm volatile("dmb osh" ::: "memory")
#else
#define GV_HOST_SCOPE_sys ((void)0)
#endif
#define GV_HOST_SCOPE_gpu ((void)0)

#define GV_DEFINE_fence(name, ssem, sscope, dsem, dscope) \
  template <uint32_t M>                                   \
  GV_FN void step_##name() {                              \
    if (!GV_HOOK(name)) return;                           \
    if (M == GV_FENCE_SYSTEM) {                           \
      GV_HOST_FENCE(GV_FENCE_##ssem);                     \
      GV_HOST_SCOPE_##sscope;                             \
    } else {                                              \
      GV_HOST_FENCE(GV_FENCE_##dsem);                     \
      GV_HOST_SCOPE_##dscope;                             \
    }                                                     \
  }
#define GV_DEFINE_load(name, type, ssem, dsem)                                                             \
  template <uint32_t M>                                                                                    \
  GV_FN type step_##name(const type* p) {                                                                  \
    (void)GV_HOOK(name);                                                                                   \
    return M == GV_FENCE_SYSTEM ? __atomic_load_n(p, GV_LOAD_##ssem) : __atomic_load_n(p, GV_LOAD_##dsem); \
  }
#define GV_DEFINE_store(name, type, ssem, dsem) \
  template <uint32_t M>                         \
  GV_FN void step_##name(type* p, type v) {     \
    if (!GV_HOOK(name)) return;                 \
    if (M == GV_FENCE_SYSTEM)                   \
      __atomic_store_n(p, v, GV_STORE_##ssem);  \
    else                                        \
      __atomic_store_n(p, v, GV_STORE_##dsem);  \
  }
#define GV_DEFINE_load64(name, ssem, sscope, dsem, dscope) GV_DEFINE_load(name, uint64_t, ssem, dsem)
#define GV_DEFINE_load32(name, ssem, sscope, dsem, dscope) GV_DEFINE_load(name, uint32_t, ssem, dsem)
#define GV_DEFINE_pair64(name, ssem, sscope, dsem, dscope)                                    \
  template <uint32_t M>                                                                       \
  GV_FN void step_##name(const uint64_t* p, uint64_t* first, uint64_t* second) {              \
    (void)GV_HOOK(name);                                                                      \
    *first = __atomic_load_n(p, M == GV_FENCE_SYSTEM ? GV_LOAD_##ssem : GV_LOAD_##dsem);      \
    *second = __atomic_load_n(p + 1, M == GV_FENCE_SYSTEM ? GV_LOAD_##ssem : GV_LOAD_##dsem); \
  }
#define GV_DEFINE_store64(name, ssem, sscope, dsem, dscope) GV_DEFINE_store(name, uint64_t, ssem, dsem)
#define GV_DEFINE_store32(name, ssem, sscope, dsem, dscope) GV_DEFINE_store(name, uint32_t, ssem, dsem)
#define GV_DEFINE_mmio64(name, ssem, sscope, dsem, dscope) GV_DEFINE_store(name, uint64_t, release, release)
#define GV_DEFINE_cas64(name, ssem, sscope, dsem, dscope)                                      \
  template <uint32_t M>                                                                        \
  GV_FN uint64_t step_##name(uint64_t* p, uint64_t expected, uint64_t desired) {               \
    (void)GV_HOOK(name);                                                                       \
    __atomic_compare_exchange_n(p, &expected, desired, false, GV_RMW_##ssem, GV_LOAD_relaxed); \
    return expected;                                                                           \
  }
#define GV_DEFINE_add64(name, ssem, sscope, dsem, dscope) \
  template <uint32_t M>                                   \
  GV_FN uint64_t step_##name(uint64_t* p, uint64_t v) {   \
    (void)GV_HOOK(name);                                  \
    return __atomic_fetch_add(p, v, GV_RMW_##ssem);       \
  }
#define GV_DEFINE_red64(name, ssem, sscope, dsem, dscope)       \
  template <uint32_t M>                                         \
  GV_FN void step_##name(uint64_t* p, uint64_t v) {             \
    if (GV_HOOK(name)) __atomic_fetch_add(p, v, GV_RMW_##ssem); \
  }
#define GV_DEFINE_redxor32(name, ssem, sscope, dsem, dscope)    \
  template <uint32_t M>                                         \
  GV_FN void step_##name(uint32_t* p, uint32_t v) {             \
    if (GV_HOOK(name)) __atomic_fetch_xor(p, v, GV_RMW_##ssem); \
  }
#endif

#define GV_STEP(name, kind, ssem, sscope, dsem, dscope) GV_DEFINE_##kind(name, ssem, sscope, dsem, dscope)
#include "steps.def"
#undef GV_STEP

/* Plain counters and words that nothing is ordered by. */
GV_FN uint64_t relaxed_load64(const uint64_t* p) {
#if GV_ON_DEVICE
  uint64_t v;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#else
  return __atomic_load_n(p, GV_LOAD_relaxed);
#endif
}

GV_FN void relaxed_store64(uint64_t* p, uint64_t v) {
#if GV_ON_DEVICE
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#else
  __atomic_store_n(p, v, GV_STORE_relaxed);
#endif
}

GV_FN void relaxed_store_pair(uint64_t* p, uint64_t first, uint64_t second) {
#if GV_ON_DEVICE
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(p), "l"(first), "l"(second) : "memory");
#else
  __atomic_store_n(p, first, GV_STORE_relaxed);
  __atomic_store_n(p + 1, second, GV_STORE_relaxed);
#endif
}

GV_FN uint32_t relaxed_load32(const uint32_t* p) {
#if GV_ON_DEVICE
  uint32_t v;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
#else
  return __atomic_load_n(p, GV_LOAD_relaxed);
#endif
}

/*
 * A read that may race with a write and is thrown away if it did, as in a seqlock: the caller finds out by a compare-and-swap.
 * Hidden from TSan, which can't know that.
 */
#if GV_TSAN
static __attribute__((unused, noinline, no_sanitize("thread"))) uint32_t speculative_load32(const uint32_t* p) {
  return *static_cast<const volatile uint32_t*>(p);
}
#else
GV_FN uint32_t speculative_load32(const uint32_t* p) { return relaxed_load32(p); }
#endif

/* The word that the host sets when it closes a queue lies in host memory: system scope. */
GV_FN uint64_t host_load64(const uint64_t* p) {
#if GV_ON_DEVICE
  uint64_t v;
  asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#else
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

GV_FN void count64(uint64_t* p, uint64_t v) {
#if GV_ON_DEVICE
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#else
  __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
#endif
}

/* Sets a state word to `to` if it is `from`; true if it did. */
GV_FN bool swap_state(uint32_t* p, uint32_t from, uint32_t to) {
#if GV_ON_DEVICE
  uint32_t old;
  asm volatile("atom.acq_rel.sys.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(from), "r"(to) : "memory");
  return old == from;
#else
  return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
}

#if !GV_ON_DEVICE
/* Around a store to a register in write-combining memory, which the processor may hold back and let others pass. */
GV_FN void before_write_combining() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#endif
}

GV_FN void flush_write_combining() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#endif
}

/* Between what a NIC will read and the record that tells it so, where no step of the table stands: the receive queue. */
GV_FN void before_record() {
#if defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#endif
}

/* Passes on a doorbell that another thread has left in memory, with all that was before it. */
GV_FN void doorbell_to_device(uint64_t* reg, uint64_t word, bool write_combining) {
#if defined(__aarch64__)
  asm volatile("dmb osh" ::: "memory");
#endif
  if (write_combining) before_write_combining();
  __atomic_store_n(reg, word, __ATOMIC_RELEASE);
  if (write_combining) flush_write_combining();
}

/* Tells the processor that this is a spin. */
GV_FN void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}
#endif

/* Nanoseconds of a clock that never goes back. */
GV_FN uint64_t now_ns() {
#if GV_ON_DEVICE
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#elif defined(GV_STEP_HOOKS)
  return gv_test_now();
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000ull + static_cast<uint64_t>(t.tv_nsec);
#endif
}

GV_FN uint32_t be32(uint32_t v) {
#if GV_ON_DEVICE
  uint32_t r;
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(r) : "r"(v));
  return r;
#else
  return __builtin_bswap32(v); /* x86-64 and aarch64 Linux are little-endian; the build refuses others */
#endif
}

} // namespace gpuverbs

#endif
