#!/usr/bin/env bash
# Discovery in jobs that a PMIx server starts, which reports coordinates: pmix.sh SERVER NET_PROGRAM PRELOAD_LIBRARY PROGRAM.
# Server and clients are those of the installed PMIx library; the coordinates are the test's. The last two arguments may be
# "" (no Open MPI).
set -u
server=$1 net=$2 preload=$3 program=$4
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export TRIVANCE_DEBUG=info

expect() { # WHAT PATTERN
    if ! grep -qE -- "$2" "$out"; then
        echo "$1: no line matches '$2':"
        cat "$out"
        failed=1
    fi
}

# libtrivance_net.
case_of() { # COORDINATES SHAPE PATTERN
    timeout 60 "$server" 4 "$1" "$2" "$net" > "$out" 2>&1 || { echo "$*: exit status $?"; failed=1; }
    expect "$*" "$3"
    expect "$*" '^4 ranks: element 1 is 10$'
}
case_of geometry +2x2 '^trivance: torus 2x2 from PMIX_FABRIC_COORDINATES$'
case_of geometry 2x2 '^trivance: mesh 2mx2m from PMIX_FABRIC_COORDINATES; a mesh, because PMIX_FABRIC_SHAPE is not set'
case_of coord +4 '^trivance: torus 4 from PMIX_FABRIC_COORDINATES$'
case_of string +2x2 '^trivance: PMIX_FABRIC_COORDINATES has the type PMIX_STRING on rank 0; expected .*; this source is not used$'
case_of dims +2x2 '^trivance: PMIX_FABRIC_DIMS is 3 on rank 0, and PMIX_FABRIC_COORDINATES has 2 dimensions; this source'
case_of none 4 '^trivance: 4 ranks, 4: AllReduce'

# Open MPI, which takes part in a job of a PMIx server where it finds these variables of Slurm.
if [ -n "$program" ]; then
    export SLURM_NODELIST=localhost SLURM_STEP_ID=0 SLURM_JOBID=1 OMPI_MCA_mpi_yield_when_idle=1 \
        OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
    timeout 100 "$server" 4 geometry +2x2 /usr/bin/env LD_PRELOAD="$preload" "$program" > "$out" 2>&1 ||
        { echo "Open MPI: exit status $?"; failed=1; }
    expect "Open MPI" '^trivance: torus 2x2 from PMIX_FABRIC_COORDINATES$'
    expect "Open MPI" 'comm 1 \(4 ranks, 2x2\), allreduce .*planned'
fi
exit $failed
