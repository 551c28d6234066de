#!/bin/sh
# Installs what only `check.sh --long` needs beside dependencies.sh: the programs and libraries that are timed and
# compared with, other processors' compiler and emulator, a Slurm and an MPI, what looks at memory. Changes nothing else. As root or with sudo.
set -eu
exec sh "$(dirname "$0")/install-missing.sh" \
  orthanc orthanc-dicomweb gcovr valgrind qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
  python3-numpy python3-scipy python3-sklearn python3-torch \
  python3-setuptools python3-wheel python3-pip r-base-core debhelper dh-python lintian python3-all \
  slurm-wlm munge libopenmpi-dev openmpi-bin jupyter-nbconvert python3-ipykernel piuparts autopkgtest debootstrap python3-sphinx python3-myst-parser
