# Completion for demur. Words come from the program's own --help, so the two agree by construction.
_demur() {
  local word=${COMP_WORDS[COMP_CWORD]} i path=() list help=$(demur --help 2>/dev/null)
  local globals=$(printf '%s\n' "$help" | sed -nE 's/^  (--[a-z-]+).*/\1/p')
  local with_value=" $(printf '%s\n' "$help" | sed -nE 's/^  (--[a-z-]+) [A-Z]+ .*/\1/p' | tr '\n' ' ')"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -*) [[ $with_value != *" ${COMP_WORDS[i]} "* ]] || ((i++)) ;;
      *) path+=("${COMP_WORDS[i]}"); [ ${#path[@]} -eq 2 ] && break ;;
    esac
  done
  # The deepest of the words so far that still has a help page of its own.
  while [ ${#path[@]} -gt 0 ] && ! list=$(demur "${path[@]}" --help 2>/dev/null); do
    unset "path[${#path[@]}-1]"
  done
  [ ${#path[@]} -gt 0 ] || list=$help
  case $word in
    -*) list=$(printf '%s\n' "$list" | grep -oE -- '--[a-z0-9-]+' | sort -u)
        list="$list $globals --help" ;;
    *) list=$(printf '%s\n' "$list" | sed -nE 's/^  ([a-z]+)  +.*/\1/p') ;;
  esac
  COMPREPLY=($(compgen -W "$list" -- "$word"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _demur demur
