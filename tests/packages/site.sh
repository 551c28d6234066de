#!/bin/sh
# The site of the documentation: every page is in it, with its pictures and a search; a link to a page that is not there stops the build.
# Usage: site.sh SOURCES   (77 where Sphinx or MyST is not installed)
set -eu
sources=$1
command -v sphinx-build >/dev/null && /usr/bin/python3 -c "import myst_parser" 2>/dev/null ||
  { echo "skipped: Sphinx or MyST is not installed; packaging/dependencies-long.sh installs them"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$sources/packaging/site/build.sh" "$work/site"
for page in "$sources"/docs/*.md; do
  test -s "$work/site/docs/$(basename "$page" .md).html" || { echo "no page of $page"; exit 1; }
done
for file in index.html README.html CHANGELOG.html search.html _images/patient.png; do
  test -s "$work/site/$file" || { echo "no $file"; exit 1; }
done
grep -q selective "$work/site/searchindex.js"
if grep -rqE '(src|href)="(https?:)?//[^"]*\.(js|css)' "$work/site" --include='*.html'; then
  echo "a page fetches from elsewhere"
  exit 1
fi
mkdir "$work/tree"
(cd "$sources" && cp -r README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md LICENSE docs packaging "$work/tree")
for wrong in '[a page](none.md)' '[a heading](method.md#none-such)'; do
  cp "$sources/docs/privacy.md" "$work/tree/docs/privacy.md"
  printf '\n%s\n' "$wrong" >> "$work/tree/docs/privacy.md"
  if sh "$work/tree/packaging/site/build.sh" "$work/other" 2>"$work/said"; then
    echo "taken: $wrong"
    exit 1
  fi
  grep -q none "$work/said"
done
echo "a site of $(find "$work/site" -name '*.html' | wc -l) pages"
