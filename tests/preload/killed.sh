#!/usr/bin/env bash
# A rank is killed between collectives that Trivance executes: the launcher must end all other ranks soon and with an
# error. Usage: killed.sh LAUNCHER LIBRARY PROGRAM
set -u
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout 120 "$1" -n 3 env TRIVANCE_TORUS=3 TRIVANCE_DEBUG=info LD_PRELOAD="$2" "$3" kill > "$log" 2>&1
code=$?
grep -q 'allreduce [^:]*: [^m]' "$log" && [ $code != 0 ] && [ $code != 124 ] && exit 0
cat "$log"
echo "killed.sh: exit code $code"
exit 1
