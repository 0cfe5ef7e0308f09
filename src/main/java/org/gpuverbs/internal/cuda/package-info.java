// SPDX-License-Identifier: Apache-2.0

/** GPU memory, code and copies, below the public types. */
@org.jspecify.annotations.NullMarked
package org.gpuverbs.internal.cuda;
