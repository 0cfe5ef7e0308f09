// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gpuverbs.internal.ffi.gv_gpu_info;
import org.gpuverbs.internal.shim.CudaCalls;

/**
 * What a GPU is.
 *
 * @param ordinal its CUDA device number
 * @param name such as {@code NVIDIA H200}
 * @param driverVersion the CUDA version of the driver, such as {@code 13.0}
 * @param computeMajor compute capability, before the point
 * @param computeMinor compute capability, behind the point
 * @param multiprocessors streaming multiprocessors
 * @param memoryBytes bytes of GPU memory
 * @param mapsHostMemory whether kernels reach pinned host memory
 * @param gpuDirectRdma whether a NIC can be given its memory
 * @param writesOrdering what a NIC's writes are ordered for: {@code NONE}, {@code OWNER} (this GPU
 *     sees them in order), {@code ALL_DEVICES}
 */
public record GpuInfo(
    int ordinal,
    String name,
    String driverVersion,
    int computeMajor,
    int computeMinor,
    int multiprocessors,
    long memoryBytes,
    boolean mapsHostMemory,
    boolean gpuDirectRdma,
    String writesOrdering) {
  static GpuInfo of(int ordinal) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = gv_gpu_info.allocate(arena);
      CudaCalls.info(ordinal, info);
      int driver = gv_gpu_info.driver_version(info);
      return new GpuInfo(
          ordinal,
          gv_gpu_info.name(info).getString(0),
          driver / 1000 + "." + driver % 1000 / 10,
          gv_gpu_info.compute_major(info),
          gv_gpu_info.compute_minor(info),
          gv_gpu_info.multiprocessors(info),
          gv_gpu_info.memory_bytes(info),
          gv_gpu_info.can_map_host_memory(info) != 0,
          gv_gpu_info.gpu_direct_rdma(info) != 0,
          // CU_GPU_DIRECT_RDMA_WRITES_ORDERING_*
          switch (gv_gpu_info.writes_ordering(info)) {
            case 200 -> "ALL_DEVICES";
            case 100 -> "OWNER";
            default -> "NONE";
          });
    }
  }

  /** Compute capability without the point: 90 for 9.0. */
  int architecture() {
    return computeMajor * 10 + computeMinor;
  }
}
