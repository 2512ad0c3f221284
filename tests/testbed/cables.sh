#!/usr/bin/env bash
# Testbeds without forwarding: interfaces, subnets, which nodes reach which, and cables that are pulled. Requires root and
# a machine with TUN devices and network namespaces; skipped (77) otherwise. Usage: cables.sh BUILD PYTHON
set -u -o pipefail
build=$1
python=$2
tool=$build/bin/trivance
relays=$build/tests/net/net_relays
program=$(dirname "$(realpath "$0")")/cables.py
. "$(dirname "$0")/expect.sh"

job() { timeout 100 "$tool" testbed run --mpi=none -- "$python" "$program" "$@"; }

# count WORD: how often the job has printed the word; lines of two ranks can be joined.
count() { grep -o "$1" "$work/job" | wc -l; }

# carrier NODE INTERFACE STATE: expects the state, 1 or 0.
carrier() {
    [ "$(ip netns exec trv-$1 cat /sys/class/net/$2/carrier)" = "$3" ] || fail "carrier of $2 on node $1 is not $3"
    ip -n trv-$1 link show dev $2 > "$work/out"
    grep -q -e "$([ "$3" = 1 ] && echo LOWER_UP || echo NO-CARRIER)" "$work/out" || fail "flags of $2 on node $1"
}

# await_up NODE INTERFACE: waits until the system regards the interface as running, up to a second after its carrier.
await_up() {
    for ((i = 0; i < 100; i++)); do
        [ "$(ip netns exec trv-$1 cat /sys/class/net/$2/operstate)" = down ] || return
        sleep 0.1
    done
    fail "$2 on node $1 stays down"
}

echo "== bad input"
refuse "cannot be combined with --no-forwarding" up 5 --no-forwarding --ports
refuse "need --no-forwarding" up 5 --no-management
refuse "need --no-forwarding" up 5 --management-bandwidth=1Mb/s
refuse "cannot be combined" up 5 --no-forwarding --no-management --management-bandwidth=1Mb/s
refuse "is not a rate" up 5 --no-forwarding --management-bandwidth=0
refuse "no option '--no-forwarding'" bench --no-forwarding

echo "== a ring with a management network"
up 5 --no-forwarding --bandwidth=100Mb/s --hop-latency=200us
grep -q "without forwarding, with a management network of 5 Mb/s" "$work/out" || fail "up"
expect 0 "without forwarding, with a management network of 5 Mb/s" "$tool" testbed status
for mpi in openmpi mpich; do
    program_of_mpi=$build/examples/conjugate_gradient.$mpi
    [ ! -x "$program_of_mpi" ] || refuse "cannot run on a testbed without forwarding" run -- "$program_of_mpi"
done
expect 0 "^4: down0 up0 mgmt0" job reach
[ "$(grep -o "down0 up0 mgmt0" "$work/out" | wc -l)" = 5 ] || fail "not all ranks"
expect 0 " 10.78.0.2 trv-3" "$tool" testbed run --mpi=none -- /bin/sh -c 'echo "address $MASTER_ADDR $(hostname)"'
expect 0 "^[1-9][0-9]* bytes over the management network" "$tool" testbed status
"$tool" testbed check --format=csv > "$work/check"
[ $? -le 1 ] || fail "check"
awk -F, 'NR > 1 { rows++; if ($6 < 0.999 * $4) bad = bad "\n" $0 } NR > 1 && /hops/ && $2 > 1 { bad = bad "\n" $0 }
    END { if (rows != 5 || bad) { print "not five tests of neighbours, or faster than the model:" bad; exit 1 } }' \
    "$work/check" || fail "check"

echo "== a cable is pulled while a job runs, and plugged in again"
: > "$work/job"
job stream 3 > "$work/job" 2>&1 &
job=$!
for ((i = 0; i < 300 && $(count begun) < 5; i++)); do sleep 0.1; done
"$tool" testbed set link 0:+0 --down || fail "set"
carrier 0 up0 0
carrier 1 down0 0
carrier 1 up0 1
expect 0 '^0,+0,down,' "$tool" testbed status --format=csv
grep -q '^1,-0,down,' "$work/out" || fail "the other end of the cable is not down"
sleep 0.5
"$tool" testbed set link 1:-0 --up || fail "set"
carrier 0 up0 1
carrier 1 down0 1
wait $job || { cat "$work/job"; fail "the job did not recover"; }
[ "$(count complete)" = 5 ] || fail "not all ranks"
echo "== all cables of a node"
expect 0 "" "$tool" testbed set node 3 --down
carrier 3 up0 0
carrier 3 down0 0
carrier 2 up0 0
carrier 4 down0 0
carrier 3 mgmt0 1
expect 0 "" "$tool" testbed run --mpi=none -- /bin/true # a job may start, and finds out which cables are left
"$tool" testbed set node 3 --up || fail "set"
carrier 3 up0 1

echo "== each cable is missing from the start of a job"
if [ -x "$build/examples/allreduce_net" ]; then
    for node in 0 1 2 3 4; do
        words="no cable joins rank $node (host trv-$node) and rank $((node + 1)) (host trv-$((node + 1))).*: messages use"
        [ $node != 4 ] || words="no cable joins rank 0 and rank 4, so that the ranks are a line"
        "$tool" testbed set link $node:+0 --down || fail "set"
        expect 0 "$words" "$tool" testbed run --mpi=none -- "$build/examples/allreduce_net"
        grep -q "5 ranks: element 1 is 15" "$work/out" || fail "the result"
        "$tool" testbed set link $node:+0 --up || fail "set"
        await_up $node up0
        await_up $(((node + 1) % 5)) down0
    done
fi

echo "== jobs of libtrivance_net"
if [ -x "$relays" ]; then
    mkdir "$work/ring"
    export JOB_FILES=$work/ring
    expect 0 "the hosts of the torus 5 do not forward" env TRIVANCE_DEBUG=info "$tool" testbed run --mpi=none -- "$relays"
    timeout 100 "$tool" testbed run --mpi=none -- "$relays" unplug > "$work/job" 2>&1 &
    job=$!
    until [ -e "$JOB_FILES/begun" ] || ! kill -0 $job 2> /dev/null; do sleep 0.1; done
    "$tool" testbed set link 0:+0 --down || fail "set"
    wait $job || { cat "$work/job"; fail "a job does not report that a cable is pulled"; }
    grep -q -E "host trv-[01]\) has lost the cable of its interface (up|down)0 to rank [01] \(host trv-[01]\)" "$work/job" ||
        { cat "$work/job"; fail "the report of a pulled cable"; }
fi
down

echo "== a line of rings of two, without a management network"
up 2x3m --no-forwarding --no-management --bandwidth=100Mb/s --hop-latency=200us
expect 0 "without a management network" "$tool" testbed status
expect 0 "^4: down0 down1 up0 up1$" job reach
grep -q "^0: down0 up0 up1$" "$work/out" && grep -q "^5: down0 down1 up0$" "$work/out" || fail "interfaces"
# Node 0 is reached at its first cable, by its neighbour.
expect 0 "^10.81.0.1$" "$tool" testbed run --mpi=none -- /bin/sh -c 'echo $MASTER_ADDR'
mkdir "$work/mesh"
[ ! -x "$relays" ] || JOB_FILES=$work/mesh expect 0 "is connected to rank 0 through rank" \
    env TRIVANCE_DEBUG=info "$tool" testbed run --mpi=none -- "$relays"
down
echo "passed"
