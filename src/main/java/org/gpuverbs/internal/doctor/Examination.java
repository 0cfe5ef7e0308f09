// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.gpuverbs.Finding;
import org.gpuverbs.GpuVerbs;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.discovery.KernelFiles;
import org.gpuverbs.internal.discovery.RdmaDevice;
import org.gpuverbs.internal.discovery.RdmaDevices;
import org.jspecify.annotations.Nullable;

/**
 * All checks of one machine, in the order in which their findings should be worked on: what comes
 * later can't work without what comes before.
 *
 * @param files the kernel's
 * @param libraries whether the dynamic linker finds a library
 * @param nativeCause why the native library is not available, or null
 * @param direct what devices say of path DIRECT; empty where they can't be asked
 */
public record Examination(
    KernelFiles files,
    Predicate<String> libraries,
    @Nullable RdmaException nativeCause,
    Function<RdmaDevice, Optional<DirectAnswer>> direct) {

  /** Of this machine. */
  public static Examination here() {
    RdmaException cause = GpuVerbs.unavailabilityCause();
    boolean able = cause == null && RdmaDevices.canLoad("libibverbs.so.1");
    return new Examination(
        KernelFiles.here(),
        RdmaDevices::canLoad,
        cause,
        device -> able ? DirectChecks.ask(device) : Optional.empty());
  }

  /** What was found. */
  public List<Finding> findings() {
    Findings out = new Findings();
    List<RdmaDevice> devices = RdmaDevice.list(files);
    new HostChecks(files, libraries, nativeCause, out).run(devices);
    for (RdmaDevice device : devices) {
      new DeviceChecks(device, out).run();
      new DirectChecks(direct, out).run(device);
    }
    List<PciDevice> gpus = PciDevice.gpus(files);
    new GpuChecks(files, libraries, out).run(gpus);
    for (RdmaDevice device : devices) {
      new TopologyChecks(files, out).run(device, gpus);
    }
    return out.all();
  }
}
