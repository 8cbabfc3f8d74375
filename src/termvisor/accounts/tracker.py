"""Asks the program that tracks usage, if it is installed: `caut usage` or `caut refresh`, for one service, as JSON."""

from typing import Literal

from termvisor.model.account import Service
from termvisor.spawn import ask_apart, is_installed

PATIENCE = 20.0
_MOST = 1 << 20


async def ask_tracker(program: str, what: Literal["usage", "refresh"], service: Service) -> bytes | None:
    """Its answer; None where it is not installed. Raises ``ValueError`` where it fails, without its own words: nobody
    knows what they hold."""
    if not program or not is_installed(program):
        return None
    command = [program, what, "--service", service, "--format", "json"]
    status, out, _ = await ask_apart(command, timeout=PATIENCE, kept=_MOST)
    if status == 124:
        raise ValueError(f"{program} gave no answer within {PATIENCE:g} s")
    if status:
        raise ValueError(f"{program} {what} failed with status {status}")
    return out
