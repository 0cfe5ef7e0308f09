// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gpuverbs.internal.ffi.Native;
import org.gpuverbs.internal.shim.CudaCalls;
import org.gpuverbs.internal.shim.Memory;
import org.jspecify.annotations.Nullable;

/** The device code that the jar carries: headers, kernels, and their source. */
public final class DeviceCode {
  private static final String ROOT = "/org/gpuverbs/native/";
  private static final String KERNELS = ROOT + "kernels/submit_kernels.sm_";
  private static final List<String> HEADERS =
      List.of(
          "completion.h",
          "device.h",
          "exclusive.h",
          "group.h",
          "order.h",
          "queue.h",
          "steps.def",
          "submit.h",
          "view.h",
          "warp.h",
          "wqe.h");

  /** NVRTC takes what has no annotation, lambdas too, for the host's, and refuses it. */
  private static final List<String> OPTIONS = List.of("-default-device");

  /** Architectures whose PTX the build makes, the newest first. */
  private static final int[] PTX = {90, 80};

  /** Where the built-in kernels come from, in the order in which they are tried. */
  public enum Source {
    /** Machine code of exactly this architecture. */
    CUBIN,
    /** PTX of this architecture or an older one, which the driver translates. */
    PTX,
    /** Compiled here, by NVRTC. */
    NVRTC
  }

  private DeviceCode() {}

  /**
   * The headers by the names under which sources include them: with {@code gpuverbs/} before them,
   * and each other.
   */
  public static Map<String, String> headers() {
    Map<String, String> headers = new LinkedHashMap<>();
    for (String name : HEADERS) {
      String text = new String(required("include/gpuverbs/" + name), StandardCharsets.UTF_8);
      headers.put("gpuverbs/" + name, text);
      headers.put(name, text);
    }
    return headers;
  }

  /** Loads a user's source; the module. */
  public static long compile(long gpu, String source, String name, List<String> options) {
    CudaCalls.Image image = CudaCalls.compile(gpu, source, name, headers(), all(options));
    try {
      return CudaCalls.moduleLoad(gpu, image.address());
    } finally {
      CudaCalls.imageFree(image);
    }
  }

  /** A user's source as machine code. */
  public static byte[] image(long gpu, String source, String name, List<String> options) {
    CudaCalls.Image image = CudaCalls.compile(gpu, source, name, headers(), all(options));
    try {
      return Memory.at(image.address(), image.bytes()).toArray(ValueLayout.JAVA_BYTE);
    } finally {
      CudaCalls.imageFree(image);
    }
  }

  private static List<String> all(List<String> options) {
    List<String> all = new ArrayList<>(OPTIONS);
    all.addAll(options);
    return all;
  }

  /** The module with the built-in kernels, from that source; null if the jar has none. */
  public static @Nullable Long load(long gpu, int architecture, Source source) {
    return switch (source) {
      case CUBIN -> image(gpu, KERNELS + architecture + ".cubin", false);
      case PTX -> {
        for (int ptx : PTX) {
          Long module = ptx > architecture ? null : image(gpu, KERNELS + ptx + ".ptx", true);
          if (module != null) {
            yield module;
          }
        }
        yield null;
      }
      case NVRTC ->
          compile(
              gpu,
              new String(required("device/submit_kernels.cu"), StandardCharsets.UTF_8),
              "submit_kernels.cu",
              List.of());
    };
  }

  private static @Nullable Long image(long gpu, String resource, boolean text) {
    byte[] bytes = read(resource);
    if (bytes == null) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocate(bytes.length + (text ? 1 : 0), 16);
      image.asByteBuffer().put(bytes);
      return CudaCalls.moduleLoad(gpu, image.address());
    }
  }

  /** The name of the kernel for a GV_HANDOVER_* and GV_FENCE_*. */
  public static String kernel(int handOver, int fenceMode) {
    String name;
    if (handOver == Native.GV_HANDOVER_CLASSIC()) {
      name = "classic";
    } else if (handOver == Native.GV_HANDOVER_TURN_CAS()) {
      name = "turn_cas";
    } else if (handOver == Native.GV_HANDOVER_TURN_LDST()) {
      name = "turn_ldst";
    } else if (handOver == Native.GV_HANDOVER_BITMAP()) {
      name = "bitmap";
    } else if (handOver == Native.GV_HANDOVER_EXCLUSIVE()) {
      name = "exclusive";
    } else if (handOver == Native.GV_HANDOVER_UNCHECKED_NOLOCK()) {
      name = "unchecked_nolock";
    } else {
      name = "unchecked_relaxed";
    }
    return "gv_submit_" + name + (fenceMode == Native.GV_FENCE_DEVICE() ? "_device" : "_system");
  }

  private static byte[] required(String name) {
    byte[] bytes = read(ROOT + name);
    if (bytes == null) {
      throw new IllegalStateException("the jar lacks " + ROOT + name + ": build it again");
    }
    return bytes;
  }

  private static byte @Nullable [] read(String resource) {
    try (InputStream in = DeviceCode.class.getResourceAsStream(resource)) {
      return in == null ? null : in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
