#!/usr/bin/env bash
# Runs a program on MPI ranks with the preload library, and expects that Trivance has executed some of its calls.
# Usage: preloaded.sh LAUNCHER LIBRARY RANKS TORUS PROGRAM [ARGUMENT…]
#   EXPECT=…   patterns of lines that the log must contain, one per line (default: a row of the table of calls that
#              names an algorithm)
#   BESIDE=…   another library to preload, after the one under test; BEFORE=… before it
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
launcher=$1 library=$2 ranks=$3 torus=$4
shift 4
log=$(mktemp)
trap 'rm -f "$log"' EXIT
preload=${BEFORE:+$BEFORE:}$library${BESIDE:+:$BESIDE}${LD_PRELOAD:+:$LD_PRELOAD}
"$launcher" -n "$ranks" env TRIVANCE_TORUS="$torus" TRIVANCE_DEBUG=info LD_PRELOAD="$preload" "$@" 2> "$log"
code=$?
[ $code != 77 ] || exit 77 # the program skips itself on this machine
if [ $code != 0 ]; then
    cat "$log"
    echo "preloaded.sh: exit code $code"
    exit 1
fi
while IFS= read -r pattern; do
    if ! grep -q -e "$pattern" "$log"; then
        cat "$log"
        echo "preloaded.sh: the log has no line like '$pattern'"
        exit 1
    fi
done <<< "${EXPECT-^trivance:   MPI_[AB][a-z]* *[^ m]}"
