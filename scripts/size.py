#!/usr/bin/env python3
"""The size of the project: lines that are neither blank nor comment, by module.

Usage: size.py [SOURCES]             the working tree
       size.py [SOURCES] --at=COMMIT  a commit

Counts src, include, bench, python, scripts, testbed and explorer, without vendored files. In C, C++, JavaScript and
CSS a comment is /* … */, or begins with //; in Python, shell, CMake and Makefiles it begins with #, and Python's docstrings
are comments, too. Data tables are counted.
"""
import re
import subprocess
import sys

FOLDERS = ("src", "include", "bench", "python", "scripts", "testbed", "explorer")
C_LIKE = (".c", ".h", ".cpp", ".hpp", ".js", ".mjs", ".css", ".ts")


def run(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def code_lines(name, text):
    if name.endswith(C_LIKE) or name.endswith(".map"):
        text = re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*',
                      lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text, flags=re.S)
    elif name.endswith(".html"):
        text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    else:
        if name.endswith(".py"):
            text = re.sub(r'^\s*"""(?:.*?)"""', lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return sum(1 for line in text.splitlines() if line.strip())


def module_of(name):
    folder = name.rsplit("/", 1)[0]
    return folder if folder.startswith(("src/", "testbed/", "explorer/")) else name.split("/", 1)[0]


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--at=")]
    commit = next((a[5:] for a in sys.argv[1:] if a.startswith("--at=")), None)
    root = arguments[0] if arguments else "."
    git = ("git", "-C", root)
    names = run(*git, "ls-tree", "-r", "--name-only", commit) if commit else run(*git, "ls-files")
    size = {}
    for name in names.decode().splitlines():
        if not name.startswith(tuple(f + "/" for f in FOLDERS)) or "/vendor/" in name:
            continue
        try:
            data = run(*git, "show", f"{commit}:{name}") if commit else open(f"{root}/{name}", "rb").read()
            text = data.decode()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        size[module_of(name)] = size.get(module_of(name), 0) + code_lines(name, text)
    for module in sorted(size):
        print(f"{size[module]:7d}  {module}")
    print(f"{sum(size.values()):7d}  in all")


main()
