// SPDX-License-Identifier: Apache-2.0

/** What the hardware paths need, looked for piece by piece. */
@NullMarked
package org.gpuverbs.internal.doctor;

import org.jspecify.annotations.NullMarked;
