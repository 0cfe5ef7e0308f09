// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.discovery;

/**
 * An entry of a port's GID table.
 *
 * @param index its place in the table
 * @param high the first 8 bytes, in network order
 * @param low the last 8 bytes
 * @param type as in gid_attrs/types: {@code RoCE v2}, {@code IB/RoCE v1}; empty if unknown
 * @param netdev the network interface that it belongs to; empty if none
 */
public record Gid(int index, long high, long low, String type, String netdev) {
  /** Parses the kernel's form, eight groups of four hexadecimal digits. */
  static Gid of(int index, String text, String type, String netdev) {
    String digits = text.replace(":", "");
    if (digits.length() != 32) {
      return new Gid(index, 0, 0, type, netdev);
    }
    return new Gid(
        index,
        Long.parseUnsignedLong(digits, 0, 16, 16),
        Long.parseUnsignedLong(digits, 16, 32, 16),
        type,
        netdev);
  }

  boolean empty() {
    // The kernel fills unused InfiniBand entries with the subnet prefix alone.
    return low == 0;
  }

  public boolean routable() {
    return type.equals("RoCE v2");
  }

  /** An IPv4 address in its IPv6 form. */
  public boolean ipv4() {
    return high == 0 && low >>> 32 == 0xffff;
  }

  /** fe80::/10. */
  public boolean linkLocal() {
    return high >>> 54 == 0xfe80 >>> 6;
  }

  /** Such as {@code 10.0.0.1} or {@code fe80:0:0:0:1:2:3:4}. */
  public String address() {
    if (ipv4()) {
      return "%d.%d.%d.%d"
          .formatted(low >>> 24 & 0xff, low >>> 16 & 0xff, low >>> 8 & 0xff, low & 0xff);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      long word = (i < 4 ? high : low) >>> 48 - 16 * (i & 3) & 0xffff;
      text.append(i == 0 ? "" : ":").append(Long.toHexString(word));
    }
    return text.toString();
  }
}
