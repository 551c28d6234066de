#!/bin/sh
# Installs what is missing, builds with warnings as errors, and passes all tests: in a release build, and again under
# AddressSanitizer and UndefinedBehaviorSanitizer. Tests of the shared reference data (DEMUR_SHARED, else ../shared) are
# reported as skipped where there are none. `--long` adds benchmarks and full-budget runs.
set -eu
cd "$(dirname "$0")/.."
long=no
[ "${1:-}" = "--long" ] && long=yes
sh packaging/dependencies.sh
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
