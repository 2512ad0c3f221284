#!/usr/bin/env bash
# `trivance launch`: environment of the processes, exit status and end of the job when a process fails or is killed,
# invalid command lines, signals.
set -u
trivance=$1
expect() { # CODE TEXT COMMAND…: the expected exit status, and a part of the output
    local code=$1 text=$2 output ended
    shift 2
    output=$("$trivance" launch "$@" 2>&1)
    ended=$?
    [ $ended -eq "$code" ] && [[ $output == *"$text"* ]] ||
        { echo "launch $*: exit status $ended, not $code, or not '$text' in: $output"; exit 1; }
}
expect 0 "127.0.0.1 4000 2 2" -n 2 --port=4000 sh -c 'echo $MASTER_ADDR $MASTER_PORT $WORLD_SIZE $LOCAL_WORLD_SIZE'
expect 0 "rank 1 of 2" -n 2 sh -c 'echo rank $RANK of $WORLD_SIZE; [ ${#TRIVANCE_SECRET} -ge 32 ]'
expect 3 "rank 1 ended with exit status 3" -n 3 sh -c '[ $RANK != 1 ] || exit 3'
expect 137 "rank 2 was terminated by signal 9" -n 3 sh -c '[ $RANK != 2 ] || kill -9 $$; exec sleep 500'
expect 4 "so the other ranks are terminated" -n 3 sh -c 'trap "" TERM; [ $RANK != 1 ] || exit 4; while :; do sleep 0.2; done'
# The children of a shell end with the job, although the shell does not wait for them.
left=$(mktemp)
SECONDS=0
expect 5 "rank 1 ended with exit status 5" -n 2 sh -c 'sleep 500 & echo $! >> "$1"; [ $RANK != 1 ] || exit 5; wait' sh "$left"
while read -r process; do
    kill -0 "$process" 2> /dev/null && { echo "launch: a descendant of a process outlives the job"; exit 1; }
done < "$left"
[ $SECONDS -lt 100 ] && [ "$(wc -l < "$left")" -eq 2 ] || { echo "launch: the end took $SECONDS s"; exit 1; }
rm -f "$left"
expect 2 "there is no program '/no/such/program' that can be started" -n 2 /no/such/program
expect 2 "there is no program 'no-such-program'" -n 1 no-such-program
expect 2 "the number of processes" sh -c true
expect 2 "the program is missing" -n 2
expect 2 "ranks" -n 0 true

# The processes sleep for 500 s, so that a job that is not ended exceeds the limit on any machine.
within() { # SECONDS: limit on the time since the last call
    [ $SECONDS -lt "$1" ] || { echo "the others' end took $SECONDS s"; exit 1; }
    SECONDS=0
}
within 200

# A signal during the start is sent to all processes, including those that are started later.
started=$(mktemp)
trap 'rm -f "$started"' EXIT
"$trivance" launch -n 300 sh -c "echo >> '$started'; exec sleep 500" > /dev/null 2>&1 &
launcher=$!
until [ -s "$started" ]; do sleep 0.001; done
kill -TERM $launcher
wait $launcher
ended=$?
[ $ended -eq 143 ] && [ $SECONDS -lt 100 ] ||
    { echo "launch received SIGTERM during the start: exit status $ended after $SECONDS s"; exit 1; }

# The first signal is forwarded, the second kills the processes. Processes do not outlive a launcher that is killed.
begin() { # COMMAND: starts two processes with it; by $note they write their process ids to $started
    : > "$started"
    "$trivance" launch -n 2 sh -c "$1" > /dev/null 2>&1 &
    launcher=$!
    until [ "$(wc -l < "$started")" -eq 2 ]; do sleep 0.01; done
}
SECONDS=0
note="echo \$\$ >> '$started'"
begin "trap 'echo forwarded >> $started' TERM; $note; while :; do sleep 0.1; done"
kill -TERM $launcher
until [ "$(grep -c forwarded "$started")" -eq 2 ]; do sleep 0.01; done
kill -TERM $launcher
wait $launcher
[ $? -eq 137 ] || { echo "launch: a second signal did not kill"; exit 1; }
begin "$note; exec sleep 500"
kill -KILL $launcher
while read -r process; do
    while kill -0 "$process" 2> /dev/null; do sleep 0.05; done
done < "$started"
within 100
