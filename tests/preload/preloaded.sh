#!/usr/bin/env bash
# Runs a program on MPI ranks with the preload library, and expects that Trivance has executed some of its calls.
# Usage: preloaded.sh LAUNCHER LIBRARY RANKS TORUS PROGRAM [ARGUMENT…]
#   EXPECT=… COUNT=…   lines of the log (executed.sh)
#   BESIDE=…   another library to preload, after the one under test; BEFORE=… before it
set -u
launcher=$1 library=$2 ranks=$3 torus=$4
shift 4
preload=${BEFORE:+$BEFORE:}$library${BESIDE:+:$BESIDE}${LD_PRELOAD:+:$LD_PRELOAD}
exec "$(dirname "$0")/executed.sh" "$launcher" -n "$ranks" env TRIVANCE_TORUS="$torus" \
    LD_PRELOAD="$preload" "$@"
