#!/usr/bin/env bash
# Runs a program on MPI ranks with the preload library, and expects that Trivance has served calls of it.
# Usage: preloaded.sh LAUNCHER LIBRARY RANKS TORUS PROGRAM [ARGUMENT…]
#   EXPECT=…   patterns of lines that the log must have, one in a line (default: a row of the table of calls that an
#              algorithm served)
#   BESIDE=…   another library to preload, behind ours
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
launcher=$1 library=$2 ranks=$3 torus=$4
shift 4
log=$(mktemp)
trap 'rm -f "$log"' EXIT
preload=$library${BESIDE:+:$BESIDE}
"$launcher" -n "$ranks" env TRIVANCE_TORUS="$torus" TRIVANCE_DEBUG=info LD_PRELOAD="$preload" "$@" 2> "$log"
code=$?
[ $code != 77 ] || exit 77 # the program is to be skipped on this machine
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
done <<< "${EXPECT-^trivance:   all[a-z]* *[^ m]}"
