"""The check `tmux`: the multiplexer is installed and new enough."""

import asyncio
import re

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.system.subprocesses import run_and_capture

MIN_TMUX_VERSION = (3, 2)
"""The first version with pausable control clients, which keep a stalled reader from freezing panes."""


class TmuxVersionCheck:
    name = "tmux"
    doc = "tmux is installed, answers, and is version 3.2 or newer."

    async def run(self, context: CheckContext) -> CheckFinding:
        program = context.settings.tmux_program
        status, output, trouble = await asyncio.to_thread(run_and_capture, [program, "-V"])
        if status != 0:
            hint = "Install tmux (`sudo apt-get install tmux`), or name it in the setting tmux_program."
            message = trouble.decode(errors="replace").strip() or f"{program} -V ended with status {status}"
            return CheckFinding(name=self.name, status="fail", message=message, hint=hint)
        return judge_version(output.decode(errors="replace").strip())


def judge_version(answer: str) -> CheckFinding:
    """What to think of `tmux 3.3a`."""
    found = re.search(r"(\d+)\.(\d+)", answer)
    if found is None:
        return CheckFinding(name="tmux", status="warn", message=f"{answer}: a version we cannot read", hint="")
    if (int(found[1]), int(found[2])) < MIN_TMUX_VERSION:
        return CheckFinding(
            name="tmux", status="fail", message=f"{answer} is too old", hint="Install tmux 3.2 or newer."
        )
    return CheckFinding(name="tmux", status="ok", message=answer)
