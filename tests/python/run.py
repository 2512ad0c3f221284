#!/usr/bin/env python3
"""Runs pytest on files of this folder; exit status 77 (skipped) where numpy or pytest is not installed.

Usage: run.py [PYTEST ARGUMENT…]
"""
import importlib.util
import sys

missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: {' and '.join(missing)} not installed; `scripts/dependencies.sh check` installs what is missing")
    sys.exit(77)
sys.dont_write_bytecode = True
import pytest  # noqa: E402

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
