#!/bin/sh
# Every benchmark one after the other; ends with 1 where a twin's numbers differ from ours, or where a selector is called
# better too often though nothing is planted. About an hour and a half on two quiet processors; on a busy machine the
# times say little, so the load is printed with them.
# With --short each is run with as little as shows that it still runs: no number of that says anything. Some minutes.
#   all.sh [--short] BUILD_FOLDER [NAME..]      equality time features evaluate published start growth alone intervals simulations sites watch mix accept defaults real workstation server
set -eu
here=$(cd "$(dirname "$0")" && pwd)
short=""
[ "$1" != --short ] || { short=yes && shift; }
build=$1
bench=$build/tests/bench
shift
# of LONG SHORT, the one that is meant
of() {
  [ -n "$short" ] && echo "$2" || echo "$1"
}
[ $# -gt 0 ] || set -- equality time features evaluate published start growth alone intervals simulations sites watch mix accept defaults real workstation server
# A simulation that judges: by few draws it may well judge wrongly, which in short counts for nothing.
judge() {
  status=0
  "$@" || status=$?
  if [ -n "$short" ] && [ "$status" -eq 1 ]; then
    echo "(judged by too few: not counted)"
    status=0
  fi
  return "$status"
}
# Said at once, and not by the last part an hour later.
for program in app/demur tests/bench/bench-update tests/bench/bench-update-double tests/ui/bench-workstation; do
  [ -x "$build/$program" ] || { echo "no $build/$program: cmake --build $build --target bench demur" >&2 && exit 2; }
done
# The kernels that this processor has.
kernels() {
  "$build/app/demur" --version --verbose | sed -n 's/^kernel: .*processor: \(.*\))$/\1/p'
}
python=/usr/bin/python3
failed=""
for name in "$@"; do
  echo "== $name ($(uptime | sed 's/.*load/load/'))"
  case $name in
  equality) "$python" "$here/update.py" equality "$bench" "$(of 200 10)" ;;
  time) "$python" "$here/update.py" time "$bench" 2
    # shellcheck disable=SC2046
    "$python" "$here/update.py" time "$bench" 1 \
      $(kernels) ;;
  features) # shellcheck disable=SC2046
    "$python" "$here/features.py" "$bench/bench-features" $(of "6000 6282 256" "600 628 32") 2 &&
      "$bench/bench-features" $(of "20000 6000" "2000 600") 32 1 &&
      for kernel in $(kernels); do
        case $kernel in avx512) core=SkylakeX ;; avx2) core=Haswell ;; *) continue ;; esac
        for width in 64 256; do
          OPENBLAS_CORETYPE=$core "$bench/bench-features" $(of "6000 6000" "600 600") "$width" 1 "$kernel" || failed="$failed $name"
        done
      done ;;
  evaluate) "$python" "$here/evaluate.py" "$bench/bench-evaluation" 2 ;;
  published)
    if [ -n "$short" ]; then
      for kernel in $(kernels); do
        "$bench/bench-stages" 5 "$kernel" || failed="$failed $name"
      done
    else
      sh "$here/published.sh" "$build"
    fi ;;
  start)
    file=${DEMUR_SHARED:-$here/../../../shared}/cohorts/ist_deaddep6m.csv
    [ -e "$file" ] || { echo "skipped: no ${file##*/}" && file=""; }
    # shellcheck disable=SC2046
    "$python" "$here/start.py" $(of "" --short) "$build" ${file:+"$file"} ;;
  growth) # shellcheck disable=SC2046
    sh "$here/growth.sh" "$build" $(of "10000 100000 1000000" 10000) ;;
  alone) # shellcheck disable=SC2046
    sh "$here/alone.sh" "$build" $(of "1000000 100 1000" "10000 20") ;;
  intervals) # 200 to 400 cohorts each
    [ -n "$short" ] || export DEMUR_LONG=1
    "$build/tests/unit-evaluation-intervals" &&
      "$build/tests/unit-evaluation-censoring" &&
      "$build/tests/unit-evaluation-better" &&
      "$build/tests/unit-evaluation-mix" &&
      "$build/tests/unit-metrics-selective" &&
      "$build/tests/unit-selector-guarantee" &&
      "$build/tests/unit-selector-measure-guarantee" || failed="$failed $name"
    unset DEMUR_LONG ;;
  simulations) # shellcheck disable=SC2046
    judge "$bench/bench-simulations" example 2 $(of 3 1) && judge "$bench/bench-simulations" cohorts 2 $(of "200 40 40" "2 1 1") ;;
  sites) judge "$bench/bench-sites" "$(of 400 10)" ;;
  watch) # shellcheck disable=SC2046
    judge "$bench/bench-watch" $(of "500 400" "20 5") ;;
  mix)
    if [ -n "$short" ]; then
      judge "$bench/bench-mix" simulated 10 15 20 || failed="$failed $name"
      continue
    fi
    "$bench/bench-mix" simulated && "$bench/bench-mix" simulated 400 15 || failed="$failed $name"
    for table in ist_deaddep6m ist_death6m; do
      cohorts=${DEMUR_SHARED:-$here/../../../shared}/cohorts
      [ -e "$cohorts/$table.csv" ] || { echo "skipped: no $table.csv" && continue; }
      "$bench/bench-mix" ist "$cohorts/$table.csv" "$cohorts/ist_covariates.csv" || failed="$failed $name"
    done ;;
  accept)
    for table in ist_deaddep6m ist_death6m; do
      file=${DEMUR_SHARED:-$here/../../../shared}/cohorts/$table.csv
      [ -e "$file" ] || { echo "skipped: no $table.csv" && continue; }
      "$python" "$here/accept.py" "$build" "$file" || failed="$failed $name"
    done ;;
  defaults) # the stroke cohorts, where they are; then simulated ones
    for table in ist_deaddep6m ist_death6m; do
      file=${DEMUR_SHARED:-$here/../../../shared}/cohorts/$table.csv
      [ -e "$file" ] || { echo "skipped: no $table.csv" && continue; }
      for sites in $(of "9 12 20 0" 9); do
        draws=$(of 50 1)
        [ "$sites" -gt 0 ] || draws=20
        "$bench/bench-defaults" cohort "$file" $sites $draws "${file%/*}/ist_covariates.csv"
      done
    done
    for sites in $(of "3 9 24" 3); do "$bench/bench-defaults" simulated "$sites" "$(of 30 1)"; done ;;
  real) "$python" "$here/real.py" "$build" ;;
  server) # shellcheck disable=SC2046
    sh "$here/server.sh" "$build" $(of "100000 10000 10" "1000 100 2") || [ $? -eq 77 ] || failed="$failed $name" ;;
  workstation) sh "$here/../ui/bench.sh" "$build" ;;
  *) echo "no benchmark '$name'" >&2 && exit 2 ;;
  esac || failed="$failed $name"
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
