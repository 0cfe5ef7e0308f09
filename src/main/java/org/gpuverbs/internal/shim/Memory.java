// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.shim;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Memory whose lifetime a guard of ours keeps, not an arena: closing a shared arena costs tens of
 * microseconds, which a batch would pay each time.
 */
public final class Memory {
  private static final MethodHandle MALLOC =
      libc("malloc", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle FREE = libc("free", FunctionDescriptor.ofVoid(JAVA_LONG));

  private Memory() {}

  private static MethodHandle libc(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }

  /** Zeroed memory, aligned to 16 bytes. */
  public static MemorySegment allocate(long bytes) {
    try {
      long address = (long) MALLOC.invokeExact(Math.max(bytes, 1));
      if (address == 0) {
        throw new OutOfMemoryError("malloc of " + bytes + " bytes failed");
      }
      return at(address, bytes).fill((byte) 0);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError("a downcall threw", t);
    }
  }

  /** Frees what {@link #allocate} gave. */
  public static void free(MemorySegment memory) {
    try {
      FREE.invokeExact(memory.address());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError("a downcall threw", t);
    }
  }

  /** A view of native memory that lives as long as its owner says. */
  public static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
