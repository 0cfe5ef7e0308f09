// SPDX-License-Identifier: Apache-2.0

/** What RDMA hardware and software this machine has. */
@NullMarked
package org.gpuverbs.internal.discovery;

import org.jspecify.annotations.NullMarked;
