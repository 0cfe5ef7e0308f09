#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest, in the project's folder: what proxy-test.sh boots it for.
set -u
java=${JAVA_HOME:?}/bin/java
# G1 and C2 threads are what starting a JVM costs under emulation.
jvm=("$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xmx256m)
status=0

date +%T; echo "--- doctor"
"${jvm[@]}" -p target/classes --enable-native-access=org.gpuverbs -m org.gpuverbs/org.gpuverbs.internal.cli.Main doctor || status=1

date +%T; echo "--- two processes, every operation"
peer=("${jvm[@]}" --enable-native-access=ALL-UNNAMED -cp target/classes:target/test-classes org.gpuverbs.proxy.ProxyPeer)
timeout 400 "${peer[@]}" far rxe1 4711 &
far=$!
timeout 400 "${peer[@]}" near rxe0 4711 || status=1
wait "$far" || status=1
exit "$status"
