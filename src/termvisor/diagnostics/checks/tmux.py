"""The check `tmux`: tmux is installed and new enough."""

import asyncio
import re

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.system.subprocesses import run_and_capture

MIN_TMUX_VERSION = (3, 2)
"""The first version with `pause-after` for control clients: without it a stalled reader freezes panes."""


class TmuxVersionCheck:
    name = "tmux"
    doc = "tmux is installed and version 3.2 or newer."

    async def run(self, context: CheckContext) -> CheckFinding:
        program = context.settings.tmux_program
        status, output, errors = await asyncio.to_thread(run_and_capture, [program, "-V"])
        if status != 0:
            hint = "Install tmux (`sudo apt-get install tmux`), or set its path in tmux_program."
            message = errors.decode(errors="replace").strip() or f"{program} -V failed with exit status {status}"
            return CheckFinding(name=self.name, status="fail", message=message, hint=hint)
        return judge_version(output.decode(errors="replace").strip())


def judge_version(answer: str) -> CheckFinding:
    """Judge the output of `tmux -V`, such as `tmux 3.3a`."""
    version = re.search(r"(\d+)\.(\d+)", answer)
    if version is None:
        return CheckFinding(name="tmux", status="warn", message=f"{answer}: unknown version", hint="")
    if (int(version[1]), int(version[2])) < MIN_TMUX_VERSION:
        return CheckFinding(
            name="tmux", status="fail", message=f"{answer} is too old", hint="Install tmux 3.2 or newer."
        )
    return CheckFinding(name="tmux", status="ok", message=answer)
