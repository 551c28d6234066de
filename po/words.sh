#!/bin/sh
# Writes the texts that a translation lacks at its end, to be translated there.   words.sh SOURCE_FOLDER XGETTEXT_OPTION..
set -eu
cd "$1"
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r language; do
  file=po/$language.po
  rm -f "$work/new.po"
  xgettext "$@" --no-location --omit-header -x "$file" -o "$work/new.po" -f po/POTFILES
  if [ -s "$work/new.po" ]; then
    { echo; cat "$work/new.po"; } >>"$file"
    echo "$file: $(grep -c '^msgid ' "$work/new.po") texts to translate at its end"
  else
    echo "$file: nothing new"
  fi
done <po/LINGUAS
