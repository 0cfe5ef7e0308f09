// SPDX-License-Identifier: Apache-2.0

/**
 * The mlx5 wire format as Java reads it: constants, and decoders of WQEs and CQEs.
 *
 * <p>Written from mlx5's own documents and independent of the C++ encoder, so that each checks the
 * other. Golden bytes made with rdma-core's structs (native/test/golden) check both.
 */
package org.gpuverbs.internal.wire;
