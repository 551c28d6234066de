#!/bin/sh
# The kernels on processors that this machine is not, under qemu: those of aarch64, and on x86-64 without AVX and with
# AVX2; then a whole training by the portable kernel, whose selector must have the same digest on each of them.
#   other-processors.sh SOURCE_FOLDER BUILD_FOLDER
# Ends with 77 where qemu or the compiler for aarch64 is not installed (packaging/dependencies-long.sh).
set -eu
source=$1
build=$2
for program in qemu-aarch64 qemu-x86_64 aarch64-linux-gnu-gcc; do
  command -v $program >/dev/null || { echo "skipped: there is no $program" && exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

core=$source/core
# GLib's headers are those of this machine: nothing of the library itself is linked.
# shellcheck disable=SC2046
aarch64-linux-gnu-gcc -std=gnu17 -O3 -ffp-contract=off -ffunction-sections -Wl,--gc-sections -static -DG_DISABLE_CHECKS \
  -Dg_snprintf=snprintf $(pkg-config --cflags glib-2.0 openblas) -I"$core" -I"$source/tests" \
  "$source/tests/kernels/other-processor.c" "$core/selector/mlp.c" "$core/selector/mlp-neon.c" \
  "$core/selector/mlp-portable.c" "$core/base/random.c" -lm -o "$folder/kernels"
echo "aarch64:"
qemu-aarch64 "$folder/kernels"

for processor in Nehalem Haswell; do
  echo "$processor:"
  qemu-x86_64 -cpu $processor "$build/tests/unit-selector-kernel" 2>/dev/null | grep -v '^# '
done

awk 'BEGIN {
  srand(3); ORS = ""
  print "patient_id,site,split,label,risk"
  for (k = 0; k < 12; k++) print ",emb_" k
  print "\n"
  for (i = 0; i < 1100; i++) {
    risk = .05 + .9 * rand()
    split_name = i < 500 ? "base_train" : i < 900 ? "selector_train" : i < 1000 ? "validation" : "test"
    printf "p%d,h%d,%s,%d,%.6f", i, i % 9, split_name, rand() < risk, risk
    for (k = 0; k < 12; k++) printf ",%.4f", rand() + rand() + risk
    print "\n"
  }
}' >"$folder/cohort.csv"
demur="$build/app/demur --quiet --threads 1 --kernel portable --workspace $folder/w.demur"
# What the program asks for when it starts anew by itself: under qemu a new start would be this machine's.
settings="OPENBLAS_CORETYPE=Prescott GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"
$demur cohort import c "$folder/cohort.csv" >/dev/null
digest() { # how the program is run
  env $settings "$@" $demur --json train s --replace --cohort c --epochs 1 --datasets-per-epoch 640 --average 2 2>/dev/null |
    sed -n 's/^ "digest": "\(.*\)",$/\1/p'
}
here=$(digest)
[ -n "$here" ] || { echo "the training on this processor failed" >&2 && exit 1; }
echo "selector by the portable kernel: $here"
for processor in Nehalem Haswell max; do
  there=$(digest qemu-x86_64 -cpu $processor)
  [ "$there" = "$here" ] || { echo "another selector on $processor: $there" >&2 && exit 1; }
  echo "the same on $processor"
done
