// SPDX-License-Identifier: Apache-2.0
package examples;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.gpuverbs.Access;
import org.gpuverbs.DeviceBuffer;
import org.gpuverbs.Gpu;
import org.gpuverbs.GpuStream;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;

/**
 * JCuda owns the context, the stream, the memory and the launch; gpuverbs lends the queue pair. A
 * kernel that JCuda launches puts from JCuda's memory with the queue pair's handle as a parameter.
 */
public final class WithJCuda {
  private static final int THREADS = 64;
  private static final int HALF = THREADS * 64;

  private static final String SOURCE =
      """
      #include <gpuverbs/device.h>

      extern "C" __global__ void send(gv_sq* handle, uint64_t memory, uint32_t key, uint64_t half) {
        gpuverbs::Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM> qp(handle);
        const uint64_t mine = memory + 64 * threadIdx.x;
        for (int i = 0; i < 8; i++) reinterpret_cast<volatile uint64_t*>(mine)[i] = 1000 * threadIdx.x + i;
        qp.put(mine + half, key, mine, key, 64);
        qp.quiet(10000000000ull);
      }
      """;

  /** JCuda shows its native handles to subclasses. */
  private static final class Context extends CUcontext {
    long address() {
      return getNativePointer();
    }
  }

  private static final class Stream extends CUstream {
    long address() {
      return getNativePointer();
    }
  }

  private static final class Address extends CUdeviceptr {
    Address(CUdeviceptr pointer) {
      super(pointer);
    }

    long address() {
      return getNativePointer() + getByteOffset();
    }
  }

  private WithJCuda() {}

  /** Runs the example; throws if a byte is wrong. */
  public static void main(String[] args) throws InterruptedException {
    RdmaException missing = Gpu.unavailabilityCause();
    if (missing == null) {
      missing = Gpu.compilerUnavailabilityCause();
    }
    if (missing != null) {
      System.out.println("skipped, no GPU: " + missing.hint());
      return;
    }
    JCudaDriver.setExceptionsEnabled(true);
    JCudaDriver.cuInit(0);
    CUdevice device = new CUdevice();
    JCudaDriver.cuDeviceGet(device, 0);
    Context context = new Context();
    JCudaDriver.cuCtxCreate(context, 0, device);
    Stream stream = new Stream();
    JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING);
    CUdeviceptr pointer = new CUdeviceptr();
    JCudaDriver.cuMemAlloc(pointer, 2L * HALF);

    try (Gpu gpu = Gpu.of(context.address());
        Nic nic = Nic.open();
        DeviceBuffer buffer =
            DeviceBuffer.of(new Address(pointer).address(), 2L * HALF, gpu, pointer);
        MemoryRegion region = nic.register(buffer, Access.REMOTE_WRITE);
        QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
        QueuePair peer = nic.queuePair(QueuePairOptions.defaults());
        GpuStream ours = GpuStream.on(gpu, stream.address())) {
      QueuePairAddress address = qp.address();
      qp.connect(peer.address());
      peer.connect(address);

      CUmodule module = new CUmodule();
      JCudaDriver.cuModuleLoadData(module, gpu.image(SOURCE));
      CUfunction send = new CUfunction();
      JCudaDriver.cuModuleGetFunction(send, module, "send");
      Pointer parameters =
          Pointer.to(
              Pointer.to(new long[] {qp.deviceHandle()}),
              Pointer.to(new long[] {region.address()}),
              Pointer.to(new int[] {region.lkey()}),
              Pointer.to(new long[] {HALF}));
      JCudaDriver.cuLaunchKernel(send, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, null);
      ours.synchronize(Duration.ofSeconds(30));

      long[] arrived = new long[HALF / Long.BYTES];
      buffer.copyTo(HALF, MemorySegment.ofArray(arrived));
      for (int i = 0; i < arrived.length; i++) {
        if (arrived[i] != 1000L * (i / 8) + i % 8) {
          throw new AssertionError("word " + i + " is " + arrived[i]);
        }
      }
      System.out.println("a kernel launched by JCuda put " + arrived.length + " words, all right");
    }
    JCudaDriver.cuMemFree(pointer);
    JCudaDriver.cuCtxDestroy(context);
  }
}
