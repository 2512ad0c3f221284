#!/usr/bin/env bash
# Checks that all Python files have lines of at most 120 characters and the layout of pycodestyle.
# Usage: format_python.sh pycodestyle
set -eu
cd "$(dirname "$0")/.."
exec "$1" --max-line-length=120 --exclude='build*,node_modules' bench docs examples explorer packaging python research \
    scripts setup.py src testbed tests
