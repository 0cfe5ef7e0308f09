#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: run.sh RESULTS [STEP...]
# Runs the tests of a GPU and its measurements on a machine without JDK and Maven, from the folder target/portable that `mvn package`
# makes, and leaves raw results in the folder RESULTS. Steps: facts host tests trouble jcuda examples demo soak rates throughput deferred sanitizer native;
# host is what needs no GPU, to see that the folder works there.
# default: facts tests trouble jcuda examples demo soak rates deferred. Each step has a limit, so that nothing hangs the machine.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=$1
shift
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(facts tests trouble jcuda examples demo soak rates deferred)
mkdir -p "$results"
results=$(cd "$results" && pwd)
status=0

export PATH="$PATH:/usr/sbin:/sbin"
# NVRTC, wherever the toolkit or a Python package has put it.
if ! ldconfig -p | grep -q 'libnvrtc\.so'; then
  nvrtc=$(find /usr/local/cuda*/ /opt /usr/lib -name 'libnvrtc.so.1[0-9]' 2>/dev/null | head -n 1)
  [ -z "$nvrtc" ] || export LD_LIBRARY_PATH="$(dirname "$nvrtc")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
java=("$here/java/bin/java" -Xmx2g --enable-native-access=ALL-UNNAMED "-Djava.util.logging.config.file=$here/tests/logging.properties")
libraries=$(printf '%s:' "$here"/lib/*.jar)

# step NAME LIMIT COMMAND...: its output in NAME.txt, its end in steps.txt.
step() {
  local name=$1 limit=$2 began=$SECONDS code=0
  shift 2
  timeout --kill-after=5 "$limit" "$@" >"$results/$name.txt" 2>&1 || code=$?
  echo "$name: exit $code after $((SECONDS - began)) s" | tee -a "$results/steps.txt"
  [ "$code" -eq 0 ] || { status=1; tail -n 40 "$results/$name.txt"; }
}
junit() {
  local name=$1 limit=$2
  shift 2
  local classes=()
  for class in "$@"; do classes+=("--select-class=$class"); done
  # Strict doorbells: a lost one is a lost request.
  step "$name" "$limit" "${java[@]}" -Dorg.gpuverbs.softnic.doorbells=strict -cp "$here/tests:$libraries" \
    org.junit.platform.console.ConsoleLauncher execute \
    --disable-banner --disable-ansi-colors --details=tree --include-classname='.*' "--config=jqwik.database=$results/jqwik" "${classes[@]}"
}
main() {
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" "${java[@]}" -cp "$here/tests:$libraries" "$@"
}

for each in "${steps[@]}"; do
  case $each in
    facts)
      { date -u; uname -a; nproc; nvidia-smi; } >"$results/facts.txt" 2>&1
      main info 30 org.gpuverbs.internal.cli.Main info
      ;;
    host) junit host 120 org.gpuverbs.InitiatorTest org.gpuverbs.IndexWrapTest org.gpuverbs.DeferredSendTest org.gpuverbs.internal.softnic.OperationsTest ;;
    tests) junit tests 240 org.gpuverbs.GpuMemoryTest org.gpuverbs.GpuStreamTest org.gpuverbs.GpuKernelTest org.gpuverbs.GpuProgramsTest ;;
    trouble) junit trouble 150 org.gpuverbs.GpuTroubleTest ;;
    jcuda) junit jcuda 90 org.gpuverbs.GpuNeighboursTest org.gpuverbs.GpuFaultTest ;;
    examples)
      main example-halo 60 examples.HaloExchange
      main example-jcuda 60 examples.WithJCuda
      ;;
    demo) main demo 60 org.gpuverbs.internal.cli.Main demo "$here/lib/gpuverbs.jar" ;;
    soak) main soak 120 -Dorg.gpuverbs.softnic.doorbells=strict org.gpuverbs.GpuSoak ;;
    rates) main rates-softnic 120 org.gpuverbs.GpuRates ;;
    throughput) for i in 1 2 3; do main "throughput-$i" 20 org.gpuverbs.internal.softnic.Throughput 64 16 1 2; done ;;
    deferred)
      junit deferred 150 org.gpuverbs.DeferredInStreamTest org.gpuverbs.DeferredCudaTest org.gpuverbs.DeferredFaultTest
      main deferred-costs 100 org.gpuverbs.GpuDeferredCosts
      for size in "1 1" "1 8" "1 32" "4 8" "8 8"; do
        main "over-decomposed-${size/ /x}" 60 org.gpuverbs.GpuOverDecomposition $size 2000
      done
      ;;
    sanitizer)
      # The built-in kernels of every policy, as the demo runs them.
      for tool in memcheck initcheck synccheck; do
        step "sanitizer-$tool" 90 compute-sanitizer --tool "$tool" --error-exitcode 9 "${java[@]}" \
          -cp "$here/tests:$libraries" org.gpuverbs.internal.cli.Main demo --cold --qps 2 "$here/run.sh"
      done
      ;;
    native)
      step native 300 sh "$here/bench/gpu/native.sh" "$results/native"
      ;;
    *) echo "run.sh: no step $each" && exit 2 ;;
  esac
done
exit $status
