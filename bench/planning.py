#!/usr/bin/env python3
"""Time and memory of `trivance plan`, cold, without and with --why, beside the aims: 0.2 s on symmetric tori up to
32x32 and 16x16x16; 2 s on any other network of up to 1,024 nodes; 10 s and 1 GB up to 10,000; with --why three times as
long. Seconds are those of one processor; less memory than that of this script is not measured.

    bench/planning.py [BUILD]                       all questions, many minutes
    bench/planning.py BUILD TORUS [OPTION...]       one network at all sizes, for example build 27x27m
"""
import os
import subprocess
import sys

COLLECTIVES = ("allreduce", "reduce-scatter", "broadcast", "reduce", "alltoall")
SIZES = ("32", "64K", "4M", "256M")
AIMS = {"0.2": ("27x27", "32x32", "8x64", "16x16x16"),
        "2": ("32mx32m", "1024m", "32x32 --cut=5:+0", "8x8x16m", "512 --nodes=0-400", "16x16 --no-forwarding"),
        "10": ("100mx100m", "100x100 --cut=5:+0", "20x20x25m")}


def run(tool, words):
    """The seconds and megabytes of a command, or "failed"."""
    with subprocess.Popen([tool, "plan", *words], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (f"{usage.ru_utime:.2f}", usage.ru_maxrss // 1024) if process.returncode == 0 else ("failed", 0)


def main():
    tool = os.path.join((sys.argv[1:] or ["build"])[0], "bin", "trivance")
    asked = {"-": [" ".join(sys.argv[2:])]} if sys.argv[2:] else AIMS
    print(f"{'seconds':>9} {'aim':>9} {'--why':>9} {'MB':>9}  question")
    for aim, networks in asked.items():
        for network in networks:
            for words in ([*network.split(), f"--collective={collective}", f"--bytes={size}"]
                          for collective in COLLECTIVES for size in SIZES):
                seconds, megabytes = run(tool, words)
                print(f"{seconds:>9} {aim:>9} {run(tool, [*words, '--why'])[0]:>9} {megabytes:>9}  {' '.join(words)}",
                      flush=True)


main()
