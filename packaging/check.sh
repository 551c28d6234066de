#!/bin/sh
# Installs what is missing, builds with warnings as errors, and passes all tests: in a release build, and again under
# AddressSanitizer and UndefinedBehaviorSanitizer. `--long` adds benchmarks and full-budget runs.
set -eu
cd "$(dirname "$0")/.."
long=no
[ "${1:-}" = "--long" ] && long=yes
sh packaging/dependencies.sh
DEMUR_SHARED=${DEMUR_SHARED:-$(cd .. && pwd)/shared}
export DEMUR_SHARED
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release
cmake --preset sanitizers >/dev/null
cmake --build --preset sanitizers
ctest --preset sanitizers
if [ "$long" = yes ]; then
  ctest --test-dir build/release -L long --output-on-failure # Orthanc, where it is installed
  sh packaging/dependencies-long.sh
  cmake --build --preset release --target bench
  sh tests/bench/all.sh build/release
fi
