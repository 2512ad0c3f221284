#!/usr/bin/env bash
# Runs a program on MPI ranks with the preload library, and expects that Trivance has served calls of it.
# Usage: preloaded.sh LAUNCHER LIBRARY RANKS TORUS PROGRAM [ARGUMENT…]
#   EXPECT=…   what the log must have (default: a row of the table of calls that an algorithm served)
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
if [ $code != 0 ]; then
    cat "$log"
    echo "preloaded.sh: exit code $code"
    exit 1
fi
if ! grep -q -e "${EXPECT-^trivance:   all[a-z]* *[^ m]}" "$log"; then
    cat "$log"
    echo "preloaded.sh: the log has no line like '${EXPECT-all… and the name of an algorithm}'"
    exit 1
fi
