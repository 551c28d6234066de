#!/bin/sh
# Runs g_test programs one after the other (run-test.sh); ends with the status of the first that fails.
# Usage: run-each.sh PROGRAM ..
for program in "$@"; do
  sh "$(dirname "$0")/run-test.sh" "$program" || exit
done
