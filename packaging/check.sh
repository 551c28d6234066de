#!/bin/sh
# Installs what is missing, builds with warnings as errors, and passes all tests: in a release build, and again under
# AddressSanitizer and UndefinedBehaviorSanitizer. Tests of the shared reference data (DEMUR_SHARED, else ../shared) are
# reported as skipped where there are none. `--long` adds benchmarks and full-budget runs.
set -eu
cd "$(dirname "$0")/.."
long=no
[ "${1:-}" = "--long" ] && long=yes
sh packaging/dependencies.sh
git ls-files '*.c' '*.h' '*.cc' '*.hh' | xargs clang-format-14 --dry-run --Werror # the layout is the tool's (.clang-format)
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release
cmake --preset sanitizers >/dev/null
cmake --build --preset sanitizers
ctest --preset sanitizers
if [ "$long" = yes ]; then
  sh packaging/dependencies-long.sh
  ctest --test-dir build/release -L long --output-on-failure # Orthanc among them
  # Races: commands on several threads, and how the window loads a series, under ThreadSanitizer.
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan --target demur unit-ui-scan-load threads-glib-sync threads-phantom
  ctest --preset tsan
  # Lines that the tests run through: build/coverage/summary.txt, and the pages beside it.
  cmake --preset coverage >/dev/null
  cmake --build --preset coverage
  ctest --preset coverage
  gcovr --root . --object-directory build/coverage --filter 'core/|dicom/|app/|ui/' --txt build/coverage/summary.txt \
    --html-details build/coverage/coverage.html --print-summary
  cmake --build --preset release --target bench
  sh tests/bench/all.sh build/release
fi
