"""Replay a recording of an agent in a worker process, with the adapters that watch live agents."""

import asyncio
import os
import sys

import msgspec

from termvisor.errors import InternalError
from termvisor.model.agent.replay_result import ReplayResult
from termvisor.protocol.error_line import parse_last_error
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture

_REPLAY_TIMEOUT_S = 120.0


async def replay_recording(path: str, agent: str, at: str) -> ReplayResult:
    """Return the agent's state and its explanation at this instant of the recording.

    Raises the worker's own error, such as BadRequest for a file that is not a recording.
    """
    command = [sys.executable, "-m", "termvisor.agents.recordings", os.path.abspath(path), agent, at]
    status, out, errors = await asyncio.to_thread(
        run_and_capture, command, timeout_s=_REPLAY_TIMEOUT_S, env=get_environment()
    )
    if status:
        text = errors.decode("utf-8", "replace")
        raise parse_last_error(text) or InternalError(
            f"the replay worker failed: {text.strip().rpartition(chr(10))[2]}"
        )
    return msgspec.json.decode(out, type=ReplayResult)
