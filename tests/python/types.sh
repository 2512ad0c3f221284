#!/usr/bin/env bash
# The type hints of the Python package, by mypy; 77 (skipped) where it is not installed. Usage: types.sh SOURCE
set -eu
command -v mypy > /dev/null || { echo "skipped: mypy is not installed"; exit 77; }
cd "$1/python"
exec mypy --strict --config-file=../pyproject.toml --cache-dir=/dev/null trivance trivance_torch.py
