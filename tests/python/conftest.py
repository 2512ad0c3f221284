"""Shared by the tests: the tool, and whether all cases run (TEST_EXHAUSTIVE) or a sample."""
import json
import os
import subprocess

import pytest

TOOL = os.environ.get("TRIVANCE_TOOL", "trivance")
EXHAUSTIVE = bool(os.environ.get("TEST_EXHAUSTIVE"))


def pytest_configure(config):
    config.addinivalue_line("markers", "exhaustive: runs with TEST_EXHAUSTIVE only")


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if EXHAUSTIVE or not item.get_closest_marker("exhaustive")]


@pytest.fixture(scope="session")
def tool():
    """Calls the tool; returns its standard output, or None with the sentence of its failure in `tool.sentence`."""
    def call(*arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False,
                              env={name: value for name, value in os.environ.items() if name != "COLUMNS"})
        call.sentence = done.stderr.strip()
        return done.stdout if done.returncode == 0 else None

    def call_json(*arguments):
        text = call(*arguments, "--format=json")
        return None if text is None else json.loads(text)

    call.json = call_json
    return call


@pytest.fixture(scope="session")
def exhaustive():
    return EXHAUSTIVE
