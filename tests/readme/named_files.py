#!/usr/bin/env python3
"""Checks that every .c or .h file named in a comment exists, except in comments of vendored files.

Usage: named_files.py SOURCE            exit status 1 with a line for every name without a file

A name is a file's name or the end of its path, as in "see decide.h" or "execute/run/plan.c". Names with * or {}
are patterns and are not checked. OTHERS are files of other projects.
"""
import os
import re
import sys

FOLDERS = ("src", "testbed", "explorer", "include", "tests", "examples", "bench", "python", "research")
ENDINGS = (".c", ".h", ".cpp", ".hpp", ".mjs", ".js", ".pml")
OTHERS = {"cmocka.h", "mpi.h", "mpi-ext.h", "mpif.h", "ompi/op/op.h"}
NAME = re.compile(r"[\w/*{}.-]*\w\.[ch]\b")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def paths(source):
    for folder in FOLDERS:
        for root, _, names in os.walk(os.path.join(source, folder)):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(root, name), source)


def main():
    source = sys.argv[1]
    every = list(paths(source))
    exists = {"/".join(path.removesuffix(".in").split("/")[i:]) for path in every for i in range(path.count("/") + 1)}
    faults = names = 0
    for path in every:
        if not path.endswith(ENDINGS) or "/vendor/" in path:
            continue
        with open(os.path.join(source, path), encoding="utf-8") as file:
            text = file.read()
        for comment in COMMENT.findall(text):
            for name in NAME.findall(comment):
                names += 1
                if "*" in name or "{" in name or name in exists or name in OTHERS:
                    continue
                print(f"{path}: there is no {name}")
                faults += 1
    if names < 100:
        sys.exit(f"named_files: only {names} names were found; the expression NAME does not work")
    sys.exit(1 if faults else 0)


main()
