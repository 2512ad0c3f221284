#!/usr/bin/env bash
# Starts the ranks of a job on this host: launch.sh RANKS PROGRAM [ARGUMENT…]. The exit status is that of the lowest
# rank that fails. MASTER_PORT is set to a port that is not in use, unless it is already set.
set -u
. "$(dirname "$0")/wait.sh"
ranks=$1
shift
export MASTER_ADDR=${MASTER_ADDR-127.0.0.1} WORLD_SIZE=$ranks TRIVANCE_SECRET=${TRIVANCE_SECRET-$RANDOM$RANDOM$RANDOM}
if [ -z "${MASTER_PORT-}" ]; then
    while :; do
        MASTER_PORT=$((20000 + RANDOM % 12000))
        (exec 3<> "/dev/tcp/127.0.0.1/$MASTER_PORT") 2> /dev/null || break
    done
    export MASTER_PORT
fi
pids=()
for ((rank = 0; rank < ranks; rank++)); do
    RANK=$rank "$@" &
    pids+=($!)
done
trap 'kill "${pids[@]}" 2> /dev/null' INT TERM
wait_ranks "${pids[@]}"
