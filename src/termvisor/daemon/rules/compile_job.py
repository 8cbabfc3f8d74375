"""What a process is told that compiles for a daemon: whose folders and settings, so that it never guesses another's.

A daemon may have been given others than the environment names, and settings that are no longer in the file.
"""

import sys

import msgspec
from msgspec import Struct

from termvisor.settings import Paths, Settings


class CompileJob(Struct, frozen=True):
    where: Paths
    settings: Settings

    @property
    def encoded(self) -> bytes:
        """For the process' stdin."""
        return msgspec.msgpack.encode(self)


def read_compile_job() -> CompileJob:
    """In the process itself."""
    return msgspec.msgpack.decode(sys.stdin.buffer.read(), type=CompileJob)
