#!/bin/sh
# Every benchmark one after the other; ends with 1 where a twin's numbers differ from ours, or where a selector is called
# better too often though nothing is planted. About an hour and a half on two quiet processors; on a busy machine the
# times say little, so the load is printed with them.
#   all.sh BUILD_FOLDER [NAME..]      equality time features evaluate published growth intervals simulations sites watch mix accept defaults real workstation
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
bench=$build/tests/bench
shift
[ $# -gt 0 ] || set -- equality time features evaluate published growth intervals simulations sites watch mix accept defaults real workstation
python=/usr/bin/python3
failed=""
for name in "$@"; do
  echo "== $name ($(uptime | sed 's/.*load/load/'))"
  case $name in
  equality) "$python" "$here/update.py" equality "$bench" 200 ;;
  time) "$python" "$here/update.py" time "$bench" 2
    # shellcheck disable=SC2046
    "$python" "$here/update.py" time "$bench" 1 \
      $("$build/app/demur" --version --verbose | sed -n 's/^kernel: .*processor: \(.*\))$/\1/p') ;;
  features) "$python" "$here/features.py" "$bench/bench-features" 6000 6282 256 2 ;;
  evaluate) "$python" "$here/evaluate.py" "$bench/bench-evaluation" 2 ;;
  published) sh "$here/published.sh" "$build" ;;
  growth) sh "$here/growth.sh" "$build" ;;
  intervals) # 200 to 400 cohorts each
    DEMUR_LONG=1 "$build/tests/unit-evaluation-intervals" &&
      DEMUR_LONG=1 "$build/tests/unit-evaluation-censoring" &&
      DEMUR_LONG=1 "$build/tests/unit-evaluation-better" &&
      DEMUR_LONG=1 "$build/tests/unit-evaluation-mix" &&
      DEMUR_LONG=1 "$build/tests/unit-metrics-selective" &&
      DEMUR_LONG=1 "$build/tests/unit-selector-guarantee" &&
      DEMUR_LONG=1 "$build/tests/unit-selector-measure-guarantee" ;;
  simulations) "$bench/bench-simulations" example 2 3 && "$bench/bench-simulations" cohorts 2 200 40 40 ;;
  sites) "$bench/bench-sites" 400 ;;
  watch) "$bench/bench-watch" 500 200 ;;
  mix) "$bench/bench-mix" simulated && "$bench/bench-mix" simulated 400 15 || failed="$failed $name"
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
      for sites in 9 12 20 0; do
        draws=50
        [ $sites -gt 0 ] || draws=20
        "$bench/bench-defaults" cohort "$file" $sites $draws "${file%/*}/ist_covariates.csv"
      done
    done
    for sites in 3 9 24; do "$bench/bench-defaults" simulated $sites 30; done ;;
  real) "$python" "$here/real.py" "$build" ;;
  workstation) sh "$here/../ui/bench.sh" "$build" ;;
  *) echo "no benchmark '$name'" >&2 && exit 2 ;;
  esac || failed="$failed $name"
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
