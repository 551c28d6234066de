#!/bin/sh
# Installs what is missing, builds with warnings as errors, and passes all tests: in a release build, and again under
# AddressSanitizer and UndefinedBehaviorSanitizer. Tests of the shared reference data (DEMUR_SHARED, else ../shared) are
# reported as skipped where there are none. `--long` adds benchmarks and full-budget runs.
set -eu
cd "$(dirname "$0")/.."
long=no
[ "${1:-}" = "--long" ] && long=yes
sh packaging/dependencies.sh
# Before anything is configured: what CMake does not find, it leaves out.
[ "$long" = no ] || sh packaging/dependencies-long.sh
jobs=$(nproc)
# A linker that takes a fifth of the time, for 250 programs.
linker="${LDFLAGS:-} -fuse-ld=mold"
# Workspaces sync what they keep: in memory, where there is room and a script may be run, no test waits for a disk.
temporary=${TMPDIR:-/tmp}
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 4000000 ] &&
  ! grep -q '^[^ ]* /dev/shm [^ ]* [^ ]*noexec' /proc/mounts; then
  temporary=/dev/shm
fi
# The layout is the tool's (.clang-format).
git ls-files '*.c' '*.h' '*.cc' '*.hh' | xargs -P "$jobs" -n 50 clang-format-14 --dry-run --Werror
LDFLAGS=$linker cmake --preset release >/dev/null
cmake --build --preset release
# The tests wait a sixth of their time: for a peer, a window, a writer that is killed. The second build takes what they leave.
LDFLAGS=$linker cmake --preset sanitizers >/dev/null
nice -n 19 ninja -C build/sanitizers >build/sanitizers.log 2>&1 & # not by cmake, which would leave it running when it is ended
second=$!
trap 'kill "$second" 2>/dev/null || true' EXIT
TMPDIR=$temporary ctest --preset release --parallel $((jobs * 2))
wait "$second" || { cat build/sanitizers.log; exit 1; }
trap - EXIT
TMPDIR=$temporary ctest --preset sanitizers --parallel $((jobs + 1))
if [ "$long" = yes ]; then
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
