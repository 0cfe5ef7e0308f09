// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Map;
import java.util.Objects;

/**
 * A NIC that {@link Nic#list()} found.
 *
 * @param name the software NIC's {@code soft0}, or an RDMA device's name such as {@code mlx5_0}
 * @param paths every {@link Path} with its availability on this NIC
 */
public record NicInfo(String name, Map<Path, Availability> paths) {
  /** Copies the map. */
  public NicInfo {
    Objects.requireNonNull(name, "name");
    paths = Map.copyOf(paths);
  }

  /**
   * The availability of one path.
   *
   * @param path the path
   * @return its availability; a path that the map lacks is unavailable
   */
  public Availability path(Path path) {
    return paths.getOrDefault(path, Availability.no("not known for " + name, ""));
  }
}
