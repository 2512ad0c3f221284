#!/usr/bin/env bash
# TRIVANCE_FALLBACK: calls that a preload library cannot dispatch are printed, or end the program; calls of collectives
# without schedules do neither, nor calls that a rule leaves to the MPI library.
# Usage: fallback.sh LAUNCHER LIBRARY PROGRAM (calls.c) FUNCTION…: functions whose calls fall back
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
launcher=$1 library=$2 program=$3 tune=
shift 3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() {
    cat "$log"
    echo "fallback.sh: $*"
    exit 1
}

run() { # ACTION FUNCTION…
    local action=$1
    shift
    timeout 120 "$launcher" -n 2 env TRIVANCE_TORUS=2 TRIVANCE_TUNE="$tune" TRIVANCE_FALLBACK="$action" LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$program" "$@" \
        > "$log" 2>&1
}

run print "$@" MPI_Bcast MPI_Scan MPI_Allreduce || fail "with TRIVANCE_FALLBACK=print the exit code is $?"
for function in "$@"; do
    [ "$(grep -c "^trivance: $function: left to the MPI library (" "$log")" = 1 ] || fail "no line about $function"
done
[ "$(grep -c '^trivance: ' "$log")" = $# ] || fail "other lines"

run error MPI_Bcast MPI_Scan MPI_Iscan MPI_Allreduce || fail "calls that Trivance never executes end the program"
for function in "$@"; do
    run error "$function" && fail "TRIVANCE_FALLBACK=error does not end the program after $function"
    grep -q "^trivance: $function: left to .*; TRIVANCE_FALLBACK=error ends the program" "$log" ||
        fail "no reason for the end after $function"
done

tune='allreduce:@mpi;reduce-scatter:@mpi;allgather:@mpi;broadcast:@mpi;alltoall:@mpi'
run error MPI_Allreduce MPI_Reduce_scatter_block MPI_Allgather MPI_Bcast MPI_Alltoall MPI_Barrier "$@" ||
    fail "calls that a rule leaves to the MPI library end the program"
exit 0
