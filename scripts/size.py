#!/usr/bin/env python3
"""The size of the project: lines of code that are neither blank nor comment, by module.

Usage: size.py [SOURCES]              the working tree
       size.py [SOURCES] --at=COMMIT  a commit
       size.py [SOURCES] --budgets    the working tree beside the budgets of CONTRIBUTING.md; exit status 1 if a module
                                      exceeds its budget or belongs to none

Counts the product, the research and the tests apart. In C, C++, JavaScript and CSS a comment is /* … */, or begins with
//; in Python, shell, CMake and Makefiles it begins with #, and docstrings are comments, too. Vendored files, documents
and data are not counted.
"""
import ast
import os
import re
import subprocess
import sys

PRODUCT = ("src/", "include/", "bench/", "python/", "scripts/", "testbed/", "explorer/")
RESEARCH = ("research/", "python/trivance/figures/", "python/trivance/validation/")  # the latter two before they moved
TESTS = ("tests/", "research/tests/")
# Data: tables that a program has computed, and files that programs read
DATA = ("/vendor/", "src/search/distances/distances_table.c", "src/search/stars/stars_table.c",
        "src/formats/front/profiles/", "tests/data/", "tests/fuzz/corpus/", "tests/answers.txt")
DATA_ENDINGS = (".csv", ".json", ".svg", ".png", ".md", ".ipynb")
C_LIKE = (".c", ".h", ".h.in", ".cpp", ".hpp", ".js", ".mjs", ".css", ".ts", ".map", ".F90", ".f90")


def run(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def without_docstrings(text):
    """Python text in which the lines of docstrings are empty."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node,
                                                                                               clean=False) is not None:
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
    if any(name.startswith(data) or data.startswith("/") and data in name
           for data in DATA) or name.endswith(DATA_ENDINGS):
        return None
    if name.startswith(TESTS):
        return "tests"
    return "research" if name.startswith(RESEARCH) else "product" if name.startswith(PRODUCT) else None


def module_of(name):
    folder = os.path.dirname(name)
    return folder if folder.startswith(("src/", "testbed/", "explorer/", "python/", "research/",
                                        "tests/")) else name.split("/", 1)[0]


def sizes(root, commit):
    """The lines of each module of each part."""
    git = ("git", "-C", root)
    if commit:
        names = run(*git, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
    elif os.path.exists(os.path.join(root, ".git")):
        names = run(*git, "ls-files").decode().splitlines()
    else:  # an archive
        names = [os.path.relpath(os.path.join(folder, file), root)
                 for top in PRODUCT + ("research/", "tests/") for folder, _, files in os.walk(os.path.join(root, top))
                 for file in files if "__pycache__" not in folder]
    found = {"product": {}, "research": {}, "tests": {}}
    for name in names:
        part = part_of(name)
        if part and (commit or os.path.isfile(os.path.join(root, name))):
            text = run(*git, "show", f"{commit}:{name}") if commit else open(os.path.join(root, name), "rb").read()
            module = module_of(name)
            found[part][module] = found[part].get(module, 0) + code_lines(name, text.decode())
    return found


def read_budgets(root):
    """The rows of the table of budgets: folders, and lines at most."""
    with open(os.path.join(root, "CONTRIBUTING.md"), encoding="utf-8") as text:
        section = text.read().partition("\n## Budgets\n")[2].partition("\n## ")[0]
    return [(re.findall(r"`([^`]+)`", row), int(lines.replace(",", "")))
            for row, lines in re.findall(r"^\| (`.*) \| ([\d,]+) \|", section, re.M)]


def is_within(module, folder):
    return module == folder or module.startswith(folder + "/")


def check_budgets(root):
    """Prints the modules of each budget together. Whether all are within it."""
    found, budgets = sizes(root, None), read_budgets(root)
    modules = {**found["product"], **found["research"]}
    total = {part: sum(found[part].values()) for part in found}
    good = bool(budgets)
    for folders, budget in budgets:
        lines = sum(total[folder] if folder in ("product", "tests") else
                    sum(count for module, count in modules.items() if is_within(module, folder)) for folder in folders)
        print(f"{lines:7d} of {budget:7d}  {', '.join(folders)}{'' if lines <= budget else '   EXCEEDED'}")
        good = good and lines <= budget
    for module in modules:
        if module != "src" and not any(is_within(module, folder) for folders, _ in budgets for folder in folders):
            print(f"{module} belongs to no budget of CONTRIBUTING.md")
            good = False
    return good


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--at=") and word != "--budgets"]
    commit = next((word[5:] for word in sys.argv[1:] if word.startswith("--at=")), None)
    if len(words) > 1 or any(word.startswith("-") for word in words) or (commit and "--budgets" in sys.argv):
        sys.exit(__doc__)
    root = (words or ["."])[0]
    if not os.path.isfile(os.path.join(root, "CONTRIBUTING.md")):
        sys.exit(f"size.py: '{root}' is not the folder of the sources, which has CONTRIBUTING.md")
    if "--budgets" in sys.argv:
        sys.exit(0 if check_budgets(root) else 1)
    try:
        parts = sizes(root, commit)
    except subprocess.CalledProcessError as error:
        sys.exit(f"size.py: {error.stderr.decode().strip()}")
    for part, modules in parts.items():
        for module in sorted(modules):
            print(f"{modules[module]:7d}  {module}")
        print(f"{sum(modules.values()):7d}  {part}\n")


main()
