// SPDX-License-Identifier: Apache-2.0

/**
 * The TCP exchange behind {@link org.gpuverbs.Rendezvous}. {@link
 * org.gpuverbs.internal.rendezvous.Handshake} describes the protocol.
 */
@NullMarked
package org.gpuverbs.internal.rendezvous;

import org.jspecify.annotations.NullMarked;
