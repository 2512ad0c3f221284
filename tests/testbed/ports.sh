#!/usr/bin/env bash
# A testbed with an interface for each link (testbed up --ports), and a job of libtrivance_net on it: the system's
# counters of each interface must match the bytes that the schedule sends by the interface's port. Requires root and a
# machine with TUN devices and network namespaces; skipped (77) otherwise.
# Usage: ports.sh TRIVANCE PROGRAM PROVIDER; the program PROVIDER prints libfabric's provider
set -u -o pipefail
tool=$1
program=$2
provider=$3
# Messages are sent as a whole, with a rendezvous: many fragments at once would overflow the queues of the links, and
# the system's counters include TCP's retransmissions.
export TRIVANCE_PIECE=0
. "$(dirname "$0")/expect.sh"

# job CODE WORDS PROGRAM ARGUMENT…: runs a program in the testbed; see expect
job() {
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" timeout 100 "$tool" testbed run --mpi=none -- "$@"
}

up 3x2m --bandwidth=100Mb/s --hop-latency=200us --ports
[ -e /run/netns/trv-0 ] || fail "no nodes"
ip -n trv-0 -o link show dev up1 > "$work/out" 2>&1 || fail "node 0 has no interface for its link +1"
! ip -n trv-0 -o link show dev down1 > "$work/out" 2>&1 || fail "node 0 has an interface where its line ends"
down

up 3
[ "$("$tool" testbed run --mpi=none -- "$tool" topology --ports --bytes=4K --format=csv 2> "$work/out" |
    awk -F, 'NR > 1 { print $4 }' | sort -u)" = tun0 ] || fail "messages use another network than the torus"
down

up 3x3 --bandwidth=100Mb/s --hop-latency=200us --ports
echo "== an interface for each port"
unset TRIVANCE_PORTS
job 0 "^tcp" "$provider" # nodes are separate hosts: no messages bypass the links through shared memory
export TRIVANCE_PORTS=+0=up0,-0=down0,+1=up1,-1=down1
job 0 "" "$program" 3x3 4 found trivance-b
unset TRIVANCE_PORTS # the testbed sets the network of the job
job 0 "" "$program" 3x3 4 found trivance-l-grouped
echo "== TRIVANCE_PORTS takes precedence over names; one interface for both directions"
export TRIVANCE_PORTS=+0=up1,-0=up1,+1=down1,-1=up0
job 0 "" "$program" 3x3 3 kernel trivance-b
down

up 3 --bandwidth=100Mb/s --hop-latency=200us --ports
echo "== found without TRIVANCE_PORTS, or among its interfaces" # on a ring, whose jobs start faster
for TRIVANCE_PORTS in "" 10.80.0.0/16 down0,up0; do
    job 0 "" "$program" 3 2 found trivance-b
done
echo "== bad input"
export TRIVANCE_PORTS=+0=up0,-0=up7
job 1 "no active interface 'up7'" "$program" 3 2 kernel trivance-b
export TRIVANCE_PORTS=10.99.0.0/16
job 1 "no active interface '10.99.0.0/16'" "$program" 3 2 kernel trivance-b
"$tool" testbed run --mpi=none --drop-in -- "$program" > "$work/out" 2>&1
[ $? = 2 ] && grep -q "cannot be combined with --mpi=none" "$work/out" || fail "--drop-in without MPI"
down

# Slow links, so that their time dominates.
up 3 --bandwidth=5Mb/s --hop-latency=1ms --ports
# measured CODE PATHS LEAST MOST: checks the verdict, and the gain of using both directions at once, in one of five
# attempts, since the machine may be busy.
measured() {
    local attempt
    for attempt in 1 2 3 4 5; do
        timeout 100 "$tool" testbed run --mpi=none -- "$tool" topology --ports --bytes=256K > "$work/out" 2>&1
        [ $? = "$1" ] && awk -v least="$3" -v most="$4" '$1 == "0" && NF > 5 && $5 + 0 >= least && $5 + 0 <= most {
            found = 1 } END { exit !found }' <(tail -n 6 "$work/out" | grep "$2") && return
    done
    fail "not measured: exit code $1, $2, $3 to $4"
}
unset TRIVANCE_PORTS
echo "== two interfaces, two paths"
measured 0 "two separate paths" 1.8 2.1
echo "== one interface for both directions"
TRIVANCE_PORTS=+0=up0,-0=up0 measured 0 "shared interface" 0.9 1.2
echo "== messages bound to an interface leave through another"
for node in 0 1 2; do
    ip -n trv-$node rule flush && ip -n trv-$node rule add from all lookup main && ip -n trv-$node route replace \
        10.80.0.0/16 dev up0 && ip -n trv-$node route flush table main dev down0
done 2> /dev/null
TRIVANCE_PORTS=+0=up0,-0=down0 measured 1 "shared route" 0.9 1.2
grep -q "sends through another device" "$work/out" || fail "no warning about another device"
down
echo "passed"
