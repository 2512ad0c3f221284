#!/usr/bin/env bash
# Runs random programs with both preload libraries, with the component of Open MPI, with the TRV_ functions under both
# MPIs, and without MPI; every result is compared. Usage: soak.sh [build folder]; CALLS=… is the minimum for each of the
# six (default 200000), SEED=… the first seed.
set -u
cd "$(dirname "$0")/.."
build=$PWD/${1:-build}
calls=${CALLS-200000}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed="" ways=0

# soak NAME MPI preload|component|functions LIBRARY PROGRAM
soak() {
    local program=$build/tests/soak/$5.$2
    [ -e "$4" ] && [ -x "$program" ] || return 0
    ways=$((ways + 1))
    echo "==== $1"
    tests/soak/soak.sh "$3" "$4" "mpirun.$2" "$program" "$calls" all | tee -a "$log" || failed="$failed $1"
}
set -o pipefail

soak "Open MPI with the preload library" openmpi preload "$build/src/mpi/preload/libtrivance_pmpi_openmpi.so" soak_random
soak "Open MPI with the component" openmpi component "$build/src/mpi/component" soak_random
soak "MPICH with the preload library" mpich preload "$build/src/mpi/preload/libtrivance_pmpi_mpich.so" soak_random
soak "Open MPI with the functions" openmpi functions "$build" soak_functions
soak "MPICH with the functions" mpich functions "$build" soak_functions

if [ -x "$build/tests/net/net_soak" ]; then
    ways=$((ways + 1))
    echo "==== libtrivance_net"
    tests/net/soak.sh "$build/bin/trivance" "$build/tests/net/net_soak" "$calls" | tee -a "$log" || failed="$failed libtrivance_net"
fi

sed -n 's/^\([0-9]*\) calls compared, \([0-9]*\) differ, .*/\1 \2/p' "$log" |
    awk '{ n += $1; d += $2 } END { print n + 0 " calls compared, " d + 0 " differ" }'
[ -z "$failed" ] || echo "make soak: FAILED:$failed"
[ -z "$failed" ] && [ $ways -gt 0 ]
