#!/usr/bin/env bash
# Runs a command with TRIVANCE_DEBUG=info, and expects lines in its log: by default, that Trivance has executed some of
# its calls of MPI.
# Usage: executed.sh COMMAND…
#   EXPECT=…   patterns of lines that the log must contain, one per line (default: a row of the table of calls that
#              names an algorithm)
#   COUNT=…    "NUMBER PATTERN": the number of lines in the log that match
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() {
    cat "$log"
    echo "executed.sh: $*"
    exit 1
}

TRIVANCE_DEBUG=info "$@" 2> "$log"
code=$?
if [ $code = 77 ]; then # the program skips itself, or a part, on this machine
    grep skipped "$log"
    exit 77
fi
[ $code = 0 ] || fail "exit code $code"
while IFS= read -r pattern; do
    grep -q -e "$pattern" "$log" || fail "the log has no line like '$pattern'"
done <<< "${EXPECT-^trivance:   MPI_[AB][a-z]* *[^ m]}"
if [ -n "${COUNT-}" ]; then
    lines=$(grep -c -e "${COUNT#* }" "$log")
    [ "$lines" = "${COUNT%% *}" ] || fail "the log has $lines lines like '${COUNT#* }', not ${COUNT%% *}"
fi
