"""A helper process that kills the leftovers of a test process after it exited, even if it was killed.

It reads folders from stdin, one per line, until the test process exits. A folder that was removed is already clean.
"""

import os
import shutil
import sys
from functools import cache

from termvisor.system import subprocesses
from termvisor.testing.leftover_processes import kill_processes_of


def register_folder(folder: str) -> None:
    """Have the processes of this folder killed, and the folder removed, when this process exits."""
    os.write(_start_reaper(), f"{folder}\n".encode())


@cache
def _start_reaper() -> int:
    """Start the reaper and return the pipe to it; only this process has it open, so its exit closes the pipe."""
    read_end, write_end = os.pipe()
    subprocesses.start_detached([sys.executable, "-m", "termvisor.testing.process_reaper"], stdin=read_end).disown()
    os.close(read_end)
    return write_end


def main() -> None:
    for folder in filter(os.path.isdir, sys.stdin.read().split()):
        kill_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
