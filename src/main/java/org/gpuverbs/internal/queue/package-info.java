// SPDX-License-Identifier: Apache-2.0

/**
 * What the public types are made of: guards, the queue's memory, request records and the owner-bit
 * CQ.
 */
@NullMarked
package org.gpuverbs.internal.queue;

import org.jspecify.annotations.NullMarked;
