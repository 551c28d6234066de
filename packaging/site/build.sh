#!/bin/sh
# The documentation as a site of HTML, with a search; a warning (a link to a page or heading that is not there, a page in no table of contents)
# is an error.
# Usage: sh packaging/site/build.sh FOLDER   (needs python3-sphinx and python3-myst-parser: packaging/dependencies-long.sh)
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md LICENSE docs packaging/site/index.md "$work"
sphinx-build -q -W --keep-going -b html -d "$work/.doctrees" -c packaging/site "$work" "$out"
