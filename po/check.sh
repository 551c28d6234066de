#!/bin/sh
# Whether every translation has all the words that the sources have now.   check.sh SOURCE_FOLDER XGETTEXT_OPTION..
set -eu
cd "$1"
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
xgettext "$@" --no-location -o "$work/now.pot" -f po/POTFILES 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
for file in $(grep -lE '[^A-Za-z0-9_](N?_|ngettext_|demur_chart_word|DEMUR_CHART_WORD|DEMUR_TASK_WORD)\("' core/*/*.c dicom/*.c* ui/*.c app/workstation/*.c); do
  grep -qx "$file" po/POTFILES || { echo "$file has words and is not in po/POTFILES"; exit 1; }
done
# What raises errors: the window may show them, and its reader's language is theirs.
for file in $(grep -lE 'demur_error_(set|new|prefix)\(|demur_table_(fail|faults_note)\(' core/*/*.c dicom/*.c* ui/*.c); do
  case $file in
    core/base/error.c | core/cohort/table-faults.c) continue ;;
  esac
  grep -qx "$file" po/POTFILES || { echo "$file raises errors and is not in po/POTFILES"; exit 1; }
done
while read -r language; do
  # A union of two lines of work can run two entries together, which msgfmt reads and the next one who appends doesn't.
  if grep -B1 '^msgid ' "po/$language.po" | grep -q '^msgstr\|^"'; then
    grep -n -B1 '^msgid ' "po/$language.po" | grep -A1 '^[0-9]*-\(msgstr\|"\)'
    echo "po/$language.po: entries without a blank line between them"
    exit 1
  fi
  msgmerge -q --no-fuzzy-matching -o "$work/now.po" "po/$language.po" "$work/now.pot"
  # The head is always there: a text more is a text that lacks its translation.
  lacking=$(msgattrib --untranslated "$work/now.po" | grep -c '^msgid' || true)
  fuzzy=$(msgattrib --only-fuzzy "$work/now.po" | grep -c '^msgid' || true)
  if [ "$lacking" -gt 1 ] || [ "$fuzzy" -gt 0 ]; then
    msgattrib --untranslated "$work/now.po"
    echo "po/$language.po is not complete: build the target words, which writes them at its end, and translate"
    exit 1
  fi
done <po/LINGUAS
