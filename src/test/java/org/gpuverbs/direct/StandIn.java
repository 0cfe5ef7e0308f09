// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.direct;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import org.gpuverbs.internal.softnic.SoftNicConfig;

/**
 * The stand-in for libibverbs and libmlx5 (native/test/mlx5), as a machine: its ConnectX, whose
 * queue pairs a software NIC serves from RTS on, and its files under /sys. One at a time in a JVM.
 *
 * <p>Each queue pair must have a doorbell register, that is a UAR, of its own: a register here is
 * memory, where a second doorbell would overwrite the first. One that shares its register is
 * refused on its way to RTS.
 */
final class StandIn implements AutoCloseable {
  static final int EREMOTEIO = 121;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup LIBRARY = library();

  private final Served served;
  private final MachineFiles files = new MachineFiles(this);

  private StandIn(SoftNicConfig config) {
    if (!present()) {
      throw new IllegalStateException("libibverbs.so.1 is not the stand-in");
    }
    if (call("mlx5_standin_reset") != 0) {
      throw new AssertionError("objects of an earlier test are alive: " + leaks());
    }
    served = new Served(config);
    files.write();
  }

  /** A machine with everything. */
  static StandIn start() {
    return new StandIn(SoftNicConfig.defaults());
  }

  static StandIn start(SoftNicConfig config) {
    return new StandIn(config);
  }

  private static SymbolLookup library() {
    try {
      return SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global());
    } catch (IllegalArgumentException e) {
      return name -> java.util.Optional.empty();
    }
  }

  /** Whether the dynamic linker finds it under libibverbs' name. */
  static boolean present() {
    return LIBRARY.find("mlx5_standin_reset").isPresent();
  }

  /** Calls a function of standin.h that returns an int. */
  static int call(String name, Object... arguments) {
    return (int) invoke(JAVA_INT, name, arguments);
  }

  private static long callLong(String name, Object... arguments) {
    return (long) invoke(JAVA_LONG, name, arguments);
  }

  private static Object invoke(MemoryLayout result, String name, Object... arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      layouts[i] =
          arguments[i] instanceof Long
              ? JAVA_LONG
              : arguments[i] instanceof Integer ? JAVA_INT : ADDRESS;
    }
    FunctionDescriptor descriptor =
        result == null
            ? FunctionDescriptor.ofVoid(layouts)
            : FunctionDescriptor.of(result, layouts);
    try {
      return LINKER
          .downcallHandle(LIBRARY.findOrThrow(name), descriptor)
          .invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw new AssertionError(name, t);
    }
  }

  static void serve(MemorySegment callback) {
    invoke(null, "mlx5_standin_serve", callback);
  }

  /** A switch of standin.h; the files under /sys follow. */
  StandIn set(String name, long value) {
    try (Arena arena = Arena.ofConfined()) {
      if (call("mlx5_standin_set", arena.allocateFrom(name), value) != 0) {
        throw new IllegalArgumentException("no switch " + name);
      }
    }
    files.follow(name, value);
    return this;
  }

  /** The files, for defects that they alone show. */
  MachineFiles files() {
    return files;
  }

  /** A counter of standin.h. */
  static long get(String name) {
    try (Arena arena = Arena.ofConfined()) {
      long value = callLong("mlx5_standin_get", arena.allocateFrom(name));
      if (value < 0) {
        throw new IllegalArgumentException("no counter " + name);
      }
      return value;
    }
  }

  /**
   * Makes the nth call from now fail.
   *
   * @param symbol which, or "" for any
   * @param nth 1: the next; 0: none
   */
  void fail(String symbol, long nth, int errno) {
    try (Arena arena = Arena.ofConfined()) {
      if (call("mlx5_standin_fail", arena.allocateFrom(symbol), nth, errno) != 0) {
        throw new IllegalArgumentException(symbol + " can't fail");
      }
    }
  }

  /** The symbols that can fail. */
  static List<String> symbols() {
    MemorySegment text = (MemorySegment) invoke(ADDRESS, "mlx5_standin_symbols");
    return text.reinterpret(1 << 16).getString(0).lines().toList();
  }

  /** What was refused, the newest last. */
  static List<String> said() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(1 << 16);
      callLong("mlx5_standin_said", text, text.byteSize());
      return text.getString(0).lines().toList();
    }
  }

  /** Fails with what the stand-in said if it has refused anything. */
  static void assertNothingRefused() {
    if (get("refusals") != 0) {
      throw new AssertionError("the stand-in refused: " + said());
    }
  }

  /** The objects that are alive, such as {@code "live.umems 2"}; empty if there are none. */
  static List<String> leaks() {
    return List.of(
            "contexts",
            "pds",
            "mrs",
            "umems",
            "uars",
            "cqs",
            "qps",
            "ahs",
            "lists",
            "channels",
            "verbs_cqs",
            "verbs_qps",
            "events")
        .stream()
        .map(kind -> "live." + kind + " " + get("live." + kind))
        .filter(text -> !text.endsWith(" 0"))
        .toList();
  }

  /** A queue pair as the firmware has it. */
  static DevxQueue queuePair(int number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(JAVA_LONG, DevxQueue.WORDS);
      int count = call("mlx5_standin_qp", number, words);
      if (count != DevxQueue.WORDS) {
        throw new AssertionError("queue pair " + number + " has " + count + " words");
      }
      return DevxQueue.of(words);
    }
  }

  /**
   * Forgets what is left alive, as the end of the process would; for tests that have counted it.
   */
  static void drop() {
    invoke(null, "mlx5_standin_drop");
  }

  /** An event to ibv_get_async_event; how many contexts it reached. See standin.h. */
  int raise(int type) {
    return call("mlx5_standin_async", 0, type, 1);
  }

  /** An event to DEVX subscriptions; how many it reached. See standin.h. */
  int raise(int number, int type) {
    return call("mlx5_standin_event", number, type);
  }

  /** What the software NIC could not do; empty if it could do all. */
  List<String> problems() {
    return served.problems();
  }

  /**
   * Stops serving. Everything must have been destroyed before.
   *
   * @throws AssertionError naming what was not, or what the software NIC could not do
   */
  @Override
  public void close() {
    fail("", 0, 0);
    served.close();
    List<String> left = leaks();
    long abandoned = get("abandoned");
    if (!left.isEmpty() || abandoned != 0 || !problems().isEmpty()) {
      throw new AssertionError(
          left + ", " + abandoned + " abandoned, " + problems() + "; refused: " + said());
    }
  }
}
