#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Path PROXY on soft-RoCE in a virtual machine: doctor, then two processes with every operation, MTU 1024 and 4096, lost packets, a
# peer that dies, and the demo between two processes. Needs target/classes and target/test-classes. Timings mean nothing: the VM
# is emulated. Exit status 0 if all passed; 126, with the reason, where no VM can run.
set -eu
cd "$(dirname "$0")/../../.."
home=${JAVA_HOME:-}
for each in "$home" /usr/lib/jvm/*; do
  if grep -qs '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$each/release" && [ -x "$each/bin/jar" ]; then export JAVA_HOME=$each; fi
done
# One file, since the guest reads many small ones slowly, and a build meanwhile doesn't change it.
mkdir -p target/vm
# The guest sees target/vm wherever the checkout lies; of the rest, what is not under /tmp.
cp native/test/vm/guest.sh target/vm/guest.sh
"$JAVA_HOME/bin/jar" cfM0 target/vm/all.jar -C target/classes org -C target/test-classes org/gpuverbs/proxy
RDMA_VM_MODULES="${RDMA_VM_MODULES:-} sch_netem" exec bash native/test/vm/rdma-vm.sh -t "${1:-330}" -p target/vm -- \
  bash "$PWD/target/vm/guest.sh"
