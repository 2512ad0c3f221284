#!/usr/bin/env python3
"""Checks that the table of algorithms in docs/algorithms.md equals the output of `trivance list`.

Usage: tables.py SOURCE TOOL            exit status 1 and a line if it differs
       tables.py SOURCE TOOL --fix      writes it
"""
import json
import os
import subprocess
import sys

BEGIN = "<!-- algorithms: tests/readme/tables.py --fix writes the following from `trivance list` -->\n"
END = "<!-- algorithms end -->\n"


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


def main():
    source, tool = sys.argv[1:3]
    algorithms = json.loads(subprocess.run([tool, "list", "--format=json"], check=True, capture_output=True).stdout)
    path = os.path.join(source, "docs/algorithms.md")
    with open(path, encoding="utf-8") as document:
        text = document.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    written = reference(algorithms, source)
    if sys.argv[3:] not in ([], ["--fix"]):
        sys.exit(f"tables: unknown option '{' '.join(sys.argv[3:])}': expected --fix")
    if sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as document:
            document.write(text[:begin] + written + text[end:])
    elif text[begin:end] != written:
        print("tables: the table of algorithms in docs/algorithms.md differs from `trivance list`; "
              "tests/readme/tables.py --fix writes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
