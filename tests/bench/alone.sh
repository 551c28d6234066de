#!/bin/sh
# How long one thread works alone in evaluate and report of a cohort as growth.sh makes it (alone.py).
#   alone.sh BUILD_FOLDER [SCANS [REPLICATES..]]      (1000000 100 1000)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scans=${2:-1000000}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- 100 1000
demur=$build/app/demur
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
w="--quiet --workspace $folder/w.db"
"$build/tests/bench/bench-growth" cohort "$scans" "$folder/c.csv" "$folder/c.npy"
for step in "cohort import c $folder/c.csv --embeddings $folder/c.npy" \
  "train s --cohort c --as-published --epochs 1 --datasets-per-epoch 3200" "tune s --cohort c --coverage 0.9"; do
  # shellcheck disable=SC2086
  "$demur" $w $step >"$folder/out" || { cat "$folder/out" && exit 1; }
done
for replicates in "$@"; do
  echo "evaluate, $scans scans, $replicates replicates"
  # shellcheck disable=SC2086
  /usr/bin/python3 "$here/alone.py" --no-chains "$demur" $w evaluate --selector s --cohort c --bootstrap "$replicates"
done
echo "report, $scans scans, $replicates replicates"
# shellcheck disable=SC2086
/usr/bin/python3 "$here/alone.py" --depth 6 --least 0.5 "$demur" $w report "$folder/r.pdf" --selector s --cohort c --bootstrap "$replicates"
