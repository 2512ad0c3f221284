"""The threads of the backend in this process."""

import os
import pathlib
from typing import List


def backend_threads() -> List[str]:
    """The names of the backend's threads. A thread may end between the listing and the reading of its name."""
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            names.append(pathlib.Path(f"/proc/self/task/{task}/comm").read_text(encoding="utf-8").strip())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return [name for name in names if "trivance" in name]
