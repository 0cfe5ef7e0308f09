// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

/**
 * The extent of a grid in blocks, or of a block in threads.
 *
 * @param x 1 or more
 * @param y 1 or more
 * @param z 1 or more
 */
public record Dim(int x, int y, int z) {
  /**
   * Checks the components.
   *
   * @throws IllegalArgumentException if one is below 1
   */
  public Dim {
    if (x < 1 || y < 1 || z < 1) {
      throw new IllegalArgumentException(x + " x " + y + " x " + z + ": take 1 or more each");
    }
  }

  /**
   * In one dimension.
   *
   * @param x 1 or more
   * @return x, 1, 1
   */
  public static Dim of(int x) {
    return new Dim(x, 1, 1);
  }

  int[] array() {
    return new int[] {x, y, z};
  }
}
