"""Asks the program that tracks usage, if it is installed: `caut usage` or `caut refresh`, for one service, as JSON."""

from typing import Literal

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.agent.account import Service
from termvisor.system.subprocesses import is_installed


async def query_tracker(
    program: str, command: Literal["usage", "refresh"], service: Service, run_program: ProgramRunner
) -> bytes | None:
    """Its answer; None where it is not installed. Raises ``ValueError`` where it fails, without its own words: nobody
    knows what they hold."""
    if not program or not is_installed(program):
        return None
    try:
        outcome = await run_program(RunProgram(argv=(program, command, "--service", service, "--format", "json")))
    except Refused as error:
        raise ValueError(f"{program} was not asked: {error.message}") from error
    said = outcome.answered
    if said is None:
        raise ValueError(explain_missing_output(outcome, program))
    if said.exit_status:
        raise ValueError(f"{program} {command} failed with status {said.exit_status}")
    return said.out
