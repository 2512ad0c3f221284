#!/usr/bin/env bash
# Discovery in MPI programs whose ranks have recorded variables of Slurm, or the functions of Fujitsu MPI (a stand-in):
# discovery.sh LAUNCHER TOOL PRELOAD_LIBRARY PROGRAM FJMPI_LIBRARY. PROGRAM is an unmodified MPI program, conjugate_gradient.
set -u
launcher=$1 tool=$2 preload=$3 program=$4 fjmpi=$5
failed=0
export TRIVANCE_ALPHA=2us

# Runs a command with the variables of Slurm for a node of a torus X x Y x Z, x fastest, PER ranks on each.
as_node() { # NAME X Y Z PER COMMAND…
    local rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${RANK:-0}}}
    local node=$((rank / $5))
    SLURM_TOPOLOGY_ADDR=$1:$((node % $2)):$((node / $2 % $3)):$((node / $2 / $3)).node$node \
        SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node exec "${@:6}"
}
export -f as_node

expect() { # WHAT PATTERN FILE
    if ! grep -qE -- "$2" "$3"; then
        echo "$1: no line matches '$2':"
        cat "$3"
        failed=1
    fi
}

out=$(mktemp)
trap 'rm -f "$out"' EXIT

job() { # RANKS COMMAND…: a job under bash, which starts COMMAND on each rank
    "$launcher" -n "$1" bash -c "$2" > "$out" 2>&1
}

# The report of the tool.
export TRIVANCE_SLURM_DIMS=t1=2x2x1
job 4 "as_node t1 2 2 1 1 '$tool' topology"
expect "Slurm" "^torus 1x2x2 from SLURM_TOPOLOGY_ADDR$" "$out"
TRIVANCE_SLURM_DIMS=t1=1x2x2 job 4 "as_node t1 2 2 1 1 '$tool' topology --why"
expect "outside" "^SLURM_TOPOLOGY_ADDR=t1:1:0:0.node1 on rank 1 is outside the dimensions 1x2x2 of the torus 't1'$" "$out"
expect "outside" "^No torus is known" "$out"

# An unmodified program: the torus is found, and calls are dispatched.
export TRIVANCE_DEBUG=info
job 4 "as_node t1 2 2 1 1 env LD_PRELOAD='$preload' '$program'"
expect "preload" "^trivance: torus 1x2x2 from SLURM_TOPOLOGY_ADDR$" "$out"
expect "preload" "comm 1 \\(4 ranks, 1x2x2\\), allreduce .*planned" "$out"

# Fujitsu MPI. Slurm's value is invalid, so the next source is used.
export FJMPI_SHAPE=4
job 4 "SLURM_TOPOLOGY_ADDR=t1.n SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node LD_PRELOAD='$preload:$fjmpi' '$program'"
expect "the next source" "warning: SLURM_TOPOLOGY_ADDR=t1.n on rank 0 does not have the form .*; this source is not used$" "$out"
expect "the next source" "^trivance: torus 4 from FJMPI_Topology_get_coords$" "$out"
expect "Fujitsu" "comm 1 \\(4 ranks, 4\\), allreduce .*planned" "$out"
[ -n "${TEST_EXHAUSTIVE-}" ] || exit $failed

TRIVANCE_TORUS=4 job 4 "as_node t1 2 2 1 1 '$tool' topology"
expect "a setting has precedence" "^torus 4 from TRIVANCE_TORUS$" "$out"
TRIVANCE_SLURM_DIMS= job 4 "as_node t1 4 1 1 1 env LD_PRELOAD='$preload' '$program'"
expect "mesh" "^trivance: mesh 1x1x4m from SLURM_TOPOLOGY_ADDR; a mesh, because the dimensions of the torus 't1' are unknown" "$out"
expect "mesh" "comm 1 \\(4 ranks, 1x1x4m\\), allreduce .*planned" "$out"
TRIVANCE_SLURM_DIMS=t1=3x1x1 job 6 "as_node t1 3 1 1 2 env LD_PRELOAD='$preload' '$program'"
expect "two ranks per node" "^trivance: torus 1x1x3 from SLURM_TOPOLOGY_ADDR, 6 ranks on 3 nodes$" "$out"
expect "two ranks per node" "comm 1 \\(6 ranks, 1x1x3\\), allreduce .*planned" "$out"

# Ranks 0 and 1 are in the torus a, the others in b.
as_node_of_two() {
    local rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} name=a
    [ "$rank" -lt 2 ] || name=b
    SLURM_TOPOLOGY_ADDR=$name:$((rank % 2)):0:0.node$rank SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node exec "$@"
}
export -f as_node_of_two
TRIVANCE_SLURM_DIMS=a=2x1x1,b=2x1x1 job 4 "as_node_of_two env LD_PRELOAD='$preload' '$program'"
expect "two tori" "a set of nodes of the mesh 2mx1x1x2 from SLURM_TOPOLOGY_ADDR; the nodes are in 2 tori" "$out"
expect "two tori" "comm 1 .*(its ranks are in several tori|on its nodes|nodes)" "$out"
TRIVANCE_SLURM_DIMS=a=2x1x1,b=2x1x1 job 4 "as_node_of_two '$tool' topology --dump"
expect "two tori" "a topology file has one torus" "$out"

job 4 "SLURM_TOPOLOGY_ADDR=s1.n SLURM_TOPOLOGY_ADDR_PATTERN=switch.node LD_PRELOAD='$preload' '$program'"
expect "switches" "^trivance: SLURM_TOPOLOGY_ADDR=s1.n has the pattern switch.node, in which there are no coordinates" "$out"
expect "switches" "no torus is found: all calls fall back" "$out"
job 4 "r=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}; [ \$r = 2 ] || as_node t1 2 2 1 1 '$tool' topology --why; exec '$tool' topology --why"
expect "missing on a rank" "^SLURM_TOPOLOGY_ADDR is not set on rank 2, but on other ranks of the job$" "$out"
job 4 "LD_PRELOAD='$preload' '$program'"
expect "nothing" "no torus is found: all calls fall back" "$out"

job 4 "FJMPI_SHAPE=2x2 LD_PRELOAD='$preload:$fjmpi' '$program'"
expect "Fujitsu" "^trivance: torus 2x2 from FJMPI_Topology_get_coords$" "$out"
FJMPI_JOB=mesh job 4 "LD_PRELOAD='$preload:$fjmpi' '$program'"
expect "Fujitsu, mesh" "^trivance: mesh 4m from FJMPI_Topology_get_coords$" "$out"
FJMPI_PER_NODE=2 FJMPI_SHAPE=2 job 4 "LD_PRELOAD='$preload:$fjmpi' '$program'"
expect "Fujitsu, two ranks per node" "^trivance: torus 2 from FJMPI_Topology_get_coords, 4 ranks on 2 nodes$" "$out"
FJMPI_JOB=scattered job 4 "LD_PRELOAD='$fjmpi' '$tool' topology --why"
expect "Fujitsu, scattered" "^FJMPI_Topology_get_coords: the ranks 0 and 1 are neighbours by their logical coordinates, but not" "$out"
FJMPI_JOB=shared job 4 "LD_PRELOAD='$fjmpi' '$tool' topology --why"
expect "Fujitsu, shared nodes" "^FJMPI_Topology_get_coords fails with the code 9 on rank 0" "$out"
exit $failed
