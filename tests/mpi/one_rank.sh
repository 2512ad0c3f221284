#!/usr/bin/env bash
# Diagnostics that are set on one rank only: that rank logs, and no rank waits for another because of them.
# Usage: one_rank.sh LAUNCHER LIBRARY PROGRAM [ARGUMENT…]; LIBRARY is a preload library, or "none".
# Without TEST_EXHAUSTIVE only all diagnostics together.
set -u
exhaustive=${TEST_EXHAUSTIVE:-}
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
launcher=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRIVANCE_TORUS=2x2 ONE_RANK_LIBRARY=$library

# fail WORDS
fail() {
    echo "one_rank.sh: $*"
    cat "$work/log" "$work"/rank-log.* 2> "$work/none"
    exit 1
}

# run NAME=VALUE…: all ranks run the program, rank 1 also with these variables.
run() {
    rm -f "$work"/rank-log.*
    timeout 120 "$launcher" -n 4 bash -c '
        settings=()
        for word in "$@"; do [ "$word" = -- ] && break; settings+=("$word"); done
        shift $((${#settings[@]} + 1))
        [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ] || settings=()
        [ "$ONE_RANK_LIBRARY" = none ] || settings+=(LD_PRELOAD="$ONE_RANK_LIBRARY")
        exec env "${settings[@]}" "$@"' rank "$@" -- "${command[@]}" > "$work/log" 2>&1
    code=$?
    [ $code = 0 ] || fail "with $* on rank 1 the exit code is $code"
}

# The table has the names of MPI for calls through a preload library, and those of the collectives for TRV_ functions.
[ "$library" = none ] && function='all[a-z]+' || function='MPI_All[a-z]+'

command=("$@")
# check_log: one rank has written a log, and the log has the table of calls.
check_log() {
    [ "$(ls "$work"/rank-log.* | wc -l)" = 1 ] || fail "not one rank alone writes a log"
    grep -qE "^trivance:   $function +[^ m]" "$work"/rank-log.* || fail "the log does not name the algorithm of the calls of rank 1"
}

if [ -n "$exhaustive" ]; then
    run TRIVANCE_TIMEOUT=20s
    run TRIVANCE_RECORDER=1
    run TRIVANCE_DEBUG=info TRIVANCE_DEBUG_FILE="$work/rank-log.%p"
    check_log
fi
run TRIVANCE_TIMEOUT=1ns TRIVANCE_RECORDER=1 TRIVANCE_DEBUG=trace TRIVANCE_DEBUG_FILE="$work/rank-log.%p"
check_log
grep -qE '^trivance: comm [0-9]+ .* bytes: ' "$work"/rank-log.* || fail "the log does not have the calls of rank 1"
