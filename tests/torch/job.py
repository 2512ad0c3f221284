"""Starts the ranks of a job on this host, as torchrun does:
job.py [--seconds=60] [--expect=RANK:CODE] RANKS PROGRAM [ARGUMENT…].

The ranks are children of this process, which imports torch once for all of them, because an import takes about a
second. Fails if a rank ends with a status other than 0, or than CODE for the rank of --expect (a signal is negative),
or if the job takes longer than --seconds."""

import os
import runpy
import signal
import socket
import sys
import time
from typing import Dict, List


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def wait_for(ran: Dict[int, int], seconds: float, expected: Dict[int, int]) -> int:
    """Returns 0 if all ranks end in time with the expected status; ran: ranks by process id."""
    code = 0
    end = time.monotonic() + seconds
    while ran:
        late = time.monotonic() > end
        for process, rank in list(ran.items()):
            if late:
                os.kill(process, signal.SIGKILL)
                print(f"rank {rank} did not end in time", file=sys.stderr)
            ended, status = os.waitpid(process, 0 if late else os.WNOHANG)
            if not ended:
                continue
            del ran[process]
            ended_with = os.waitstatus_to_exitcode(status)
            if not late and ended_with != expected.get(rank, 0):
                print(f"rank {rank} ended with {ended_with}", file=sys.stderr)
            code |= late or ended_with != expected.get(rank, 0)
        time.sleep(0.01)
    return int(code)


def main() -> int:
    own: List[str] = []
    for argument in sys.argv[1:]:
        if not argument.startswith("--"):
            break
        own.append(argument)
    options = dict(argument[2:].split("=", 1) for argument in own)
    ranks, *program = sys.argv[1 + len(options):]
    expected = dict([map(int, options["expect"].split(":"))]) if "expect" in options else {}
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=ranks, LOCAL_WORLD_SIZE=ranks,
                      OMP_NUM_THREADS="1")
    import torch.distributed  # noqa: F401, for the children
    ran = {}
    for rank in range(int(ranks)):
        process = os.fork()
        if process == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
            sys.argv = program
            runpy.run_path(program[0], run_name="__main__")
            return 0
        ran[process] = rank
    return wait_for(ran, float(options.get("seconds", 60)), expected)


if __name__ == "__main__":
    sys.exit(main())
