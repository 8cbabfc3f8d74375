"""Validate a policy file in a worker process, with the code that the daemon uses."""

import asyncio
import sys

from termvisor.errors import InternalError
from termvisor.protocol.error_line import parse_last_error
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture

_CHECK_TIMEOUT_S = 60.0


async def check_policy_file(path: str) -> None:
    """Raise the worker's own error if the file is not valid, such as ConfigError."""
    command = [sys.executable, "-m", "termvisor.policy", path]
    status, _, errors = await asyncio.to_thread(
        run_and_capture, command, timeout_s=_CHECK_TIMEOUT_S, env=get_environment()
    )
    if status:
        text = errors.decode("utf-8", "replace")
        raise parse_last_error(text) or InternalError(
            f"the policy check worker failed: {text.strip().rpartition(chr(10))[2]}"
        )
