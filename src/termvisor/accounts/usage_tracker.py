"""Asks the program that tracks usage, if it is installed: `caut usage` or `caut refresh`, for one service, as JSON."""

from typing import Literal

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import RunIt, untold
from termvisor.model.agent.account import Service
from termvisor.system.subprocesses import is_installed


async def ask_tracker(program: str, what: Literal["usage", "refresh"], service: Service, run_it: RunIt) -> bytes | None:
    """Its answer; None where it is not installed. Raises ``ValueError`` where it fails, without its own words: nobody
    knows what they hold."""
    if not program or not is_installed(program):
        return None
    try:
        outcome = await run_it(RunProgram(argv=(program, what, "--service", service, "--format", "json")))
    except Refused as error:
        raise ValueError(f"{program} was not asked: {error.message}") from error
    said = outcome.answered
    if said is None:
        raise ValueError(untold(outcome, program))
    if said.exit_status:
        raise ValueError(f"{program} {what} failed with status {said.exit_status}")
    return said.out
