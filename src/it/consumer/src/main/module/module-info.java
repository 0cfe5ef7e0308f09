// SPDX-License-Identifier: Apache-2.0

/** A module that uses gpuverbs. */
module com.example.consumer {
  requires org.gpuverbs;
}
