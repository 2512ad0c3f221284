#!/usr/bin/env bash
# A demonstration that takes less than 20 seconds: results on real MPI ranks, simulated times, the drop-in, a drawn
# schedule. Usage: demo.sh [build folder]
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
. scripts/mpi-environment.sh
trivance=$build/bin/trivance
algorithms=trivance-l,trivance-l-grouped,trivance-b,bucket,recdoub-l,recdoub-b,swing-l,swing-b,bruck-l,bruck-b,hybrid
algorithms+=,line-pipelined,star,planned

# Runs a command; its log is shown only if it fails.
quietly() {
    "$@" 2> "$log" || { code=$?; cat "$log" >&2; exit $code; }
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "1. AllReduce on 9 MPI ranks of this machine, by fourteen algorithms on a 3x3 torus."
quietly mpirun.openmpi -n 9 "$trivance" bench --torus 3x3 --algorithm "$algorithms" --bytes 64,4K,256K --format csv |
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { name = $column["chosen_for"] }
        !(name in marks) { order[++names] = name }
        { marks[name] = marks[name] ($column["wrong"] == 0 && $column["identical"] == "true" ? " ✓" : " ✗") }
        END {
            print "algorithm (64 B, 4 KiB, 256 KiB)   ✓: exact, and identical on all ranks; ✗: not"
            for (i = 1; i <= names; i++) printf "%-18s %s%s", order[i], marks[order[i]], i % 2 ? "      " : "\n"
        }'

echo
echo "2. Simulated times on a 3x3 torus, fastest first, with their ratio to the lower bound."
"$trivance" simulate 3x3 --algorithm "$algorithms" --bytes 1K,64K,4M --ranking | sed '1,3d'

echo
echo "3. An unmodified MPI program with the drop-in library, which logs each decision and its reason."
quietly "$trivance" run --torus 3x3 --debug info -- mpirun.openmpi -n 9 "$build/examples/conjugate_gradient.openmpi"
sed -n '/^trivance: comm 1 .*allreduce/{p;q}' "$log" | fold -s -w 100 | sed 's/ *$//'

echo
echo "4. Trivance on a ring of 9: in step 1 every rank sends sums of three vectors over distance 3."
"$trivance" plan 9 --algorithm trivance-l | sed -n '/^step 0:/,/^contributions/{/^contributions/!p}'

tool=${trivance#"$PWD"/}
echo "Next: $tool plan 32x32 --bytes 256K --why    # the fastest schedule, and the reason"
echo "      $tool simulate 8x8 --slow-link 0:+0:4x # what a slow link costs"
echo "      $tool verify 9x9 --algorithm all       # proves every algorithm exact"
