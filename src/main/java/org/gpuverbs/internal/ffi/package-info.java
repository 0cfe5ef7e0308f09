// SPDX-License-Identifier: Apache-2.0

/**
 * Generated bindings of {@code native/include/gpuverbs.h}; {@code native/bindings/generate.sh} makes them again. The
 * library must have been loaded by this module's class loader before a function's class is initialised.
 */
package org.gpuverbs.internal.ffi;
