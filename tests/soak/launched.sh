#!/usr/bin/env bash
# Runs a launcher with the environment that many ranks on few cores need. Usage: launched.sh LAUNCHER ARGUMENT…
. "$(dirname "$0")/../../scripts/mpi-environment.sh"
exec "$@"
