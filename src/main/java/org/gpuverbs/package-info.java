// SPDX-License-Identifier: Apache-2.0

/**
 * Queue pairs, registered memory, batches of requests and their completions.
 *
 * <p>Addresses and lengths are in bytes. Unless a type says otherwise, its instances may be used by any thread.
 */
@NullMarked
package org.gpuverbs;

import org.jspecify.annotations.NullMarked;
