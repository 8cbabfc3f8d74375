"""What a process is told that compiles for a daemon: whose folders and settings, so that it never guesses another's.

A daemon may have been given others than the environment names, and settings that are no longer in the file.
"""

import sys

import msgspec
from msgspec import Struct

from termvisor.settings import Places, Settings


class Errand(Struct, frozen=True):
    where: Places
    settings: Settings

    @property
    def told(self) -> bytes:
        """For the process' stdin."""
        return msgspec.msgpack.encode(self)


def heard() -> Errand:
    """In the process itself."""
    return msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Errand)
