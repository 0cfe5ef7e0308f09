// SPDX-License-Identifier: Apache-2.0

/**
 * The software NIC: consumes mlx5-format send rings, receive rings, doorbell records and doorbells
 * in host memory, moves the bytes between registered memory regions of this JVM, and writes mlx5
 * CQEs.
 *
 * <p>A NIC, not a mock: whoever writes mlx5 WQEs can use it. Reliable-connection semantics, mlx5
 * syndromes.
 */
package org.gpuverbs.internal.softnic;
