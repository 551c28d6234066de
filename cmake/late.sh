#!/bin/sh
# What a room that is loaded late needs of the program, from its object files or archive (app/late/late.h).
#   late.sh NM NAME FILE TRAMPOLINES GIVEN OBJECT ..
# TRAMPOLINES: assembler, one call of late_function for each function of ours that it defines. GIVEN: options of the linker,
# that keep and export what it calls of the rooms below it.
set -eu
nm=$1 name=$2 file=$3 trampolines=$4 given=$5
shift 5
LC_ALL=C
export LC_ALL
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 == "T" { print $1 }' | sort -u >"$trampolines.functions"
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 ~ /[A-TV-Z]/ { print $1 }' | sort -u >"$trampolines.defined"
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 == "U" { print $1 }' | sort -u | comm -23 - "$trampolines.defined" >"$trampolines.wanted"
[ -s "$trampolines.functions" ] || { echo "late.sh: $* define no function" >&2; exit 1; }
{
  echo "#include \"app/late/x86-64.inc\""
  echo "late_begin $name, $file"
  sed "s/^/late_function $name, /" "$trampolines.functions"
  echo "late_end $name"
} >"$trampolines"
sed 's/.*/-Wl,-u,& -Wl,--export-dynamic-symbol=&/' "$trampolines.wanted" >"$given"
