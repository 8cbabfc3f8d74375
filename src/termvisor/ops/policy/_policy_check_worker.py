"""Has a policy file read in a process of its own, by the same code that the daemon reads it with."""

import asyncio
import sys

from termvisor.errors import InternalError
from termvisor.protocol.error_line import parse_last_error
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture

_CHECK_TIMEOUT_S = 60.0


async def check_policy_file(path: str) -> None:
    """The other process's complaint is ours: a file that is wrong is ``ConfigError``."""
    command = [sys.executable, "-m", "termvisor.policy", path]
    status, _, errors = await asyncio.to_thread(
        run_and_capture, command, timeout_s=_CHECK_TIMEOUT_S, env=get_environment()
    )
    if status:
        text = errors.decode("utf-8", "replace")
        raise parse_last_error(text) or InternalError(
            f"the file could not be read: {text.strip().rpartition(chr(10))[2]}"
        )
