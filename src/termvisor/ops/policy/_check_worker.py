"""Has a policy file read in a process of its own, by the same code that the daemon reads it with."""

import asyncio
import sys

from termvisor.errors import Broken
from termvisor.protocol.error_line import heard
from termvisor.settings import environment
from termvisor.system.subprocesses import ask

_PATIENCE = 60.0


async def check(path: str) -> None:
    """The other process's complaint is ours: a file that is wrong is ``ConfigError``."""
    command = [sys.executable, "-m", "termvisor.policy", path]
    status, _, errors = await asyncio.to_thread(ask, command, timeout=_PATIENCE, env=environment())
    if status:
        text = errors.decode("utf-8", "replace")
        raise heard(text) or Broken(f"the file could not be read: {text.strip().rpartition(chr(10))[2]}")
