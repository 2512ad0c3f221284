#!/usr/bin/env bash
# The log of ranks that wait for another one. Usage: hang.sh MPIRUN PROGRAM
# Without TEST_EXHAUSTIVE only ranks that wait for a collective.
set -eu -o pipefail
exhaustive=${TEST_EXHAUSTIVE:-}
mpirun=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
# A file per process, because launchers mix the lines of different ranks.
export TRIVANCE_TIMEOUT=300ms TRIVANCE_ALGORITHM=trivance-b TRIVANCE_DEBUG_FILE=$work/rank-log.%p

fail() {
    echo "hang: $*"
    cat "$log"
    grep -hv '^trivance:   call' "$work"/rank-log.* || true
    exit 1
}

expect_line() { # REGULAR-EXPRESSION
    grep -qhE "^trivance: $1" "$work"/rank-log.* || fail "no rank logs '$1'"
}

"$mpirun" -n 3 "$program" goes-on > "$log" 2>&1 || fail "the program ends with $?"
grep -q ', 0 failed$' "$log" || fail "wrong results"
expect_line 'rank 0 of MPI_COMM_WORLD has waited [0-9.]+ s for all 3 ranks of a communicator'
for rank in 0 2; do
    expect_line "rank $rank of MPI_COMM_WORLD has waited [0-9.]+ s in comm 1 \(3 ranks, 3\), call 302: allreduce of 4000 bytes, \
by trivance-b; rank $rank: lane 0 of 1, step [01] of 2, waits for ranks 1"
    expect_line "rank $rank of MPI_COMM_WORLD continues after [0-9.]+ s in comm 1 \(3 ranks, 3\), call 302: allreduce of 4000 \
bytes, by trivance-b$"
    expect_line "rank $rank of MPI_COMM_WORLD has waited [0-9.]+ s in comm 1 .*, call 303: allreduce of 4 bytes"
    expect_line "the latest collectives of rank $rank of comm 1 \(3 ranks, 3\); 248 more are recorded, and SIGUSR1 prints all:"
done
grep -qh 'rank 1 of MPI_COMM_WORLD has waited' "$work"/rank-log.* && fail "the late rank reports that it waits"
expect_line ' +call 302: allreduce of 4000 bytes, trivance-b: began [0-9.]+ s ago, not complete'
expect_line ' +call 301: allreduce of 4000 bytes, trivance-b: began [0-9.]+ s ago, complete after [0-9.]+ s'
expect_line ' +call 304: allreduce of 4000 bytes, trivance-b: began [0-9.]+ s ago, not complete' # on SIGUSR1
grep -qh '^trivance:   call 45:' "$work"/rank-log.* && fail "more than the latest 256 calls are kept"
expect_line ' +call 49: allreduce of 4000 bytes, trivance-b: began [0-9.]+ s ago, complete' # on SIGUSR1, on rank 0
[ "$(grep -lE '^trivance:   call (49|100|200):' "$work"/rank-log.* | wc -l)" = 1 ] || fail "a timeout prints all calls"

[ -n "$exhaustive" ] || exit 0

# Connections are closed by all ranks together; otherwise MPI_Finalize would not wait here.
rm "$work"/rank-log.*
TRIVANCE_TRANSPORT=ofi timeout 100 "$mpirun" -n 3 "$program" finalizes > "$log" 2>&1 || fail "the end ends with $?"
if ! grep -q "built without libfabric" "$log" "$work"/rank-log.*; then
    expect_line 'rank [02] of MPI_COMM_WORLD has waited [0-9.]+ s in MPI_Finalize; connections close when all ranks call it'
    expect_line 'rank [02] of MPI_COMM_WORLD continues after [0-9.]+ s in MPI_Finalize$'
fi

rm -f "$work"/rank-log.*
code=0
TRIVANCE_ON_TIMEOUT=abort timeout 100 "$mpirun" -n 3 "$program" aborts > "$log" 2>&1 || code=$?
[ $code -ne 0 ] && [ $code -ne 124 ] || fail "with abort the program ends with $code"
expect_line 'TRIVANCE_ON_TIMEOUT=abort ends the program'
