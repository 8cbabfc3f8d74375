"""A process beside each one that tests: when that one is gone, in whatever way, what it started is ended, too.

Folders reach it by its standard input, one a line. Whose folder is no longer there has cleaned up by itself.
"""

import os
import shutil
import sys
from functools import cache

from termvisor.system import subprocesses
from termvisor.testing.leftover_processes import kill_processes_of


def register_folder(folder: str) -> None:
    """From now on nothing of this folder outlives us."""
    os.write(_start_reaper(), f"{folder}\n".encode())


@cache
def _start_reaper() -> int:
    """Where it is told. Nobody else holds this end, and it is closed when we are gone."""
    theirs, ours = os.pipe()
    subprocesses.start_detached([sys.executable, "-m", "termvisor.testing.process_reaper"], stdin=theirs).disown()
    os.close(theirs)
    return ours


def main() -> None:
    for folder in filter(os.path.isdir, sys.stdin.read().split()):
        kill_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
