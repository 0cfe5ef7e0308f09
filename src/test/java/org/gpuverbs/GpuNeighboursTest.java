// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUmemAttach_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contexts, streams and memory of another library, here JCuda. */
@GpuTest(compiler = true)
class GpuNeighboursTest {
  /** JCuda shows its handles to subclasses. */
  private static final class Address extends CUdeviceptr {
    Address(CUdeviceptr pointer) {
      super(pointer);
    }

    long get() {
      return getNativePointer() + getByteOffset();
    }
  }

  private final CUcontext context = new CUcontext();

  @BeforeEach
  void createContext() {
    JCudaDriver.setExceptionsEnabled(true);
    JCudaDriver.cuInit(0);
    CUdevice device = new CUdevice();
    JCudaDriver.cuDeviceGet(device, 0);
    JCudaDriver.cuCtxCreate(context, 0, device);
  }

  /** On the test's thread, which need not be that of the calls around it. */
  private void use() {
    JCudaDriver.cuCtxSetCurrent(context);
  }

  @AfterEach
  void destroyContext() {
    JCudaDriver.cuCtxDestroy(context);
  }

  static long handle(jcuda.NativePointerObject object) {
    // Such as CUcontext[nativePointer=0x7f..]: the only public way to it.
    String text = object.toString();
    int at = text.indexOf("0x");
    return Long.parseUnsignedLong(text.substring(at + 2).replaceAll("[^0-9a-fA-F].*", ""), 16);
  }

  private CUstream stream() {
    use();
    CUstream stream = new CUstream();
    JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING);
    return stream;
  }

  @Test
  void aForeignContextStreamAndPointerServe() throws InterruptedException {
    use();
    CUdeviceptr pointer = new CUdeviceptr();
    JCudaDriver.cuMemAlloc(pointer, 4096);
    JCudaDriver.cuMemsetD8(pointer, (byte) 5, 2048);
    JCudaDriver.cuMemsetD8(pointer.withByteOffset(2048), (byte) 0, 2048);
    try (Gpu gpu = Gpu.of(handle(context));
        Nic nic = Nic.open();
        DeviceBuffer buffer = DeviceBuffer.of(new Address(pointer).get(), 4096, gpu, pointer);
        GpuStream stream = GpuStream.on(gpu, handle(stream()))) {
      assertEquals(handle(context), gpu.context());
      MemoryRegion memory = nic.register(buffer, Access.REMOTE_WRITE);
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
      Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
      try (Batch batch =
          Batch.of(qp, new WorkRequest.Write(memory.local(0, 64), memory.remote(2048, 64)))) {
        qp.await(stream.submit(batch), GpuPair.TIMEOUT);
      }
      byte[] back = new byte[64];
      buffer.copyTo(2048, java.lang.foreign.MemorySegment.ofArray(back));
      assertEquals(5, back[63]);
    }
  }

  @Test
  void aStreamOfAnotherContextIsRefused() {
    try (Gpu primary = Gpu.open(0)) {
      long foreign = handle(stream());
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> GpuStream.on(primary, foreign));
      assertTrue(e.getMessage().contains("another CUDA context"), e.getMessage());
    }
  }

  @Test
  void aQueuePairOfAnotherContextIsRefused() {
    try (Gpu primary = Gpu.open(0);
        Gpu borrowed = Gpu.of(handle(context));
        Nic nic = Nic.open();
        GpuStream stream = GpuStream.open(borrowed)) {
      QueuePair qp = nic.queuePair(QueuePairOptions.builder().gpu(primary).build());
      Pair.connect(qp, nic.queuePair(QueuePairOptions.defaults()));
      try (Batch batch = Batch.of(qp, new WorkRequest.Nop())) {
        IllegalStateException e =
            assertThrows(IllegalStateException.class, () -> stream.submit(batch));
        assertTrue(e.getMessage().contains("context"), e.getMessage());
      }
      Kernel kernel = borrowed.compile(Kernels.source(), "wait_signal");
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> kernel.launch(0, 1, 1, qp, 0L, 0L));
      assertTrue(e.getMessage().contains("belongs to"), e.getMessage());
    }
  }

  @Test
  void managedMemoryCanNotBeRegistered() {
    use();
    CUdeviceptr pointer = new CUdeviceptr();
    JCudaDriver.cuMemAllocManaged(pointer, 4096, CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL);
    assertRefused(pointer, "managed memory");
    JCudaDriver.cuMemFree(pointer);
  }

  @Test
  void memoryOfAPoolCanNotBeRegistered() {
    CUdeviceptr pointer = new CUdeviceptr();
    CUstream stream = stream();
    JCudaDriver.cuMemAllocAsync(pointer, 4096, stream);
    JCudaDriver.cuStreamSynchronize(stream);
    assertRefused(pointer, "cudaMallocAsync");
    JCudaDriver.cuMemFreeAsync(pointer, stream);
    JCudaDriver.cuStreamSynchronize(stream);
  }

  private void assertRefused(CUdeviceptr pointer, String kind) {
    try (Gpu gpu = Gpu.of(handle(context));
        Nic nic = Nic.open();
        DeviceBuffer buffer = DeviceBuffer.of(new Address(pointer).get(), 64, gpu, pointer)) {
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> nic.register(buffer));
      assertTrue(e.getMessage().contains(kind), e.getMessage());
    }
  }

  @Test
  void noContextIsNamed() {
    assertThrows(IllegalArgumentException.class, () -> Gpu.of(0));
  }
}
