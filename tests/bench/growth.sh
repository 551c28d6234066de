#!/bin/sh
# Time and memory as the number of scans grows: loss and gradient, then a whole cohort with 32 embeddings a scan
# through the command line; at the end each command's peak as a line through the sizes, beside what it must hold.
#   growth.sh BUILD_FOLDER [SCANS..]      (10000 100000 1000000)
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- 10000 100000 1000000
bench=$build/tests/bench/bench-growth
demur=$build/app/demur
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$bench" loss
for n in "$@"; do
  echo "$n scans"
  "$bench" run "  write the table (not ours to judge)" "$bench" cohort "$n" "$folder/c.csv" "$folder/c.npy"
  w="--quiet --workspace $folder/$n.db"
  # step NAME LABEL ARGUMENTS..: prints time and peak, and keeps the peak for the lines at the end
  step() {
    name=$1
    label=$2
    shift 2
    "$bench" run "  $label" "$demur" $w "$@" >"$folder/out" || { cat "$folder/out"; exit 1; }
    tail -n 1 "$folder/out"
    tail -n 1 "$folder/out" | sed -n "s/.*peak *\([0-9.]*\) MB.*/$name $n \1/p" >>"$folder/peaks"
  }
  step import import cohort import c "$folder/c.csv" --embeddings "$folder/c.npy"
  step train "train as published, 100 updates" train s --cohort c --as-published --epochs 1 --datasets-per-epoch 3200
  step tune tune tune s --cohort c --coverage 0.9
  step assess "assess test (40 %)" assess s --cohort c
  step evaluate "evaluate test, 100 replicates" evaluate --selector s --cohort c --bootstrap 100
  ls -l "$folder/$n.db" | awk '{ printf "  workspace %.1f MB\n", $5 / 1048576 }'
  rm -f "$folder/$n.db" "$folder/c.csv" "$folder/c.npy"
done
[ $# -lt 2 ] || "$bench" lines "$folder/peaks"
