#!/usr/bin/env python3
"""Runs pytest on files of this folder; exit status 77 (skipped), with the reason, where nothing can run.

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


class Outcome:
    """Whether any test ran, and the reasons of those that did not."""

    def __init__(self):
        self.ran = False
        self.reasons = set()

    def add(self, report):
        if report.skipped:
            self.reasons.add(report.longrepr[2])
        elif report.failed or getattr(report, "when", "") == "call":
            self.ran = True

    pytest_runtest_logreport = pytest_collectreport = add


outcome = Outcome()
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[outcome])
if outcome.reasons and not outcome.ran:
    print("skipped:", "; ".join(sorted(outcome.reasons)))
    status = 77
sys.exit(status)
