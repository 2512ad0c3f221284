#!/usr/bin/env bash
# Diagnostics on one rank alone: they say what they say there, and no rank waits for another because of them.
# Usage: one_rank.sh LAUNCHER LIBRARY PROGRAM [ARGUMENT…]; LIBRARY is a preload library, or "none".
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
launcher=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRIVANCE_TORUS=2x2 ONE_RANK_LIBRARY=$library

# fail WORDS
fail() {
    echo "one_rank.sh: $*"
    cat "$work/log" "$work"/said.* 2> "$work/none"
    exit 1
}

# run NAME=VALUE…: all ranks run the program, rank 1 with these as well.
run() {
    rm -f "$work"/said.*
    timeout 60 "$launcher" -n 4 bash -c '
        settings=()
        for word in "$@"; do [ "$word" = -- ] && break; settings+=("$word"); done
        shift $((${#settings[@]} + 1))
        [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ] || settings=()
        [ "$ONE_RANK_LIBRARY" = none ] || settings+=(LD_PRELOAD="$ONE_RANK_LIBRARY")
        exec env "${settings[@]}" "$@"' rank "$@" -- "${command[@]}" > "$work/log" 2>&1
    code=$?
    [ $code = 0 ] || fail "with $* on rank 1 the exit code is $code"
}

command=("$@")
run TRIVANCE_TIMEOUT=20s
run TRIVANCE_RECORDER=1
run TRIVANCE_DEBUG=info TRIVANCE_DEBUG_FILE="$work/said.%p"
[ "$(ls "$work"/said.* | wc -l)" = 1 ] || fail "not one rank alone speaks"
grep -qE '^trivance:   all[a-z]+ +[^ m]' "$work"/said.* || fail "rank 1 does not say what served its calls"
run TRIVANCE_TIMEOUT=1ns TRIVANCE_RECORDER=1 TRIVANCE_DEBUG=trace TRIVANCE_DEBUG_FILE="$work/said.%p"
grep -qE '^trivance: comm [0-9]+ .* bytes: ' "$work"/said.* || fail "rank 1 does not say its calls"
