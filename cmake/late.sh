#!/bin/sh
# What a room that is loaded late needs of the program, from its object files or archive (app/late/late.h).
#   late.sh NM NAME FILE TRAMPOLINES GIVEN BUILD OBJECT ..
# TRAMPOLINES: assembler, one call of late_function for each function of ours that it defines. GIVEN: options of the linker,
# that keep and export what it calls of the rooms below it. BUILD: assembler of the module's, the digest of its object files,
# which the trampolines have too. It changes where they do, and no commit or clock is in it: the same sources, the same bytes.
set -eu
nm=$1 name=$2 file=$3 trampolines=$4 given=$5 build=$6
shift 6
LC_ALL=C
export LC_ALL
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 == "T" { print $1 }' | sort -u >"$trampolines.functions"
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 ~ /[A-TV-Z]/ { print $1 }' | sort -u >"$trampolines.defined"
"$nm" -P "$@" | awk '$1 ~ /^demur_/ && $2 == "U" { print $1 }' | sort -u | comm -23 - "$trampolines.defined" >"$trampolines.wanted"
[ -s "$trampolines.functions" ] || { echo "late.sh: $* define no function" >&2; exit 1; }
digest=$(cat "$@" | sha256sum | cut -d ' ' -f 1)
[ "${#digest}" = 64 ] || { echo "late.sh: no digest of $*" >&2; exit 1; }
cat >"$build" <<END
  .section .rodata
  .globl demur_late_build
  .type demur_late_build, @object
demur_late_build:
  .asciz "$digest"
  .size demur_late_build, . - demur_late_build
  .section .note.GNU-stack, "", @progbits
END
{
  echo "#include \"app/late/x86-64.inc\""
  echo "late_begin $name, $file, $digest"
  sed "s/^/late_function $name, /" "$trampolines.functions"
  echo "late_end $name"
} >"$trampolines"
sed 's/.*/-Wl,-u,& -Wl,--export-dynamic-symbol=&/' "$trampolines.wanted" >"$given"
