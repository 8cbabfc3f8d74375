"""Query the usage tracker program, if it is installed: `caut usage` or `caut refresh`, for one service, as JSON."""

from typing import Literal

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.agent.account import Service
from termvisor.system.subprocesses import is_installed


async def query_tracker(
    program: str, command: Literal["usage", "refresh"], service: Service, run_program: ProgramRunner
) -> bytes | None:
    """Return the tracker's output; None if it is not installed.

    Raises ``ValueError`` if it fails, without its error output, which may contain secrets.
    """
    if not program or not is_installed(program):
        return None
    try:
        outcome = await run_program(RunProgram(argv=(program, command, "--service", service, "--format", "json")))
    except Refused as error:
        raise ValueError(f"{program} was not run: {error.message}") from error
    output = outcome.answered
    if output is None:
        raise ValueError(explain_missing_output(outcome, program))
    if output.exit_status:
        raise ValueError(f"{program} {command} failed with status {output.exit_status}")
    return output.out
