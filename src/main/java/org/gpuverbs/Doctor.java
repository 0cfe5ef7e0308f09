// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.List;
import org.gpuverbs.internal.doctor.Examination;

/** Walks what the hardware paths need and says what is found, missing and how to fix it. */
public final class Doctor {
  private Doctor() {}

  /**
   * What a machine was found to have.
   *
   * @param nics as {@link Nic#list()}
   * @param findings in the order in which they should be worked on
   */
  public record Report(List<NicInfo> nics, List<Finding> findings) {
    /** Copies the lists. */
    public Report {
      nics = List.copyOf(nics);
      findings = List.copyOf(findings);
    }

    /**
     * Whether a NIC offers the path.
     *
     * @param path which
     * @return true if one does
     */
    public boolean usable(Path path) {
      return nics.stream().anyMatch(nic -> nic.path(path).available());
    }
  }

  /**
   * Examines this machine: reads the kernel's files and asks the drivers; changes nothing. Takes
   * less than a second. Any thread.
   *
   * @return what was found
   */
  public static Report examine() {
    return new Report(Nic.list(), Examination.here().findings());
  }
}
