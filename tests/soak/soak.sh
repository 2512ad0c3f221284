#!/usr/bin/env bash
# Runs random programs until a number of calls has been compared, with the preload library, the component or the TRV_
# functions, on several numbers of ranks, with and without threads, with several settings.
# Usage: soak.sh preload|component|functions LIBRARY LAUNCHER PROGRAM CALLS [quick|all]
#   LIBRARY   the preload library, or the component's folder; anything for the functions
#   CALLS     the minimum number of compared calls, which the rows below share
#   quick     only the first row, in one run (`make check`); all: every row, and a line per run (`make soak`); else the
#             rows marked "check" (`make check-all`)
#   SEED=…    the first seed (default 1)
# The last line is "N calls compared, M differ". The exit status is 1 if a result differs, a run hangs, or Trivance
# executed no call.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/mpi-environment.sh"
mode=$1 library=$2 launcher=$3 program=$4 calls_min=$5 extent=${6-}
seed=${SEED-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
nodes=TRIVANCE_TOPOLOGY_FILE=$here/.. # several ranks per node
rules="TRIVANCE_TUNE=allreduce:0-1k:@ring;allreduce:64k-inf:@mpi;allgather:0-inf:@bruck-b;broadcast:0-1k:@linear"
rules="$rules;broadcast:1k-inf:@chain;reduce:0-1k:@binomial;reduce:1k-inf:@disjoint-trees;scatter:0-inf:@by-dimension"
rules="$rules;gather:0-inf:@balanced-paths;alltoall:0-1k:@pairwise;alltoall:1k-64k:@linear;alltoall:64k-inf:@mpi"

# Columns: tier, share of the calls, ranks, threads, calls per run and thread, setting. MPICH is slow if ranks outnumber
# cores: a call waits for milliseconds until the other ranks are scheduled.
if [[ $launcher == *mpich* ]]; then
    rows="check 88 2 1 2500 TRIVANCE_TORUS=2
          check 10 2 3 600 TRIVANCE_TORUS=2
          check 1 4 1 100 TRIVANCE_TORUS=2x2,2,3
          check 1 3 1 100 TRIVANCE_TORUS=3,2
          soak 5 2 1 2500 TRIVANCE_ALGORITHM=planned
          soak 5 2 1 2500 $rules
          soak 2 4 1 200 $nodes/preload/round-robin.json
          soak 2 5 1 200 TRIVANCE_TORUS=5,3,2
          soak 1 6 1 100 TRIVANCE_TORUS=2x3,2,3
          soak 1 7 2 100 TRIVANCE_TORUS=7,3
          soak 1 8 1 100 TRIVANCE_TORUS=2x2x2,2x2,2
          soak 1 8 1 100 $nodes/mpi/nodes-2x2.json
          soak 1 9 1 100 TRIVANCE_TORUS=3x3,3"
else
    rows="check 55 4 1 2500 TRIVANCE_TORUS=2x2,2,3
          check 15 4 3 400 TRIVANCE_TORUS=4,2
          check 10 3 1 2000 TRIVANCE_TORUS=3,2
          check 5 4 1 1000 $nodes/preload/round-robin.json
          check 5 6 1 1000 $nodes/preload/blocked.json
          check 5 4 1 1000 $rules
          check 10 5 1 1000 TRIVANCE_TORUS=5,3,2
          soak 10 2 1 5000 TRIVANCE_TORUS=2
          soak 10 4 1 2500 TRIVANCE_ALGORITHM=planned
          soak 5 2 4 1000 TRIVANCE_TORUS=2
          soak 5 6 1 2000 TRIVANCE_TORUS=2x3,2,3
          soak 5 7 2 500 TRIVANCE_TORUS=7,3
          soak 10 8 1 1500 TRIVANCE_TORUS=2x2x2,2x2,2
          soak 5 8 1 1500 $nodes/mpi/nodes-2x2.json
          soak 10 9 1 1500 TRIVANCE_TORUS=3x3,3
          soak 5 9 1 1500 TRIVANCE_TORUS=3mx3m,3m,2"
fi
[ "$extent" = all ] || rows=$(grep check <<< "$rows")
if [ "$extent" = quick ]; then
    read -r mark share ranks threads _ setting <<< "$rows"
    rows="$mark $share $ranks $threads $calls_min $setting"
fi
shares=$(awk '{ n += $2 } END { print n }' <<< "$rows")

# run RANKS THREADS CALLS SETTING: runs the program; its output goes to $log
run() {
    local ranks=$1 program=("$program" --threads "$2" --calls "$3" --seed "$seed") setting=$4
    if [ "$mode" = preload ]; then
        timeout 900 "$launcher" -n "$ranks" env TRIVANCE_DEBUG=info "$setting" LD_PRELOAD="$library" "${program[@]}"
    elif [ "$mode" = functions ]; then
        timeout 900 "$launcher" -n "$ranks" env TRIVANCE_DEBUG=info "$setting" "${program[@]}"
    else
        OMPI_MCA_mca_base_component_path=$library:SYSTEM_DEFAULT timeout 900 "$launcher" -n "$ranks" \
            --mca coll_trivance_priority 60 env TRIVANCE_DEBUG=info "$setting" "${program[@]}"
    fi > "$log" 2>&1 < /dev/null
}

began=$SECONDS compared=0 differ=0 failed=0 executed=0
while read -r _ share ranks threads calls setting; do
    part=$(((calls_min * share + shares - 1) / shares))
    target=$((compared + part)) calls=$((part < 50 ? 50 : part < calls ? part : calls)) # at most the row's share
    until [ "$compared" -ge "$target" ]; do
        run "$ranks" "$threads" "$calls" "$setting"
        code=$?
        run_text="seed $seed, $ranks ranks, $threads threads, --calls $calls, $setting"
        read -r more wrong < <(sed -n 's/.*: \([0-9]*\) calls compared, \([0-9]*\) differ$/\1 \2/p' "$log")
        grep -q '^trivance:   [MPI_]*[Aa]ll[a-z]* *[^ m]' "$log" && executed=$((executed + 1))
        if [ $code != 0 ]; then
            failed=$((failed + 1))
            echo "soak.sh: exit code $code, $run_text:"
            grep -v '^trivance: comm' "$log" | head -n 20
            [ "${more:-0}" -gt 0 ] || break # it hung or crashed: continue with the next row
        fi
        compared=$((compared + ${more:-0})) differ=$((differ + ${wrong:-0})) seed=$((seed + 1))
        [ "$extent" != all ] || echo "$compared of $calls_min calls compared, $differ differ; about" \
            "$(((SECONDS - began) * (calls_min - compared > 0 ? calls_min - compared : 0) / (compared + 1))) s left ($run_text)"
    done
done <<< "$rows"
echo "$compared calls compared, $differ differ, $failed runs failed, in $((SECONDS - began)) s"
[ $executed -gt 0 ] || echo "soak.sh: Trivance executed no call"
[ $failed = 0 ] && [ $executed -gt 0 ] && [ "$compared" -ge "$calls_min" ]
