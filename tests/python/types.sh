#!/usr/bin/env bash
# The type hints of the Python package and of the generator of MPI functions, by mypy; 77 (skipped) where it is not
# installed. CACHE keeps what mypy knows of the standard library and numpy, which take most of the time.
# Usage: types.sh SOURCE CACHE
set -eu
command -v mypy > /dev/null || { echo "skipped: mypy is not installed"; exit 77; }
cd "$1/python"
research=()
[ ! -e ../research ] || research=(../research/trivance_research ../research/published/compare.py)
exec mypy --strict --config-file=../pyproject.toml --cache-dir="$2" trivance trivance_torch.py ../src/mpi/bindings/generate.py "${research[@]}"
