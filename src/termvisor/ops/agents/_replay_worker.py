"""Has a recording of an agent read in a process of its own, by the same code that hears living agents."""

import asyncio
import os
import sys

import msgspec

from termvisor.errors import Broken
from termvisor.model.agent.replay_result import Replayed
from termvisor.protocol.error_line import heard
from termvisor.settings import environment
from termvisor.system.subprocesses import ask

_PATIENCE = 120.0


async def replayed(path: str, agent: str, at: str) -> Replayed:
    """The other process's complaint is ours: a file that is no recording is ``BadRequest``."""
    command = [sys.executable, "-m", "termvisor.agents.recordings", os.path.abspath(path), agent, at]
    status, out, errors = await asyncio.to_thread(ask, command, timeout=_PATIENCE, env=environment())
    if status:
        text = errors.decode("utf-8", "replace")
        raise heard(text) or Broken(f"the recording could not be read: {text.strip().rpartition(chr(10))[2]}")
    return msgspec.json.decode(out, type=Replayed)
