// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * How a hardware NIC, by path DIRECT or PROXY, addresses and retries. {@link #defaults()} suit most
 * networks; change one with its {@code with} method.
 *
 * @param port the device's port, 1..255; 0: the first that is active
 * @param gidIndex which of the port's GIDs peers see; -1: RoCE v2 over IPv4 if there is one, then
 *     over IPv6
 * @param mtu most bytes a packet: 256, 512, 1024, 2048 or 4096; 0: the port's. Both ends take the
 *     smaller one
 * @param pkeyIndex place of the partition key in the port's table, 0..65535
 * @param serviceLevel InfiniBand's, 0..15
 * @param trafficClass RoCE's, 0..255: DSCP in the upper six bits
 * @param timeout a packet is sent again after 4.096 us * 2<sup>timeout</sup>, 1..31
 * @param retries how often, 0..7; soft-RoCE takes 7 for ever
 * @param rnrRetries how often a message is sent again that found no receive, 0..7; 7: forever
 * @param rnrTimer what this end asks such senders to wait: InfiniBand's code, 0..31; 12 is 0.64 ms,
 *     24 is 41 ms
 */
public record PortOptions(
    int port,
    int gidIndex,
    int mtu,
    int pkeyIndex,
    int serviceLevel,
    int trafficClass,
    int timeout,
    int retries,
    int rnrRetries,
    int rnrTimer) {
  // 268 ms, seven times: a peer that is gone is given up after about two seconds. Not 7 retries,
  // which soft-RoCE takes for ever (linux drivers/infiniband/sw/rxe/rxe_comp.c).
  private static final PortOptions DEFAULTS = new PortOptions(0, -1, 0, 0, 0, 0, 16, 6, 6, 24);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the component that is out of range
   */
  public PortOptions {
    check("port", port, 0, 255);
    check("gidIndex", gidIndex, -1, 255);
    check("mtu", mtu, 0, 4096);
    if (mtu != 0 && (mtu < 256 || Integer.bitCount(mtu) != 1)) {
      throw new IllegalArgumentException("mtu " + mtu + ": take 256, 512, 1024, 2048 or 4096");
    }
    check("pkeyIndex", pkeyIndex, 0, 0xffff);
    check("serviceLevel", serviceLevel, 0, 15);
    check("trafficClass", trafficClass, 0, 255);
    check("timeout", timeout, 1, 31);
    check("retries", retries, 0, 7);
    check("rnrRetries", rnrRetries, 0, 7);
    check("rnrTimer", rnrTimer, 0, 31);
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(name + " " + value + ": take " + least + " to " + most);
    }
  }

  /**
   * The first active port, its best GID, its MTU; a silent peer is given up after about two
   * seconds.
   *
   * @return the defaults
   */
  public static PortOptions defaults() {
    return DEFAULTS;
  }

  /**
   * These with another port and GID.
   *
   * @param port see {@link #port()}
   * @param gidIndex see {@link #gidIndex()}
   * @return the options
   */
  public PortOptions withPort(int port, int gidIndex) {
    return new PortOptions(
        port,
        gidIndex,
        mtu,
        pkeyIndex,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        rnrRetries,
        rnrTimer);
  }

  /**
   * These with another MTU.
   *
   * @param mtu see {@link #mtu()}
   * @return the options
   */
  public PortOptions withMtu(int mtu) {
    return new PortOptions(
        port,
        gidIndex,
        mtu,
        pkeyIndex,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        rnrRetries,
        rnrTimer);
  }

  /**
   * These with another partition and priority.
   *
   * @param pkeyIndex see {@link #pkeyIndex()}
   * @param serviceLevel see {@link #serviceLevel()}
   * @param trafficClass see {@link #trafficClass()}
   * @return the options
   */
  public PortOptions withPriority(int pkeyIndex, int serviceLevel, int trafficClass) {
    return new PortOptions(
        port,
        gidIndex,
        mtu,
        pkeyIndex,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        rnrRetries,
        rnrTimer);
  }

  /**
   * These with other retries.
   *
   * @param timeout see {@link #timeout()}
   * @param retries see {@link #retries()}
   * @param rnrRetries see {@link #rnrRetries()}
   * @param rnrTimer see {@link #rnrTimer()}
   * @return the options
   */
  public PortOptions withRetries(int timeout, int retries, int rnrRetries, int rnrTimer) {
    return new PortOptions(
        port,
        gidIndex,
        mtu,
        pkeyIndex,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        rnrRetries,
        rnrTimer);
  }
}
