"""The paths and settings that the daemon sends to its compile process on stdin.

They are sent because the daemon's paths may differ from the environment, and its settings from the file.
"""

import sys

import msgspec
from msgspec import Struct

from termvisor.settings import Paths, Settings


class CompileJob(Struct, frozen=True):
    paths: Paths
    settings: Settings

    def encode(self) -> bytes:
        return msgspec.msgpack.encode(self)


def read_compile_job() -> CompileJob:
    """Read the job from stdin, in the compile process."""
    return msgspec.msgpack.decode(sys.stdin.buffer.read(), type=CompileJob)
