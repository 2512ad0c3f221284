"""Starts the ranks of a job here, as torchrun does: job.py [--seconds=60] [--expect=RANK:CODE] RANKS PROGRAM [ARGUMENT…].

Fails if a rank ends otherwise than with 0, or, of --expect, with CODE (a signal is negative), or if it takes longer."""

import os
import socket
import subprocess
import sys
import time


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def main() -> int:
    own = []
    for argument in sys.argv[1:]:
        if not argument.startswith("--"):
            break
        own.append(argument)
    options = dict(argument[2:].split("=", 1) for argument in own)
    ranks, *program = sys.argv[1 + len(options):]
    expected = dict([map(int, options["expect"].split(":"))]) if "expect" in options else {}
    environment = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=ranks,
                       LOCAL_WORLD_SIZE=ranks, OMP_NUM_THREADS="1")
    ran = [subprocess.Popen([sys.executable, *program], env=dict(environment, RANK=str(rank), LOCAL_RANK=str(rank)))
           for rank in range(int(ranks))]
    end = time.monotonic() + float(options.get("seconds", 60))
    code = 0
    for rank, process in enumerate(ran):
        try:
            process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            print(f"rank {rank} did not end in time", file=sys.stderr)
            code = 1
            continue
        if process.returncode != expected.get(rank, 0):
            print(f"rank {rank} ended with {process.returncode}", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
