"""Command lines of the commands of this folder: an error is one sentence, which begins with the option, as the tool's.
"""
import argparse
import os
import sys
from typing import Callable, NoReturn

from trivance import ArgumentError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message.removeprefix('argument ')}\n")
        sys.exit(2)

    def add_workers(self) -> None:
        self.add_argument("--workers", "-j", metavar="N", type=whole(1, 1024), default=len(os.sched_getaffinity(0)))


def whole(low: int, high: int) -> Callable[[str], int]:
    """Reads a whole number from `low` to `high`."""
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a whole number from {low} to {high}")
        return int(text)

    return read


def make_folder(folder: str) -> None:
    """Creates a folder, before anything is simulated for it."""
    if not folder:
        raise ArgumentError("the folder has no name; for example --output=results")
    try:
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(0, "it is read-only")
    except OSError as error:
        raise ArgumentError(f"the folder '{folder[:200]}' cannot be made or written: {error.strerror}") from error
