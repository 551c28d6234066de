#!/bin/sh
# What tests/support/run-test.sh tells: 77 for a skipped part, the program's own status for a failure, whatever was
# skipped beside it; and a golden test without data is skipped, with a wrong DEMUR_SHARED it fails.
# Usage: skips.sh ROOT GOLDEN_TEST
set -eu
run="sh $1/tests/support/run-test.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expect() {
  want=$1
  shift
  status=0
  "$@" >/dev/null 2>&1 || status=$?
  [ "$status" -eq "$want" ] || { echo "$*: status $status, expected $want"; exit 1; }
}
fake() {
  printf '#!/bin/sh\necho "%s"\nexit %s\n' "$1" "$2" >"$folder/fake"
  chmod +x "$folder/fake"
}
fake 'ok 1 /a' 0
expect 0 $run "$folder/fake"
fake 'ok 1 /a # SKIP no data' 0
expect 77 $run "$folder/fake"
fake 'ok 1 /a # SKIP no data' 1
expect 1 $run "$folder/fake"
expect 77 env -u DEMUR_SHARED G_TEST_SRCDIR="$folder/sources" $run "$2"
status=0
DEMUR_SHARED=$folder/absent $run "$2" >/dev/null 2>&1 || status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 77 ] || { echo "a wrong DEMUR_SHARED passes"; exit 1; }
status=0
DEMUR_SHARED=$folder $run "$2" >/dev/null 2>&1 || status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 77 ] || { echo "shared data without the file pass"; exit 1; }
echo "skipped is told"
