#!/usr/bin/env python3
"""The notebooks run without an error, and their outputs are small.

Usage: notebooks.py NOTEBOOK… [--fix]      exit status 77 without nbclient, ipykernel or a package that the notebooks
use;
                                            --fix writes the outputs into the notebooks
"""
import importlib.util
import os
import sys
import tempfile

USED = ("nbclient", "nbformat", "ipykernel", "pandas", "matplotlib", "networkx")
BYTES_MAX = 150_000

missing = [name for name in USED if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: {', '.join(missing)} not installed; `scripts/dependencies.sh check-all` installs what is missing")
    sys.exit(77)
import jupyter_client  # noqa: E402
import nbclient  # noqa: E402
import nbformat  # noqa: E402


def execute(notebook, directory):
    """Runs all cells. The kernel listens on sockets in a directory: a free TCP port may be taken before it is used."""
    kernel = jupyter_client.AsyncKernelManager(kernel_name="python3", transport="ipc",
                                               connection_file=os.path.join(directory, "kernel.json"))
    nbclient.NotebookClient(notebook, km=kernel, timeout=300).execute()


def main():
    fix = "--fix" in sys.argv
    for path in sys.argv[1:]:
        if path == "--fix":
            continue
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as directory:
            execute(notebook, directory)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        assert not any(output.get("name") == "stderr" for cell in notebook.cells
                       for output in cell.get("outputs", ())), path
        text = nbformat.writes(notebook) + "\n"
        assert len(text) < BYTES_MAX, f"{path} has {len(text)} bytes with its outputs; up to {BYTES_MAX} are small"
        if fix:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif os.path.getsize(path) > BYTES_MAX or not any(cell.get("outputs") for cell in nbformat.read(path, 4).cells):
            sys.exit(f"{path} has no outputs, or large ones; `tests/python/notebooks.py {path} --fix` makes them anew")
        print(f"{path}: {len(text)} bytes")


main()
