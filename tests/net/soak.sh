#!/usr/bin/env bash
# Random programs of jobs without MPI: soak.sh TRIVANCE PROGRAM CALLS. Compares at least CALLS calls, on 2 … 16 ranks.
# SEED=… is the first seed; TRIVANCE_PROVIDER=… selects another provider than tcp (docs/connections.md describes the
# limits of shm).
set -u
trivance=$1 program=$2 calls=$3
seed=${SEED-$((RANDOM * 32768 + RANDOM))}
compared=0
export TRIVANCE_PROVIDER=${TRIVANCE_PROVIDER-tcp}
while [ $compared -lt "$calls" ]; do
    ranks=$((2 + seed % 15))
    part=$((calls / 4 < 1000 ? calls / 4 : 1000))
    line=$(timeout 300 "$trivance" launch -n $ranks -- "$program" $part $seed) ||
        { echo "soak.sh: failed with SEED=$seed, $ranks ranks, TRIVANCE_PROVIDER=$TRIVANCE_PROVIDER: $line"; exit 1; }
    echo "$line"
    compared=$((compared + ${line%% *}))
    seed=$((seed + 1))
done
