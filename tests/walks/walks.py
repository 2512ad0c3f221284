#!/usr/bin/env python3
"""Checks the walks of docs/architecture.md with valgrind: `trivance plan 9`, and a later MPI_Allreduce and a later
trv_net_allreduce until their first message, enter every source file in the table before the line `<!-- walk NAME -->`.
MPI_Allreduce may enter at most MPI_FILES_MAX files.

Usage: walks.py SOURCES BUILD plan
       walks.py SOURCES BUILD mpi LAUNCHER PROGRAM LIBRARY
       walks.py SOURCES BUILD net LAUNCHER PROGRAM
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

# For MPI_Allreduce: ten between the interposed function and the function that posts messages, and these two.
MPI_FILES_MAX = 12


def profile(command, environment, begin, end):
    """The source files that any process of the command enters, between the functions `begin` and `end` if given."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
                    f"--callgrind-out-file={folder}/profile.%p"]
        valgrind += [f"--dump-before={name}" for name in (begin, end) if name]
        command = [word for item in command for word in (valgrind if item == "VALGRIND" else [item])]
        done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout}")
        files = set()
        for process in glob.glob(f"{folder}/profile.*"):
            if re.fullmatch(r".*\.\d+", process) and not begin:
                files |= entered(process)
            elif begin and re.fullmatch(r".*profile\.\d+", process):
                files |= after(process, begin)
        return files


def after(process, begin):
    """The contents of the process's profile that follows the one of `begin`; profiles are numbered."""
    number = 1
    while os.path.exists(f"{process}.{number}"):
        with open(f"{process}.{number}", encoding="utf-8", errors="replace") as text:
            if re.search(rf"Trigger: --dump-before={begin}$", text.read(), re.M):
                return entered(f"{process}.{number + 1}")
        number += 1
    return set()


def entered(profile_file):
    with open(profile_file, encoding="utf-8", errors="replace") as text:
        return set(re.findall(r"^(?:fl|fi|fe)=.*/(?:src|bindings)/([\w/]+\.c)$", text.read(), re.M))


def main():
    sources, build, walk, *rest = sys.argv[1:]
    if walk == "plan":
        files = profile(["VALGRIND", f"{build}/bin/trivance", "plan", "9"], {}, None, None)
    elif walk == "mpi":
        launcher, program, library = rest
        files = profile([launcher, "-n", "3", "env", f"LD_PRELOAD={library}", "TRIVANCE_TORUS=3", "VALGRIND", program],
                        {}, "walk_begins", "PMPI_Isend")
    else:
        launcher, program = rest
        files = profile([launcher, "3", "VALGRIND", program], {}, "walk_begins", "trv_fabric_post")
    if not files:
        sys.exit(f"the walk {walk}: found no source files; was the program compiled with -g?")
    path = os.path.join(sources, "docs", "architecture.md")
    with open(path, encoding="utf-8") as text:
        before, marker, _ = text.read().partition(f"<!-- walk {walk} -->\n")
    if not marker:
        sys.exit(f"{path} has no line <!-- walk {walk} -->")
    table = before.rsplit("\n\n|", 1)[1]
    missing = set(re.findall(r"\]\(\.\./src/([\w/]+\.c)\)", table)) - files
    if missing:
        sys.exit(f"{path}: the walk {walk} does not enter {', '.join(sorted(missing))}")
    if walk == "mpi" and len(files) > MPI_FILES_MAX:
        sys.exit(f"a later MPI_Allreduce enters {len(files)} files before its first message, not {MPI_FILES_MAX} at "
                 f"most: {', '.join(sorted(files))}")


if __name__ == "__main__":
    main()
