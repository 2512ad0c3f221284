#!/usr/bin/env bash
# Discovery in jobs of a real Slurm: a controller and a daemon for each of four nodes, all on this host, in a folder of the
# test's own: slurm.sh TOOL PRELOAD_LIBRARY PROGRAM NET_PROGRAM. Exit status 77 if Slurm or munge is not installed, or if its
# build does not support several nodes on one host.
#
# Slurm before 26.05 has no topology/torus3d. For its coordinates a prolog sets the recorded variables in each task, and
# `scontrol` is a script for one of the cases.
set -u
tool=$1 preload=$2 program=$3 net=$4
PATH=$PATH:/usr/sbin
for needed in slurmctld slurmd srun scontrol munged; do
    command -v $needed > /dev/null || { echo "skipped: $needed is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: only root can start the daemons of several nodes"; exit 77; }

dir=$(mktemp -d /tmp/trivance-slurm.XXXXXX)
pids=()
stop() {
    scancel --user=root --full 2> /dev/null && sleep 1
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2> /dev/null
    [ ${#pids[@]} -eq 0 ] || wait "${pids[@]}" 2> /dev/null
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' TERM INT
port=$((20000 + RANDOM % 10000))

# ---- The cluster -----------------------------------------------------------------------------------------------------

mkdir "$dir/state" "$dir/bin"
head -c 1024 /dev/urandom > "$dir/key"
chmod 400 "$dir/key"
chmod 755 "$dir"
munged --foreground --force --key-file="$dir/key" --socket="$dir/munge" --pid-file="$dir/munge.pid" \
    --log-file="$dir/munge.log" --seed-file="$dir/seed" > /dev/null 2>&1 &
pids+=($!)

# The variables of topology/torus3d for a node of a torus of 2x2x1, x fastest.
cat > "$dir/prolog" << 'EOF'
#!/bin/sh
[ "$TRIVANCE_TEST_TORUS" = 1 ] || exit 0
node=${SLURMD_NODENAME#n}
echo "export SLURM_TOPOLOGY_ADDR=t1:$((node % 2)):$((node / 2)):0.n$node"
echo "export SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node"
EOF
chmod 755 "$dir/prolog"
cat > "$dir/slurm.conf" << EOF
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$dir/prolog
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
ReturnToService=2
TmpFS=$dir/tmp.%n
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
EOF
for node in 0 1 2 3; do
    echo "NodeName=n$node NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 1 + node)) CPUs=1 State=UNKNOWN" \
        >> "$dir/slurm.conf"
    mkdir "$dir/spool.n$node" "$dir/tmp.n$node"
done
echo "PartitionName=all Nodes=n[0-3] Default=YES MaxTime=10 State=UP" >> "$dir/slurm.conf"
printf 'SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=top Switches=s[0-1]\n' > "$dir/topology.conf"
export SLURM_CONF=$dir/slurm.conf

for ((i = 0; i < 50; i++)); do [ -S "$dir/munge" ] && break; sleep 0.1; done
slurmctld -D -i > "$dir/out.ctld" 2>&1 &
pids+=($!)
for node in 0 1 2 3; do
    slurmd -D -N n$node > "$dir/out.n$node" 2>&1 &
    pids+=($!)
done
ready() { [ "$(sinfo -h -t idle -o %D 2> /dev/null)" = 4 ]; }
for ((i = 0; i < 100; i++)); do ready && break; sleep 0.3; done
if ! ready; then
    cat "$dir"/out.* "$dir"/*.log 2> /dev/null | tail -20
    echo "skipped: the four nodes of Slurm did not start on this host"
    exit 77
fi

# ---- The tests -------------------------------------------------------------------------------------------------------

failed=0
out=$dir/out
expect() { # WHAT PATTERN
    if ! grep -qE -- "$2" "$out"; then
        echo "$1: no line matches '$2':"
        cat "$out"
        failed=1
    fi
}
job() { timeout 30 srun --mpi=pmix -N 4 -n 4 "$@" > "$out" 2>&1; }

echo "Slurm $(slurmctld -V)"
# Real: topology/tree. Its address and what scontrol prints describe switches.
job sh -c 'echo "$SLURM_TOPOLOGY_ADDR $SLURM_TOPOLOGY_ADDR_PATTERN"'
expect "the variables of topology/tree" '^top\.s1\.n3 switch\.switch\.node$'
scontrol show topology > "$dir/topology"
"$tool" topology "$dir/topology" > "$out" 2>&1
expect "scontrol show topology" 'torus 2x2, 4 hosts at 4 coordinates'
expect "scontrol show topology" '^  n2  n3$'
job env OMPI_MCA_btl_vader_single_copy_mechanism=none LD_PRELOAD="$preload" TRIVANCE_DEBUG=info "$program"
expect "switches" '^trivance: SLURM_TOPOLOGY_ADDR=top\.s0\.n0 has the pattern switch\.switch\.node, in which there are no'
expect "switches" 'no torus is found: all calls fall back'

# Recorded values of topology/torus3d in a real job, started by `trivance run`, which asks scontrol: a script here.
cat > "$dir/bin/scontrol" << 'EOF'
#!/bin/sh
[ "$*" = "show topology" ] && echo "TorusName=t1 Dims=2x2x1 Nodes=n[0-3]"
EOF
chmod 755 "$dir/bin/scontrol"
export TRIVANCE_TEST_TORUS=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
job env LD_PRELOAD="$preload" TRIVANCE_DEBUG=info "$program"
expect "torus3d without dimensions" '^trivance: mesh 1x2mx2m from SLURM_TOPOLOGY_ADDR; a mesh, because the dimensions of'
cat > "$dir/batch" << EOF
PATH=$dir/bin:\$PATH exec '$tool' run --debug=info -- srun --mpi=pmix -n 4 '$program'
EOF
timeout 30 salloc -N 4 -n 4 bash "$dir/batch" > "$out" 2>&1
expect "trivance run" 'TRIVANCE_SLURM_DIMS=t1=2x2x1'
expect "trivance run" '^trivance: torus 1x2x2 from SLURM_TOPOLOGY_ADDR$'
expect "trivance run" 'comm 1 \(4 ranks, 1x2x2\), allreduce .*planned'

# libtrivance_net, which PMIx of Slurm starts.
if [ -n "$net" ]; then
    TRIVANCE_SLURM_DIMS=t1=2x2x1 TRIVANCE_DEBUG=info job "$net"
    expect "libtrivance_net" '^trivance: torus 1x2x2 from SLURM_TOPOLOGY_ADDR$'
    expect "libtrivance_net" '4 ranks: element 1 is 10'
fi
exit $failed
