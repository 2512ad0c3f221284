#!/usr/bin/env python3
"""Checks tables in documents: that of algorithms in docs/algorithms.md equals the output of `trivance list`, and that
of MPI's functions in docs/drop-in.md the one of src/mpi/bindings.

Usage: tables.py SOURCE TOOL            exit status 1 and a line for each that differs
       tables.py SOURCE TOOL --fix      writes them
"""
import json
import os
import subprocess
import sys


def table(head, rows):
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in [head] + rows]
    return "\n".join(lines[:1] + ["|" + "---|" * len(head)] + lines[1:]) + "\n"


def place(name, source):
    """The place that describes the algorithm: its section, or else its file, whose head comment does."""
    with open(os.path.join(source, "docs/algorithms.md"), encoding="utf-8") as document:
        if f"\n### `{name}`\n" in document.read():
            return "#" + name
    folder = os.path.join(source, "src/algorithms")
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".c")):
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            if f'.name = "{name}",' in text.read():
                return "../src/algorithms/" + file
    sys.exit(f"tables: there is neither a section nor a file on {name}")


def reference(algorithms, source):
    rows = []
    for one in algorithms:
        result = ("exact" if one["exact"] else "covers") + (", consistent" if one["consistent"] else "")
        rows.append([f"[`{one['name']}`]({place(one['name'], source)})", one["title"], one["steps"], one["bytes"],
                     result, one["sizes"]])
    return table(["algorithm", "what it is", "steps", "bytes that a rank sends", "result", "tori"], rows)


def functions(source):
    generator = [sys.executable, "-B", os.path.join(source, "src/mpi/bindings/generate.py"), "--table"]
    return subprocess.run(generator, check=True, capture_output=True, text=True).stdout


def main():
    source, tool = sys.argv[1:3]
    if sys.argv[3:] not in ([], ["--fix"]):
        sys.exit(f"tables: unknown option '{' '.join(sys.argv[3:])}': expected --fix")
    listed = json.loads(subprocess.run([tool, "list", "--format=json"], check=True, capture_output=True).stdout)
    differ = 0
    for name, origin, written in (("algorithms", "`trivance list`", reference(listed, source)),
                                  ("drop-in", "src/mpi/bindings/functions.py", functions(source))):
        path = os.path.join(source, f"docs/{name}.md")
        with open(path, encoding="utf-8") as document:
            text = document.read()
        mark = f"<!-- {name}: tests/readme/tables.py --fix writes the following from {origin} -->\n"
        begin, end = text.index(mark) + len(mark), text.index(f"<!-- {name} end -->\n")
        if sys.argv[3:]:
            with open(path, "w", encoding="utf-8") as document:
                document.write(text[:begin] + written + text[end:])
        elif text[begin:end] != written:
            print(f"tables: the table in docs/{name}.md differs from {origin}; tests/readme/tables.py --fix writes it")
            differ = 1
    return differ


if __name__ == "__main__":
    sys.exit(main())
