#!/bin/sh
# A workspace on a server of its own beside the same one in a file: the worklist of a cohort and of DICOM series, what an
# import of scores takes, and how soon another's review is seen.
#   server.sh BUILD_FOLDER [SCANS] [SERIES] [TIMES]      (100000 10000 10)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${DEMUR_TEST_STORE:-}" ]; then
  exec sh "$here/../support/with-postgres.sh" sh "$0" "$@"
fi
build=$1
scans=${2:-100000}
series=${3:-10000}
times=${4:-10}
bench=$build/tests/bench/bench-server
run=$build/tests/bench/bench-growth
demur=$build/app/demur
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
address() {
  echo "$DEMUR_TEST_STORE" | sed "s,//\([^/]*\)/[^?]*,//\1/$1,"
}
quietly() {
  "$demur" --quiet --workspace "$@" >/dev/null
}
file=$folder/w.demur
quietly "$file" cohort simulate c --scans 900 --sites 6 --base-train 300 --tune 400 --test "$scans"
quietly "$file" train s --cohort c --as-published --epochs 1 --datasets-per-epoch 640
quietly "$file" tune s --cohort c --coverage 0.9
psql -q "$DEMUR_TEST_STORE" -c "CREATE DATABASE bench TEMPLATE template0" -c "CREATE DATABASE bench_series TEMPLATE template0"
server=$(address bench)
"$demur" --quiet workspace copy "$file" "$server" >/dev/null
# step LABEL ARGUMENTS..: prints time and peak
step() {
  label=$1
  shift
  "$run" run "  $label" "$demur" --quiet "$@" >"$folder/out" || { cat "$folder/out"; exit 1; }
  tail -n 1 "$folder/out"
}
for place in "$file" "$server"; do
  step "assess $scans scans" --workspace "$place" assess s --cohort c
  "$bench" worklist "$place" "$times"
  "$bench" heard "$place" "$times"
done
awk -v n="$series" 'BEGIN { print "series_uid,risk"; for (i = 0; i < n; i++)
  printf "1.2.826.0.1.3680043.10.1.%d,%.6f\n", i, (i * 7919 % 10007) / 10007 }' >"$folder/scores.csv"
for place in "$folder/series.demur" "$(address bench_series)"; do
  "$bench" series "$place" "$series"
  step "scores import of $series" --workspace "$place" scores import "$folder/scores.csv" --model m
  step "the same again" --workspace "$place" scores import "$folder/scores.csv" --model m
  "$bench" worklist "$place" "$times"
done
