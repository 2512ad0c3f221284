#!/usr/bin/env bash
# A testbed of three nodes and jobs on it. Requires root and a machine with TUN devices and network namespaces; skipped
# (77) otherwise. Times are not checked, since the machine may be busy, except that no time may be below the model's.
# Usage: testbed.sh BUILD MPI…
set -u -o pipefail
build=$1
shift
tool=$build/bin/trivance
. "$(dirname "$0")/expect.sh"

nothing_left() {
    for node in 0 1 2; do [ -z "$(ip netns pids trv-$node)" ] || fail "processes are left on trv-$node"; done
}

# job ARGUMENTS…: runs a job. Leaks are not detected, because MPI libraries do not free all memory.
job() { ASAN_OPTIONS=detect_leaks=0 "$tool" testbed run "$@"; }

# wait_for_line WORDS: waits until the background job has printed a line that matches.
wait_for_line() {
    for ((i = 0; i < 300; i++)); do
        ! grep -q -e "$1" "$work/job" || return 0
        sleep 0.1
    done
    cat "$work/job"
    fail "the job did not print '$1'"
}

# start ARGUMENTS…: starts a job in the background, which prints "begun" when it has begun.
start() {
    : > "$work/job" # remove the output of the previous job
    ASAN_OPTIONS=detect_leaks=0 "$tool" testbed run "$@" > "$work/job" 2>&1 &
    job=$!
    wait_for_line begun
}

echo "== bad input"
refuse "a command is missing"
refuse "did you mean status" statsu
refuse "expected one torus" up
refuse "is not a torus" up 3x
refuse "is not a rate" up 3 --bandwidth=50
refuse "needs a value" up 3 --hop-latency
refuse "from 1Kb/s" up 3 --bandwidth=1b/s
refuse "did you mean --bandwidth" up 3 --bandwith=1Mb/s
for option in bandwidth management-bandwidth; do
    refuse "trivance testbed up: --$option: expected a bandwidth from 1Kb/s to 1Tb/s, for example 50Mb/s" up 5 --no-forwarding --$option=100Tb/s
done
refuse "--hop-latency: expected a latency of at most 1000s, for example 2ms" up 5 --hop-latency=2000s
refuse "unexpected argument" down now

echo "== up"
up 3 --bandwidth=20Mb/s --hop-latency=5ms
refuse "is up already" up 3
refuse "one node" up 1x1 # reported before any other check
refuse "fit on this machine" up 100x100
refuse "expected a link" set link 0+0 --down
refuse "at least one of" set node 1
refuse "node 3 does not exist" set node 3 --down
refuse "port -1 does not exist" set link 0:-1 --down
refuse "expected a program" run
refuse "is not linked with Open MPI or MPICH" run -- /bin/true
refuse "the program './not-there' does not exist" run --mpi=openmpi -- ./not-there
refuse "one rank for each node" run --ranks=4 -- /bin/true
refuse "expected openmpi, mpich or none" run --mpi=lam -- /bin/true

echo "== check and status"
"$tool" testbed check --format=csv > "$work/check"
[ $? -le 1 ] || fail "check"
tail -n +2 "$work/check" | awk -F, '{ rows++; if ($6 < 0.999 * $4) bad = bad "\n" $0 }
    END { if (rows < 5 || bad) { print "faster than the model, or too few tests:" bad; exit 1 } }' || fail "check"
expect 0 "torus 3, links of 20 Mb/s and 5 ms" "$tool" testbed status
expect 0 '"node": 2, "port": "-0", "state": "up"' "$tool" testbed status --format=json
"$tool" testbed set link 1:+0 --bandwidth=1Mb/s --latency=7ms --down || fail "set"
expect 0 '^1,+0,down,1.000,7.000,' "$tool" testbed status --format=csv
"$tool" testbed set link 1:+0 --bandwidth=20Mb/s --latency=5ms --up || fail "set"

"$tool" testbed set link 0:+0 --down --both-ways > "$work/out" 2>&1 || fail "set"
[ ! -s "$work/out" ] || fail "unexpected warning for a ring with one cut"
expect 0 "warning: no job can start on all nodes now: the row of rank 0 .* is cut in two places" "$tool" testbed set link 1:+0 --down --both-ways
for mpi in "$@"; do
    refuse "is cut in two places" run -- "$build/examples/conjugate_gradient.$mpi"
done
"$tool" testbed set link 0:+0 --up --both-ways && "$tool" testbed set link 1:+0 --up --both-ways || fail "set"

for mpi in "$@"; do
    program=$build/examples/conjugate_gradient.$mpi
    export TRIVANCE_DEBUG=info
    echo "== $mpi"
    expect 0 "on 3 ranks: .* error" job -- "$program" 100 35
    expect 0 "on 3 ranks: .* error" job --no-rendezvous --drop-in -- "$program" 100 35
    grep -q "comm 1 (3 ranks, 3), allreduce .*: trivance" "$work/out" || fail "the job does not use the torus"
    expect 0 "on 2 ranks: .* error" job --ranks=2 -- "$program" 100 35
    expect 2 "at least 1" job -- "$program" 0
    other=$([ "$mpi" = openmpi ] && echo mpich || echo openmpi)
    refuse "omit --mpi" run --mpi=$other -- "$program"

    "$tool" testbed set link 1:+0 --down --both-ways || fail "set"
    "$tool" testbed set link 0:+0 --bandwidth=10Mb/s || fail "set"
    expect 0 "on 3 ranks: .* error" job --drop-in -- "$program" 100 35
    expect 0 'from.: .1., .port.: .+0., .down.: true}' cat /run/trivance-testbed/torus.json
    expect 0 'from.: .0., .port.: .+0., .speed.: 0.5, .one_way' cat /run/trivance-testbed/torus.json
    "$tool" testbed set link 1:+0 --up --both-ways || fail "set"
    "$tool" testbed set link 0:+0 --bandwidth=20Mb/s || fail "set"

    reduce=$build/tests/testbed/reduce.$mpi
    echo "== $mpi: a link is cut for a while"
    start --drop-in -- "$reduce" 2
    "$tool" testbed set link 0:+0 --down || fail "set"
    refuse "another job" run -- "$program"
    sleep 0.5
    "$tool" testbed set link 0:+0 --up || fail "set"
    wait $job || { cat "$work/job"; fail "the job did not recover"; }
    [ "$(grep -c ", 0 wrong" "$work/job")" = 3 ] || fail "wrong results"

    echo "== $mpi: a link is cut permanently"
    TRIVANCE_TIMEOUT=1s start --drop-in -- "$reduce" 60
    "$tool" testbed set link 0:+0 --down || fail "set"
    wait_for_line "rank 1 of MPI_COMM_WORLD has waited .* waits for ranks .*0"
    kill -TERM $job
    wait $job && fail "it should not end well"
    "$tool" testbed set link 0:+0 --up || fail "set"
    nothing_left

    echo "== $mpi: a rank is killed"
    start -- "$reduce" 60
    for process in $(ip netns pids trv-1); do
        [ "$(cat /proc/$process/comm)" = "$(basename "$reduce" | cut -c1-15)" ] && kill -9 "$process"
    done
    wait $job && fail "a killed rank went unnoticed"
    nothing_left

    echo "== $mpi: the job is ended"
    start -- "$reduce" 60
    kill -TERM $job
    wait $job && fail "a job that was ended has succeeded"
    nothing_left
done

echo "== the emulator is killed"
[ $# = 0 ] || start -- "$reduce" 60
kill -9 "$("$tool" testbed status | sed -n 's/.*emulator \([0-9]*\) .*/\1/p')" || fail "no emulator"
if [ $# != 0 ]; then
    wait $job
    [ $? = 2 ] && grep -q "emulator ended" "$work/job" || fail "a job without its network goes on"
    nothing_left
fi
refuse "does not answer" status
refuse "does not answer" run --mpi=openmpi -- /bin/true
expect 0 "is removed" "$tool" testbed down
expect 0 "no testbed" "$tool" testbed down
ours=
refuse "no testbed is up" check
[ ! -e /run/trivance-testbed ] || fail "/run/trivance-testbed is left"
! ip netns list | grep -q '^trv-' || fail "namespaces are left"

echo "passed"
