#!/usr/bin/env bash
# Runs a launcher with the environment required to run many ranks on few cores. Usage: launched.sh LAUNCHER ARGUMENT…
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
exec "$@"
