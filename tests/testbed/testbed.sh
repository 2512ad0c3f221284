#!/usr/bin/env bash
# A testbed of three nodes, as root where the machine has TUN devices and network namespaces; elsewhere skipped (77).
# Times are not judged here, since the machine may be busy; but nothing is ever faster than the model.
# Usage: testbed.sh BUILD MPI…
set -u -o pipefail
build=$1
shift
tool=$build/bin/trivance
work=$(mktemp -d)
trap '[ -z "${ours-}" ] || "$tool" testbed down > /dev/null; rm -rf "$work"' EXIT

fail() { echo "testbed.sh: $*"; [ ! -s "$work/out" ] || cat "$work/out"; exit 1; }

# expect CODE WORDS COMMAND…: exit code and a part of what is said.
expect() {
    local code=$1 words=$2 got
    shift 2
    "$@" > "$work/out" 2>&1
    got=$?
    [ $got = "$code" ] || fail "exit code $got, not $code: $*"
    grep -q -e "$words" "$work/out" || fail "not said '$words': $*"
}

# refuse WORDS ARGUMENTS…: one line, exit code 2, nothing on standard output.
refuse() {
    local words=$1
    shift
    expect 2 "$words" "$tool" testbed "$@"
    [ "$(wc -l < "$work/out")" = 1 ] || fail "more than one line: $*"
}

nothing_left() {
    for node in 0 1 2; do [ -z "$(ip netns pids trv-$node)" ] || fail "processes are left on trv-$node"; done
}

# job ARGUMENTS…: what MPI libraries do not free in a job is not our business, where a sanitizer looks.
job() { ASAN_OPTIONS=detect_leaks=0 "$tool" testbed run "$@"; }

# said WORDS: waits until the job in the background has said it.
said() {
    for ((i = 0; i < 300; i++)); do
        ! grep -q -e "$1" "$work/job" || return 0
        sleep 0.1
    done
    cat "$work/job"
    fail "the job does not say '$1'"
}

# start ARGUMENTS…: a job in the background, which says "begun" when it has begun.
start() {
    : > "$work/job" # what the one before has said is not this one's
    ASAN_OPTIONS=detect_leaks=0 "$tool" testbed run "$@" > "$work/job" 2>&1 &
    job=$!
    said begun
}

echo "== bad input"
refuse "a command is missing"
refuse "did you mean status" statsu
refuse "one torus" up
refuse "is not a torus" up 3x
refuse "is not a rate" up 3 --bandwidth=50
refuse "needs a value" up 3 --hop-latency
refuse "may be from" up 3 --bandwidth=1b/s
refuse "did you mean --bandwidth" up 3 --bandwith=1Mb/s
refuse "takes no arguments" down now

echo "== up"
"$tool" testbed up 3 --bandwidth=20Mb/s --hop-latency=5ms > "$work/out" 2>&1
if [ $? != 0 ]; then
    grep -q -E "needs root|TUN devices|network namespaces|iproute2|is there already|at work" "$work/out" || fail "up"
    echo "skipped: $(cat "$work/out")"
    exit 77
fi
ours=1
refuse "is there already" up 3
refuse "one node" up 1x1 # said before anything is looked at
refuse "fit on this machine" up 100x100
refuse "name a link" set link 0+0 --down
refuse "at least one of" set node 1
refuse "there is no node 3" set node 3 --down
refuse "there is no port -1" set link 0:-1 --down
refuse "program to start is missing" run
refuse "is not a program that is linked" run -- /bin/true
refuse "no program './not-there'" run --mpi=openmpi -- ./not-there
refuse "each takes one rank" run --ranks=4 -- /bin/true
refuse "none of openmpi, mpich and none" run --mpi=lam -- /bin/true

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
[ ! -s "$work/out" ] || fail "a ring with one cut is whole"
expect 0 "warning: no job can now start on all nodes: the row of rank 0 .* is cut in two places" "$tool" testbed set link 1:+0 --down --both-ways
for mpi in "$@"; do
    refuse "is cut in two places" run -- "$build/examples/conjugate_gradient.$mpi"
done
"$tool" testbed set link 0:+0 --up --both-ways && "$tool" testbed set link 1:+0 --up --both-ways || fail "set"

for mpi in "$@"; do
    program=$build/examples/conjugate_gradient.$mpi
    export TRIVANCE_DEBUG=info
    echo "== $mpi"
    expect 0 "on 3 ranks: .* error" job -- "$program" 100
    expect 0 "on 3 ranks: .* error" job --no-rendezvous --drop-in -- "$program" 100
    grep -q "comm 1 (3 ranks, 3), allreduce .*: trivance" "$work/out" || fail "the job does not know the torus"
    expect 0 "on 2 ranks: .* error" job --ranks=2 -- "$program" 100
    expect 2 "at least 1" job -- "$program" 0
    other=$([ "$mpi" = openmpi ] && echo mpich || echo openmpi)
    refuse "leave --mpi out" run --mpi=$other -- "$program"

    "$tool" testbed set link 1:+0 --down --both-ways || fail "set"
    "$tool" testbed set link 0:+0 --bandwidth=10Mb/s || fail "set"
    expect 0 "on 3 ranks: .* error" job --drop-in -- "$program" 100
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

    echo "== $mpi: a link is cut for good"
    TRIVANCE_TIMEOUT=1s start --drop-in -- "$reduce" 60
    "$tool" testbed set link 0:+0 --down || fail "set"
    said "rank 1 of MPI_COMM_WORLD has waited .* waits for ranks .*0"
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
    [ $? = 2 ] && grep -q "emulator has ended" "$work/job" || fail "a job without its network goes on"
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

echo "== benchmark"
refuse "there is no algorithm" bench --algorithm=trivance-x
refuse "multiples of 8" bench --bytes=7
refuse "none of on, off and both" bench --rendezvous=maybe
refuse "is not a rank, a port and a factor" bench --slow-link=0:+0
refuse "no link leaves rank 2 by port +0 on 3m" bench --torus=3m --cut=2:+0
refuse "is cut in two places" bench --torus=9 --cut=2:+0 --cut=5:+0
for mpi in "$@"; do
    (cd "$work" && ASAN_OPTIONS=detect_leaks=0 "$tool" testbed bench --torus=3 --mpi=$mpi --bytes=8,4K --iterations=2 \
        --rendezvous=off --compare --out=results --slow-link=0:+0:2x > out 2>&1)
    [ $? -le 1 ] || fail "bench"
    grep -q "During the job deliveries were late by" "$work/out" || fail "no lateness of the job"
    grep -q "TRIVANCE_BANDWIDTH=50Mb/s.* TRIVANCE_HOP_LATENCY=2ms" "$work/out" || fail "no readable settings"
    grep -q "rendezvous off" "$work/out" && grep -q "within 15 % of the prediction" "$work/out" || fail "no table"
    # Two sizes by all of the library's and nine of ours; every one of ours is known and predicted.
    awk -F, -v mpi=$mpi 'NR > 1 && $4 == mpi && $13 > 0 { rows++ }
        NR > 1 && $4 == mpi && $8 == "trivance" && $11 != "" && $16 > 0 && $18 > 0 { ours++ }
        END { exit !(rows >= 26 && ours == 18) }' "$work/results/testbed.csv" ||
        { cat "$work/results/testbed.csv"; fail "rows"; }
done

refuse "are not for a program" bench --bytes=8 -- /bin/true
refuse "is not a program that is linked" bench -- /bin/true
refuse "uses one MPI" bench --mpi=openmpi,mpich -- /bin/true
for mpi in "$@"; do
    (cd "$work" && ASAN_OPTIONS=detect_leaks=0 "$tool" testbed bench --torus=3 --out=results --iterations=1 -- \
        "$build/examples/conjugate_gradient.$mpi" 100 40 > out 2>&1)
    [ $? -le 1 ] || fail "bench of a program"
    grep -q "with it .* 82 " "$work/out" || fail "not told: two AllReduces per iteration, and two more"
    # The times are the program's, in which AllReduces are most; both outputs are kept.
    awk -F, 'NR > 1 && $10 == "program" && $11 > 0.04 && $14 > 20 && $14 <= 100 && $15 == 82 { rows++ }
        END { exit rows != 2 }' "$work/results/program.csv" || { cat "$work/results/program.csv"; fail "rows"; }
    [ "$(grep -l "on 3 ranks: .* error" "$work/results/3-$mpi-rendezvous-"*.out | wc -l)" = 2 ] || fail "no outputs"
done

echo "== interrupted, and killed"
for signal in INT KILL KILL KILL; do
    "$tool" testbed up 100 > "$work/out" 2>&1 &
    sleep "0.0$((RANDOM % 10))"
    kill -$signal $!
    wait $! 2> /dev/null
    "$tool" testbed down > /dev/null || fail "down"
    [ ! -e /run/trivance-testbed ] || fail "/run/trivance-testbed is left"
    ! ip netns list | grep -q '^trv-' || fail "namespaces are left"
done

echo "== not ours"
ip netns add trv-1
refuse "no testbed made it" up 3
ip netns delete trv-1
echo "passed"
