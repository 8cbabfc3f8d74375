"""The check `tmux`: the multiplexer is installed and new enough."""

import asyncio
import re

from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.system.subprocesses import ask

OLDEST = (3, 2)
"""The first version with pausable control clients, which keep a stalled reader from freezing panes."""


class TmuxIsPresent:
    name = "tmux"
    doc = "tmux is installed, answers, and is version 3.2 or newer."

    async def look(self, sight: Sight) -> Finding:
        program = sight.settings.tmux_program
        status, output, trouble = await asyncio.to_thread(ask, [program, "-V"])
        if status != 0:
            hint = "Install tmux (`sudo apt-get install tmux`), or name it in the setting tmux_program."
            message = trouble.decode(errors="replace").strip() or f"{program} -V ended with status {status}"
            return Finding(name=self.name, status="fail", message=message, hint=hint)
        return judged(output.decode(errors="replace").strip())


def judged(answer: str) -> Finding:
    """What to think of `tmux 3.3a`."""
    found = re.search(r"(\d+)\.(\d+)", answer)
    if found is None:
        return Finding(name="tmux", status="warn", message=f"{answer}: a version we cannot read", hint="")
    if (int(found[1]), int(found[2])) < OLDEST:
        return Finding(name="tmux", status="fail", message=f"{answer} is too old", hint="Install tmux 3.2 or newer.")
    return Finding(name="tmux", status="ok", message=answer)
