# Sourced by launch.sh and cables.sh.

# wait_ranks PID…: waits for the processes of all ranks. The exit status is that of the lowest rank that fails.
wait_ranks() {
    local pid ended code=0
    for pid in "$@"; do
        wait "$pid"
        ended=$?
        [ $code -ne 0 ] || code=$ended
    done
    return $code
}
