"""The Python in the documents runs, and the reference is that of the docstrings."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(document):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("document", ["docs/python.md", "README.md"])
def test_blocks(document):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    scope, run = {}, 0
    for block in blocks(document):
        if "torch" in block:
            continue
        exec(block, scope)  # each block continues the one before
        run += 1
    assert run > 0


def test_reference_is_current():
    done = subprocess.run([sys.executable, str(ROOT / "tests/python/reference.py"), str(ROOT / "docs/python.md")],
                          check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
