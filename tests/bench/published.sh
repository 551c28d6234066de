#!/bin/sh
# The published 7,812 updates and a default training end to end through the command line, then where the time goes:
# the stages of each training, the stages of one update beside the arithmetic limit, and the functions that take most
# (where perf may be used).
#   published.sh BUILD_FOLDER
set -eu
build=$1
bench=$build/tests/bench
demur=$build/app/demur
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
w="--quiet --threads 2 --workspace $folder/w.db"
step() {
  label=$1
  shift
  "$bench/bench-growth" run "$label" "$demur" $w "$@" >"$folder/out" || { cat "$folder/out"; exit 1; }
  tail -n 1 "$folder/out"
}
step "cohort simulate" cohort simulate c
step "train --as-published (wanted: 25 s)" train published --cohort c --as-published
step "train, default (wanted: 30 s)" train default --cohort c
"$bench/bench-published" published 2
"$bench/bench-published" default 2
for kernel in $("$demur" --version --verbose | sed -n 's/^kernel: .*processor: \(.*\))$/\1/p'); do
  "$bench/bench-stages" 200 "$kernel"
done
if perf record -o "$folder/perf" -F 999 "$bench/bench-published" published 2 >/dev/null 2>&1; then
  echo "functions of the published training, by samples of both threads"
  perf report -i "$folder/perf" --stdio --no-children -F overhead,symbol -q 2>/dev/null | grep -v '^$' | head -n 25
else
  echo "perf can't record here: no list of functions"
fi
