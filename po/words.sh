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
  # With a header: without one what is not ASCII is left out. It ends at the first empty line.
  xgettext "$@" --no-location -x "$file" -o "$work/new.po" -f po/POTFILES
  if [ -s "$work/new.po" ]; then
    sed '1,/^$/d' "$work/new.po" >"$work/texts.po"
    mv "$work/texts.po" "$work/new.po"
    { echo; cat "$work/new.po"; } >>"$file"
    echo "$file: $(grep -c '^msgid ' "$work/new.po") texts to translate at its end"
  else
    echo "$file: nothing new"
  fi
done <po/LINGUAS
