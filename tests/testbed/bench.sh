#!/usr/bin/env bash
# trivance testbed bench, of algorithms and of a program, and the cleanup of a testbed that is interrupted while it is
# set up. Requires root and a machine with TUN devices and network namespaces; skipped (77) otherwise. Times are checked
# only where they follow from the emulated network. Usage: bench.sh BUILD MPI…
set -u -o pipefail
build=$1
shift
tool=$build/bin/trivance
. "$(dirname "$0")/expect.sh"

echo "== bad input"
up 3 # exits with 77 if the machine cannot have a testbed
down || fail "down"
refuse "there is no algorithm" bench --algorithm=trivance-x
refuse "not a multiple of 8" bench --bytes=7
refuse "expected on, off or both" bench --rendezvous=maybe
refuse "is not a rank, a port and a factor" bench --slow-link=0:+0
refuse "no link leaves rank 2 by port +0: it is the last of its line on 3m" bench --torus=3m --cut=2:+0
refuse "leave no route between the nodes 0 and 3" bench --torus=9 --cut=2:+0 --cut=5:+0
# Two sizes with the first MPI, one with the other.
bytes=8,4K
for mpi in "$@"; do
    echo "== $mpi: every algorithm"
    sizes=$(wc -w <<< "${bytes//,/ }")
    (cd "$work" && ASAN_OPTIONS=detect_leaks=0 "$tool" testbed bench --torus=3 --mpi=$mpi --bytes=$bytes --iterations=2 \
        --rendezvous=off --compare --out=results --slow-link=0:+0:2x > out 2>&1)
    [ $? -le 1 ] || fail "bench"
    grep -q "During the job deliveries were late by" "$work/out" || fail "no lateness of the job"
    grep -q "rendezvous off" "$work/out" && grep -q "within 15 % of the prediction" "$work/out" || fail "no table"
    # Each size is run by all algorithms of the MPI library and nine of Trivance; each of the nine is known and
    # predicted.
    awk -F, -v mpi=$mpi -v sizes=$sizes 'NR > 1 && $4 == mpi && $13 > 0 { rows++ }
        NR > 1 && $4 == mpi && $8 == "trivance" && $11 != "" && $16 > 0 && $18 > 0 { ours++ }
        END { exit !(rows >= 13 * sizes && ours == 9 * sizes) }' "$work/results/testbed.csv" ||
        { cat "$work/results/testbed.csv"; fail "rows"; }
    if /usr/bin/python3 -c "import numpy, matplotlib" 2> /dev/null; then
        grep -q "Trivance, auto, doubles" "$work/results/3-$mpi-eager.svg" || fail "no plot"
    fi
    bytes=8
done

mpi=$1
echo "== $mpi: a broadcast, an all-to-all"
(cd "$work" && ASAN_OPTIONS=detect_leaks=0 "$tool" testbed bench --torus=3 --mpi=$mpi --bytes=8 --iterations=2 \
    --collective=alltoall,broadcast --rendezvous=off --compare --out=collectives > out 2>&1)
[ $? -le 1 ] || fail "bench of collectives"
grep -q "^All-to-All, .*rendezvous off" "$work/out" && grep -q "^Broadcast, .*rendezvous off" "$work/out" || fail "no tables"
# The blocks of an all-to-all are one double for every rank.
awk -F, 'NR > 1 && $8 == "trivance" && $11 != "" && $7 == ($23 == "broadcast" ? 8 : 24) && $18 > 0 { ours[$23 $9]++ }
    NR > 1 && $8 == "library" { library[$23 $9]++ }
    END { exit !(ours["broadcastauto"] == 1 && ours["alltoallplanned"] == 1 && ours["broadcasttrivance-tree"] == 1 &&
        library["broadcastbinomial"] == 1 && library["alltoallpairwise"] == 1) }' "$work/collectives/testbed.csv" ||
    { cat "$work/collectives/testbed.csv"; fail "rows of collectives"; }
if /usr/bin/python3 -c "import numpy, matplotlib" 2> /dev/null; then
    [ -s "$work/collectives/3-$mpi-eager-broadcast.svg" ] || fail "no plot of a broadcast"
fi

refuse "cannot be used with a program" bench --bytes=8 -- /bin/true
refuse "is not linked with Open MPI or MPICH" bench -- /bin/true
refuse "expected one MPI library" bench --mpi=openmpi,mpich -- /bin/true
for mpi in "$@"; do
    echo "== $mpi: a program"
    (cd "$work" && ASAN_OPTIONS=detect_leaks=0 "$tool" testbed bench --torus=3 --out=results --iterations=1 -- \
        "$build/examples/conjugate_gradient.$mpi" 100 40 > out 2>&1)
    [ $? -le 1 ] || fail "bench of a program"
    grep -q "with it .* 82 " "$work/out" || fail "not reported: two AllReduces per iteration, and two more"
    # The times are the program's, most of which is spent in AllReduce; both outputs are kept.
    awk -F, 'NR > 1 && $10 == "program" && $11 > 0.04 && $14 > 20 && $14 <= 100 && $15 == 82 { rows++ }
        END { exit rows != 2 }' "$work/results/program.csv" || { cat "$work/results/program.csv"; fail "rows"; }
    grep -q "TRIVANCE_BANDWIDTH=50Mb/s.* TRIVANCE_HOP_LATENCY=2ms" "$work/results/3-$mpi-rendezvous-drop-in-1.out" ||
        fail "no readable settings"
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

echo "== namespaces of other programs"
ip netns add trv-1
trap 'ip netns delete trv-1 2> /dev/null; rm -rf "$work"' EXIT
refuse "does not belong to a testbed" up 3
echo "passed"
