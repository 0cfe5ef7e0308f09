// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver API that is used, opened at run time: a table of function pointers and the constants beside them.
// Declared here by hand, from the public driver API reference, so that no CUDA file is needed to build.
#ifndef GPUVERBS_SRC_CUDA_DRIVER_H
#define GPUVERBS_SRC_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

#include "../error.h"

namespace gpuverbs::cuda {

using Result = int;
using Device = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Pointer = unsigned long long;

constexpr Result kSuccess = 0;
constexpr Result kInvalidValue = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kNotReady = 600;
constexpr Result kStreamCaptureImplicit = 906;

// CUdevice_attribute
constexpr int kMultiprocessorCount = 16;
constexpr int kCanMapHostMemory = 19;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;
constexpr int kGpuDirectRdmaSupported = 116;
constexpr int kGpuDirectRdmaWritesOrdering = 118;

// CUpointer_attribute
constexpr int kPointerContext = 1;
constexpr int kPointerMemoryType = 2; // CUmemorytype: 1 host, 2 device
constexpr int kPointerSyncMemops = 6;
constexpr int kPointerIsManaged = 8;
constexpr int kPointerOrdinal = 9;
constexpr int kPointerRangeStart = 11;
constexpr int kPointerRangeSize = 12;
constexpr int kPointerIsGpuDirectCapable = 15;
constexpr int kPointerMempool = 17;

// CUstreamCaptureMode
constexpr int kCaptureModeRelaxed = 2;

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kHostPortable = 1;
constexpr unsigned kHostDeviceMap = 2;
constexpr unsigned kHostIoMemory = 4; // CU_MEMHOSTREGISTER_IOMEMORY
constexpr int kHandleDmabuf = 1;      // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD

// Every entry: name in the table, exported symbol, parameters. The _v2 symbols are what cuda.h maps the plain names to.
#define GV_CUDA_FUNCTIONS(X)                                                  \
  X(Init, cuInit, (unsigned))                                                 \
  X(DriverGetVersion, cuDriverGetVersion, (int*))                             \
  X(GetErrorName, cuGetErrorName, (Result, const char**))                     \
  X(GetErrorString, cuGetErrorString, (Result, const char**))                 \
  X(DeviceGet, cuDeviceGet, (Device*, int))                                   \
  X(DeviceGetCount, cuDeviceGetCount, (int*))                                 \
  X(DeviceGetName, cuDeviceGetName, (char*, int, Device))                     \
  X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t*, Device))                   \
  X(DeviceGetAttribute, cuDeviceGetAttribute, (int*, int, Device))            \
  X(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Context*, Device))           \
  X(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (Device))                \
  X(CtxPushCurrent, cuCtxPushCurrent_v2, (Context))                           \
  X(CtxPopCurrent, cuCtxPopCurrent_v2, (Context*))                            \
  X(CtxGetDevice, cuCtxGetDevice, (Device*))                                  \
  X(CtxSynchronize, cuCtxSynchronize, ())                                     \
  X(MemAlloc, cuMemAlloc_v2, (Pointer*, size_t))                              \
  X(MemFree, cuMemFree_v2, (Pointer))                                         \
  X(MemHostAlloc, cuMemHostAlloc, (void**, size_t, unsigned))                 \
  X(MemFreeHost, cuMemFreeHost, (void*))                                      \
  X(MemcpyAsync, cuMemcpyAsync, (Pointer, Pointer, size_t, Stream))           \
  X(MemsetD8Async, cuMemsetD8Async, (Pointer, unsigned char, size_t, Stream)) \
  X(PointerGetAttribute, cuPointerGetAttribute, (void*, int, Pointer))        \
  X(StreamCreate, cuStreamCreate, (Stream*, unsigned))                        \
  X(StreamDestroy, cuStreamDestroy_v2, (Stream))                              \
  X(StreamQuery, cuStreamQuery, (Stream))                                     \
  X(StreamSynchronize, cuStreamSynchronize, (Stream))                         \
  X(StreamGetCtx, cuStreamGetCtx, (Stream, Context*))                         \
  X(StreamIsCapturing, cuStreamIsCapturing, (Stream, int*))                   \
  X(EventCreate, cuEventCreate, (Event*, unsigned))                           \
  X(EventDestroy, cuEventDestroy_v2, (Event))                                 \
  X(EventRecord, cuEventRecord, (Event, Stream))                              \
  X(EventQuery, cuEventQuery, (Event))                                        \
  X(ModuleLoadData, cuModuleLoadData, (Module*, const void*))                 \
  X(ModuleUnload, cuModuleUnload, (Module))                                   \
  X(ModuleGetFunction, cuModuleGetFunction, (Function*, Module, const char*)) \
  X(LaunchKernel, cuLaunchKernel,                                             \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**))

// Null in a driver that lacks it: the first two came with CUDA 12.4.
#define GV_CUDA_OPTIONAL(X)                                                             \
  X(FuncLoad, cuFuncLoad, (Function))                                                   \
  X(FuncGetParamInfo, cuFuncGetParamInfo, (Function, size_t, size_t*, size_t*))         \
  X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int*))         \
  X(MemHostRegister, cuMemHostRegister_v2, (void*, size_t, unsigned))                   \
  X(MemHostUnregister, cuMemHostUnregister, (void*))                                    \
  X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (Pointer*, void*, unsigned)) \
  X(MemGetHandleForAddressRange, cuMemGetHandleForAddressRange, (void*, Pointer, size_t, int, unsigned long long))

struct Driver {
#define GV_MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
  GV_CUDA_FUNCTIONS(GV_MEMBER)
  GV_CUDA_OPTIONAL(GV_MEMBER)
#undef GV_MEMBER
};

// The table, opened and initialised at the first call; nullptr, with the reason in `error`, where there is no usable driver.
const Driver* driver(gv_error* error, int32_t* code);

// Fills `error` for a failed driver call and returns the matching negative errno.
int32_t cuda_error(const Driver* d, gv_error* error, Result result, const char* what);

} // namespace gpuverbs::cuda

#endif
