// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * Run in a JVM of its own: says whether the library works there, and goes on to use what must say
 * why not.
 */
final class AvailabilityProbe {
  private AvailabilityProbe() {}

  public static void main(String[] args) {
    System.out.println("available " + GpuVerbs.isAvailable());
    RdmaException cause = GpuVerbs.unavailabilityCause();
    if (cause == null) {
      try (Nic nic = Nic.open()) {
        System.out.println("opened " + nic);
      }
      return;
    }
    System.out.println("cause " + cause.getMessage());
    System.out.println("hint " + cause.hint());
    Availability soft = Nic.list().getFirst().path(Path.SOFT);
    System.out.println("listed " + (!soft.available() && soft.fix().equals(cause.hint())));
    System.out.println("open " + refused(Nic::open));
    System.out.println("lanes " + refused(() -> CpuLanes.start(1)));
    System.out.println("caller " + refused(CpuLanes::caller));
  }

  private static boolean refused(Runnable use) {
    try {
      use.run();
      return false;
    } catch (RdmaException e) {
      return true;
    }
  }
}
