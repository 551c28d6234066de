#!/bin/sh
# What a reader waits for, in the real window under Xvfb: docs/benchmarks.md, "workstation".
#   bench.sh BUILD_FOLDER [FOLDER_FOR_WORKSPACES]
set -eu
build=$1
folder=${2:-$(mktemp -d)}
demur=$build/app/demur
bench=$build/tests/ui/bench-workstation
mkdir -p "$folder"
export GDK_BACKEND=x11 GSK_RENDERER=cairo GSETTINGS_BACKEND=memory GTK_A11Y=none
run() {
  xvfb-run -a -s "-screen 0 1600x1000x24" "$bench" "$1" "$2"
}
if [ ! -e "$folder/images.demur" ]; then
  "$bench" phantom "$folder/phantom"
  "$demur" --quiet --workspace "$folder/images.demur" dicom import "$folder/phantom" >/dev/null
fi
if [ ! -e "$folder/thousand.demur" ]; then
  "$bench" thousand "$folder/thousand"
  "$demur" --quiet --workspace "$folder/thousand.demur" dicom import "$folder/thousand" >/dev/null
fi
cohort() {
  workspace=$folder/$1.demur
  [ -e "$workspace" ] && return
  "$demur" --quiet --workspace "$workspace" cohort simulate c --scans 900 --sites 6 --base-train 300 --tune 400 --test "$2" \
    >/dev/null
  "$demur" --quiet --workspace "$workspace" train s --cohort c --as-published --epochs 1 --datasets-per-epoch 640 >/dev/null
  "$demur" --quiet --workspace "$workspace" tune s --cohort c --coverage 0.9 >/dev/null
  [ "$3" = no ] || "$demur" --quiet --workspace "$workspace" assess s --cohort c >/dev/null
}
cohort slider 10000 no
cohort worklist 100000 assessed
run images "$folder/images.demur"
run first "$folder/thousand.demur"
run slider "$folder/slider.demur"
run worklist "$folder/worklist.demur"
