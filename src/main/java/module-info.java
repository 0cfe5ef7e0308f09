// SPDX-License-Identifier: Apache-2.0

/**
 * GPU-initiated RDMA: queue pairs whose work-queue entries are built, published and rung by CUDA
 * kernels or by CPU lane threads, on a ConnectX NIC, any RC verbs device, or a software NIC inside
 * the JVM.
 *
 * <p>The module calls native code: start the JVM with {@code --enable-native-access=org.gpuverbs}.
 */
module org.gpuverbs {
  // Not transitive: users compile without the annotations, and with `transitive` javac would insist
  // on their module.
  requires static org.jspecify;
  requires jdk.jfr;

  exports org.gpuverbs;
}
