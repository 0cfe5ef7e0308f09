// SPDX-License-Identifier: Apache-2.0

/** What the public API asks of whoever consumes queues: the software NIC, or a verbs device. */
@NullMarked
package org.gpuverbs.internal.backend;

import org.jspecify.annotations.NullMarked;
