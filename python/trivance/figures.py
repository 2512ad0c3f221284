"""``python3 -m trivance.figures`` and `trivance figures`: the paper's evaluation, if the folder research is there.

The package depends on nothing in that folder, which is part of the repository but not of installations.
"""
import importlib.util
import runpy
import sys

if __name__ == "__main__":
    if importlib.util.find_spec("trivance_research") is None:
        sys.stderr.write("trivance figures: the paper's evaluation is not installed: it is in the folder research of "
                         "Trivance's git repository; add a clone's to PYTHONPATH, for example "
                         "PYTHONPATH=trivance/research\n")
        sys.exit(2)
    runpy.run_module("trivance_research.figures", run_name="__main__", alter_sys=True)
