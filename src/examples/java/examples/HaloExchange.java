// SPDX-License-Identifier: Apache-2.0
package examples;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import org.gpuverbs.Access;
import org.gpuverbs.DeviceBuffer;
import org.gpuverbs.Gpu;
import org.gpuverbs.GpuStream;
import org.gpuverbs.Kernel;
import org.gpuverbs.MemoryKind;
import org.gpuverbs.MemoryRegion;
import org.gpuverbs.Nic;
import org.gpuverbs.QueuePair;
import org.gpuverbs.QueuePairAddress;
import org.gpuverbs.QueuePairOptions;
import org.gpuverbs.RdmaException;
import org.gpuverbs.Status;

/**
 * A stencil over a grid that is split by rows among ranks, each a block of one kernel with its own
 * memory. In every iteration the kernel itself puts its border rows into its neighbours' memory,
 * signals, and waits for theirs: no host in the loop. The result is compared, bit by bit, with the
 * same stencil in Java.
 */
public final class HaloExchange {
  private static final int RANKS = 4;
  private static final int ROWS = 32;
  private static final int COLUMNS = 256;
  private static final int ITERATIONS = 200;
  private static final long ROW = COLUMNS * Float.BYTES;

  /** Of a rank's memory: two copies of its rows, two of both halo rows, signals and scratch. */
  private static final long HALOS = 2 * ROWS * ROW;

  private static final long SIGNALS = HALOS + 4 * ROW;
  private static final long SCRATCH = SIGNALS + 2 * Long.BYTES;
  private static final long BYTES = SCRATCH + 2 * Long.BYTES;

  private static final String SOURCE =
      """
      #include <gpuverbs/device.h>

      using Sender = gpuverbs::Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM>;

      constexpr int kRows = %d, kColumns = %d;
      constexpr uint64_t kRow = kColumns * sizeof(float), kHalos = 2 * kRows * kRow, kSignals = kHalos + 4 * kRow;
      constexpr uint64_t kScratch = kSignals + 16, kTimeout = 10000000000ull;

      // What a rank needs to know of a neighbour.
      struct Neighbour {
        gv_sq* queue;  // null at the grid's edge
        uint64_t memory;
        uint64_t key;
      };

      // Sides: 0 is above, 1 below.
      extern "C" __global__ void halo_exchange(const Neighbour* neighbours, const uint64_t* memories, const uint64_t* keys,
                                               int iterations, int64_t* status) {
        const uint64_t mine = memories[blockIdx.x];
        const uint32_t key = static_cast<uint32_t>(keys[blockIdx.x]);
        __shared__ int64_t failed;
        if (threadIdx.x == 0) failed = GV_OK;
        __syncthreads();
        for (int i = 0; i < iterations && failed == GV_OK; i++) {
          const int now = i & 1;
          float* rows = reinterpret_cast<float*>(mine) + now * kRows * kColumns;
          float* next = reinterpret_cast<float*>(mine) + (1 - now) * kRows * kColumns;
          volatile float* halo = reinterpret_cast<volatile float*>(mine + kHalos + now * 2 * kRow);
          // A thread a side: its border row to the neighbour's other side, then its signal.
          if (threadIdx.x < 64 && threadIdx.x %% 32 == 0) {
            const int side = threadIdx.x / 32;
            const Neighbour n = neighbours[2 * blockIdx.x + side];
            int64_t s = GV_OK;
            if (n.queue != nullptr) {
              Sender qp(n.queue);
              const uint64_t border = mine + now * kRows * kRow + (side == 0 ? 0 : (kRows - 1) * kRow);
              s = qp.put_signal(n.memory + kHalos + (2 * now + 1 - side) * kRow, static_cast<uint32_t>(n.key), border, key, kRow,
                                n.memory + kSignals + 8 * (1 - side), static_cast<uint32_t>(n.key), 1,
                                mine + kScratch + 8 * side, key);
              if (s >= 0) s = qp.wait_signal(reinterpret_cast<uint64_t*>(mine + kSignals + 8 * side), i + 1, kTimeout);
            }
            if (s != GV_OK) failed = s;
          }
          __syncthreads();
          if (failed != GV_OK) break;
          for (int cell = threadIdx.x; cell < kRows * kColumns; cell += blockDim.x) {
            const int row = cell / kColumns, column = cell %% kColumns;
            const float above = row > 0 ? rows[cell - kColumns] : halo[column];
            const float below = row < kRows - 1 ? rows[cell + kColumns] : halo[kColumns + column];
            const float left = column > 0 ? rows[cell - 1] : 0.0f;
            const float right = column < kColumns - 1 ? rows[cell + 1] : 0.0f;
            next[cell] = 0.25f * ((above + below) + (left + right));
          }
          __syncthreads();
        }
        if (threadIdx.x == 0) status[blockIdx.x] = failed;
      }
      """
          .formatted(ROWS, COLUMNS);

  private HaloExchange() {}

  /** Runs the example; throws if the grids differ. */
  public static void main(String[] args) throws InterruptedException {
    RdmaException missing = Gpu.unavailabilityCause();
    if (missing == null) {
      missing = Gpu.compilerUnavailabilityCause();
    }
    if (missing != null) {
      System.out.println("skipped, no GPU: " + missing.hint());
      return;
    }
    float[] start = start();
    float[] expected = onTheHost(start);
    float[] actual = onTheGpu(start);
    if (!Arrays.equals(expected, actual)) {
      throw new AssertionError("the grids differ");
    }
    System.out.println(
        ITERATIONS + " iterations on " + RANKS + " ranks: every cell equals the host's");
  }

  private static float[] start() {
    float[] grid = new float[RANKS * ROWS * COLUMNS];
    for (int i = 0; i < grid.length; i++) {
      grid[i] = (i * 2654435761L >>> 8) % 1000;
    }
    return grid;
  }

  private static float[] onTheHost(float[] start) {
    float[] now = start.clone();
    float[] next = new float[now.length];
    int rows = RANKS * ROWS;
    for (int i = 0; i < ITERATIONS; i++) {
      for (int cell = 0; cell < now.length; cell++) {
        int row = cell / COLUMNS;
        int column = cell % COLUMNS;
        float above = row > 0 ? now[cell - COLUMNS] : 0;
        float below = row < rows - 1 ? now[cell + COLUMNS] : 0;
        float left = column > 0 ? now[cell - 1] : 0;
        float right = column < COLUMNS - 1 ? now[cell + 1] : 0;
        next[cell] = 0.25f * ((above + below) + (left + right));
      }
      float[] swap = now;
      now = next;
      next = swap;
    }
    return now;
  }

  private static float[] onTheGpu(float[] start) throws InterruptedException {
    try (Gpu gpu = Gpu.open(0);
        Nic nic = Nic.open();
        GpuStream stream = GpuStream.open(gpu);
        Arena arena = Arena.ofConfined()) {
      Kernel kernel = gpu.compile(SOURCE, "halo_exchange");
      DeviceBuffer[] memory = new DeviceBuffer[RANKS];
      MemoryRegion[] regions = new MemoryRegion[RANKS];
      MemorySegment rows = arena.allocate(BYTES);
      for (int rank = 0; rank < RANKS; rank++) {
        memory[rank] = gpu.allocate(BYTES, MemoryKind.DEVICE);
        regions[rank] = nic.register(memory[rank], Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
        rows.fill((byte) 0);
        int cells = ROWS * COLUMNS;
        MemorySegment.copy(start, rank * cells, rows, ValueLayout.JAVA_FLOAT, 0, cells);
        memory[rank].copyFrom(0, rows);
      }
      // Tables for the kernel: three words for each neighbour, then memories and keys.
      DeviceBuffer table = gpu.allocate(8 * (6 * RANKS + 3 * RANKS), MemoryKind.PINNED);
      MemorySegment words = table.segment().fill((byte) 0);
      for (int rank = 0; rank < RANKS; rank++) {
        words.setAtIndex(ValueLayout.JAVA_LONG, 6 * RANKS + rank, memory[rank].address());
        words.setAtIndex(ValueLayout.JAVA_LONG, 7 * RANKS + rank, regions[rank].lkey());
        if (rank + 1 < RANKS) {
          QueuePair down = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
          QueuePair up = nic.queuePair(QueuePairOptions.builder().gpu(gpu).build());
          QueuePairAddress address = down.address();
          down.connect(up.address());
          up.connect(address);
          neighbour(words, 2 * rank + 1, down, regions[rank + 1]);
          neighbour(words, 2 * (rank + 1), up, regions[rank]);
        }
      }
      long at = table.address();
      kernel.launch(
          stream.handle(),
          RANKS,
          256,
          at,
          at + 8 * 6 * RANKS,
          at + 8 * 7 * RANKS,
          ITERATIONS,
          at + 8 * 8 * RANKS);
      stream.synchronize(Duration.ofSeconds(30));
      float[] result = new float[start.length];
      for (int rank = 0; rank < RANKS; rank++) {
        long status = words.getAtIndex(ValueLayout.JAVA_LONG, 8 * RANKS + rank);
        if (status != Status.DONE) {
          throw new AssertionError("rank " + rank + ": " + Status.describe(status));
        }
        // An even number of iterations ends in the first copy.
        memory[rank].copyTo(0, rows.asSlice(0, ROWS * ROW));
        int cells = ROWS * COLUMNS;
        MemorySegment.copy(rows, ValueLayout.JAVA_FLOAT, 0, result, rank * cells, cells);
      }
      return result;
    }
  }

  private static void neighbour(MemorySegment words, int index, QueuePair qp, MemoryRegion region) {
    words.setAtIndex(ValueLayout.JAVA_LONG, 3L * index, qp.deviceHandle());
    words.setAtIndex(ValueLayout.JAVA_LONG, 3L * index + 1, region.address());
    words.setAtIndex(
        ValueLayout.JAVA_LONG, 3L * index + 2, Integer.toUnsignedLong(region.remote().rkey()));
  }
}
