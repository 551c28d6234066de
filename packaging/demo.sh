#!/bin/sh
# Installs what is missing, builds, and runs the whole path on simulated data.
# Usage: sh packaging/demo.sh [DIR]   (default: demur-demo below the project)
set -eu
cd "$(dirname "$0")/.."
sh packaging/dependencies.sh
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C build/release demur demur-workstation
exec build/release/app/demur demo --replace "${1:-demur-demo}"
