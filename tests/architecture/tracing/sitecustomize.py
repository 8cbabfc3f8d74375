"""Record which source files a process executes; active in every Python process that has TRACE_FOLDER set.

SIGUSR2 starts a new recording. The files are written to TRACE_FOLDER/<pid> in the order of their first call, on SIGUSR1
and at exit. Python imports a module of this name by itself when its folder is on PYTHONPATH.
"""

import atexit
import os
import signal
import sys
import threading
from inspect import CO_OPTIMIZED
from types import FrameType

_FOLDER = os.environ.get("TRACE_FOLDER", "")
_SOURCE = os.environ.get("TRACE_SOURCE", "")
_files: dict[str, None] = {}


def _record(frame: FrameType, event: str, _argument: object) -> None:
    name = frame.f_code.co_filename
    # Bodies of modules and classes run while they are imported: only function calls say that the file takes part.
    if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED and name.startswith(_SOURCE):
        _files[name[len(_SOURCE) :].lstrip("/")] = None


def _write(*_: object) -> None:
    path = f"{_FOLDER}/{os.getpid()}"
    with open(f"{path}.new", "w") as file:
        file.write("\n".join(_files))
    os.replace(f"{path}.new", path)


def _restart(*_: object) -> None:
    _files.clear()


if _FOLDER and _SOURCE:
    signal.signal(signal.SIGUSR1, _write)
    signal.signal(signal.SIGUSR2, _restart)
    atexit.register(_write)
    threading.setprofile(_record)
    sys.setprofile(_record)
