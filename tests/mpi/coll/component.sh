#!/usr/bin/env bash
# Unmodified MPI programs with the component: their results, the log, and the output of ompi_info.
# Usage: component.sh FOLDER-OF-THE-COMPONENT OMPI_INFO|none PRELOAD-LIBRARY|none MPIRUN C-PROGRAM [FORTRAN-PROGRAM]
# Without TEST_EXHAUSTIVE all forms of the collectives, Fortran and parameters; with it also threads, many communicators
# and late ranks.
set -eu -o pipefail
exhaustive=${TEST_EXHAUSTIVE:-}
export OMPI_MCA_mca_base_component_path=$1:SYSTEM_DEFAULT
info=$2 preload=$3 mpirun=$4 program=$5 fortran=${6:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

fail() {
    echo "component: $*"
    tail -n 60 "$log"
    exit 1
}

launch() { # RANKS OPTION… PROGRAM…: with the component
    local ranks=$1
    shift
    "$mpirun" -n "$ranks" --mca coll_trivance_priority 60 --mca coll_trivance_torus "$ranks" \
        --mca coll_trivance_debug info "$@" > "$log" 2>&1 || fail "the program ends with $?: $*"
    grep -q ' 0 failed$' "$log" || fail "no result: $*"
}

expect_row() { # REGULAR-EXPRESSION: a row of the table at the end
    grep -qE "^trivance: +$1" "$log" || fail "the table has no row '$1'"
}

if [ -n "$exhaustive" ]; then
    launch 3 "$program" threads
    launch 2 "$program" thousands
    launch 3 --mca coll_trivance_timeout 300ms --mca coll_trivance_debug_file "$work/rank-log.%p" "$program" late
    grep -qh 'rank 0 of MPI_COMM_WORLD has waited .* waits for ranks 1' "$work"/rank-log.* ||
        fail "no rank waits for the request"
    grep -qh 'rank 0 of MPI_COMM_WORLD has waited .* for all 3 ranks' "$work"/rank-log.* ||
        fail "no rank waits for the new operation signature"
    # Open MPI checks arguments before it calls the component.
    OMPI_MCA_coll_trivance_priority=0 "$mpirun" -n 3 "$ARGUMENTS" list | grep ': ' > "$work/plain" || fail "without the component"
    "$mpirun" -n 3 --mca coll_trivance_priority 60 --mca coll_trivance_torus 3 "$ARGUMENTS" list 2> "$log" | grep ': ' |
        diff - "$work/plain" || fail "other errors than those of Open MPI"
    # Without a priority the component is not used, whatever else is set.
    "$mpirun" -n 2 --mca coll_trivance_torus 2 --mca coll_trivance_debug trace "$program" threads > "$log" 2>&1 ||
        fail "without a priority"
    grep -q '^trivance: coll_trivance_torus is set, but not coll_trivance_priority' "$log" || fail "no line on the priority"
    [ "$(grep -c '^trivance' "$log")" = 1 ] || fail "used without a priority"
    # A wrong value is reported, and the program continues without the component.
    "$mpirun" -n 2 --mca coll_trivance_priority 60 --mca coll_trivance_torus 2y "$program" threads > "$log" 2>&1 ||
        fail "with an invalid torus"
    grep -q "warning: coll_trivance_torus: '2y' is not a torus" "$log" || fail "an invalid torus is not reported"

    # A parameter with a wrong name.
    "$mpirun" -n 2 --mca coll_trivance_tors 2 "$program" threads > "$log" 2>&1 || fail "with an unknown parameter"
    grep -q 'unknown parameter coll_trivance_tors; did you mean coll_trivance_torus?' "$log" || fail "no suggestion"

    # The preload library and the component together.
    [ "$preload" = none ] || launch 2 -x LD_PRELOAD="$preload" -x TRIVANCE_TORUS=2 "$program" threads
    [ "$preload" = none ] || grep -q 'warning: the preload library and the component' "$log" || fail "no warning on the preload"
    exit
fi

[ "$info" = none ] || "$info" --param coll trivance --level 9 > "$log"
for parameter in priority torus topology_file algorithm tune rules_file timeout fallback debug; do
    [ "$info" = none ] || grep -q "coll_trivance_$parameter\"" "$log" ||
        fail "ompi_info does not list coll_trivance_$parameter"
done

launch 4 "$program" all
expect_row 'MPI_Iallreduce +[^ m][^ ]* +[0-9]{2,}'
expect_row 'MPIX_Allreduce_init +[^ m]'
expect_row 'MPI_Barrier +trivance'
expect_row 'MPI_Reduce_scatter_block +trivance'
expect_row 'MPI_Reduce_scatter_block +mpi +1 .*does not commute' # and not those by which Open MPI executes it
expect_row 'MPI_Allgather +[^ ]+ +1 '                            # and not those of Open MPI in MPI_Comm_split
expect_row 'MPI_Bcast +[^ m]'
expect_row 'MPI_Alltoall +[^ m]'
expect_row 'MPI_Reduce +[^ m]'
expect_row 'MPI_Ibcast +[^ m]'
expect_row 'MPI_Ibarrier +[^ m]'
for name in Bcast Reduce Scatter Alltoall Gather Barrier; do
    expect_row "MPIX_${name}_init +[^ m]"
done
expect_row 'MPI_Scan +mpi +1 .*no schedules'
launch 3 "$program" internal
expect_row 'MPI_Iallreduce +[^ m][^ ]* +20 ' # and not those of MPI_Comm_dup and MPI_Comm_idup
if [ -n "$fortran" ]; then
    launch 3 "$fortran"
    expect_row 'MPI_Allreduce +trivance[^ ]* +2 '
    expect_row 'MPI_Iallreduce +trivance[^ ]* +1 '
fi

# TRIVANCE_FALLBACK=error: calls that Open MPI makes for its own purposes, and those of collectives without schedules, do
# not end the program.
launch 3 --mca coll_trivance_fallback error "$program" threads
"$mpirun" -n 2 --mca coll_trivance_priority 60 --mca coll_trivance_torus 2 --mca coll_trivance_fallback error \
    "$program" all > "$log" 2>&1 && fail "a call that falls back does not end the program"
grep -q '^trivance: MPI_Iallreduce: left to the MPI library (no blocking call .*; coll_trivance_fallback=error ends' "$log" ||
    fail "no reason for the end of the program"

# Calls that a rule leaves to the MPI library do not end it; the table has this reason for a non-blocking one, too.
launch 2 --mca coll_trivance_fallback error --mca coll_trivance_tune allreduce:@mpi "$program" requested
expect_row 'MPI_Iallreduce +mpi +[0-9]+ .*a rule of coll_trivance_tune'
expect_row 'MPI_Reduce_scatter +[^ m]'
