#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest, beside all.jar: what proxy-test.sh boots it for. Prints "ok ..." or "FAILED ..." for each part.
set -u
# G1 and C2 threads are what starting a JVM costs under emulation.
cp all.jar /tmp/
java=("${JAVA_HOME:?}/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xshare:auto -Xmx256m
  --enable-native-access=ALL-UNNAMED -cp /tmp/all.jar)
main=org.gpuverbs.internal.cli.Main
peer=org.gpuverbs.proxy.ProxyPeer
status=0
verdict() {
  if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "FAILED $2 (status $1)"; status=1; fi
}

timeout 200 "${java[@]}" "$main" doctor >/tmp/doctor
rc=$?
grep -q '^MISSING' /tmp/doctor && rc=1
[ "$rc" -eq 0 ] || cat /tmp/doctor
verdict "$rc" "doctor finds nothing missing for PROXY on soft-RoCE"

timeout 450 "${java[@]}" "$peer" far rxe1 4711 &
far=$!
timeout 450 "${java[@]}" "$peer" near rxe0 4711
verdict $? "two processes, every operation"
wait "$far"

head -c 60000 "${JAVA_HOME}/lib/modules" >/tmp/file
timeout 200 "${java[@]}" "$main" demo --listen 4712 --nic rxe1 &
far=$!
timeout 200 "${java[@]}" "$main" demo --connect 4712 --nic rxe0 --cold --policies turn,exclusive --lanes 2 --window 64K \
  --chunk 4K --qps 2 /tmp/file
verdict $? "demo between two processes"
wait "$far"
verdict $? "the demo's far end"
exit "$status"
