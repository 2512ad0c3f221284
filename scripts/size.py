#!/usr/bin/env python3
"""The size of the project: lines of code that are neither blank nor comment, by module.

Usage: size.py [SOURCES]              the working tree
       size.py [SOURCES] --at=COMMIT  a commit

Counts the product, the research (research/, figures and validation) and the tests apart. In C, C++, JavaScript and CSS a comment is
/* … */, or begins with //; in Python, shell, CMake and Makefiles it begins with #, and docstrings are comments, too.
Vendored files, documents and data are not counted.
"""
import ast
import os
import re
import subprocess
import sys

PRODUCT = ("src/", "include/", "bench/", "python/", "scripts/", "testbed/", "explorer/")
RESEARCH = ("research/", "python/trivance/figures/", "python/trivance/validation/")
# Data: tables that a program has computed, and files that programs read
DATA = ("/vendor/", "src/search/distances/distances_table.c", "src/search/stars/stars_table.c", "src/formats/front/profiles/",
        "tests/data/", "tests/fuzz/corpus/", "tests/answers.txt")
DATA_ENDINGS = (".csv", ".json", ".svg", ".png", ".md", ".ipynb")
C_LIKE = (".c", ".h", ".h.in", ".cpp", ".hpp", ".js", ".mjs", ".css", ".ts", ".map", ".F90", ".f90")


def run(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def without_docstrings(text):
    """Python text in which the lines of docstrings are empty."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno
            lines[first - 1:last] = [""] * (last - first + 1)
    return "\n".join(lines)


def code_lines(name, text):
    if name.endswith(C_LIKE):
        text = re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*',
                      lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text, flags=re.S)
    elif name.endswith(".html"):
        text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    else:
        text = re.sub(r"^\s*#.*$", "", without_docstrings(text) if name.endswith(".py") else text, flags=re.M)
    return sum(1 for line in text.splitlines() if line.strip())


def part_of(name):
    """product, research, tests, or None if the file is not counted."""
    if any(name.startswith(data) or data.startswith("/") and data in name for data in DATA) or name.endswith(DATA_ENDINGS):
        return None
    if name.startswith("tests/"):
        return "tests"
    return "research" if name.startswith(RESEARCH) else "product" if name.startswith(PRODUCT) else None


def module_of(name):
    folder = os.path.dirname(name)
    return folder if folder.startswith(("src/", "testbed/", "explorer/", "python/", "tests/")) else name.split("/", 1)[0]


def sizes(root, commit):
    """The lines of each module of each part."""
    git = ("git", "-C", root)
    names = run(*git, "ls-tree", "-r", "--name-only", commit) if commit else run(*git, "ls-files")
    found = {"product": {}, "research": {}, "tests": {}}
    for name in names.decode().splitlines():
        part = part_of(name)
        if part and (commit or os.path.isfile(os.path.join(root, name))):
            text = run(*git, "show", f"{commit}:{name}") if commit else open(os.path.join(root, name), "rb").read()
            module = module_of(name)
            found[part][module] = found[part].get(module, 0) + code_lines(name, text.decode())
    return found


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--at=")]
    commit = next((word[5:] for word in sys.argv[1:] if word.startswith("--at=")), None)
    if len(words) > 1 or any(word.startswith("-") for word in words):
        sys.exit(__doc__)
    for part, modules in sizes((words or ["."])[0], commit).items():
        for module in sorted(modules):
            print(f"{modules[module]:7d}  {module}")
        print(f"{sum(modules.values()):7d}  {part}\n")


main()
