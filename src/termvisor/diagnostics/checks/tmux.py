"""tmux checks: version, watched servers, scrollback length, and shells in the panes."""

import asyncio
import re

from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding
from termvisor.system.shell_state import is_state_missing
from termvisor.system.subprocesses import run_and_capture

MIN_TMUX_VERSION = (3, 2)
"""First version with `pause-after` for control clients; without it, a stalled reader freezes panes."""
MIN_HISTORY_LINES = 50_000
"""Scrollback lines needed to recover output that was not captured."""


class TmuxVersionCheck(BuiltinCheck):
    name = "tmux"
    doc = "tmux is installed and version 3.2 or newer."

    async def run(self, context: CheckContext) -> CheckFinding:
        program = context.settings.tmux_program
        status, output, errors = await asyncio.to_thread(run_and_capture, [program, "-V"])
        if status != 0:
            hint = "Install tmux (`sudo apt-get install tmux`), or set its path in tmux_program."
            message = errors.decode(errors="replace").strip() or f"{program} -V failed with exit status {status}"
            return self.report("fail", message, hint)
        return self.judge_version(output.decode(errors="replace").strip())

    def judge_version(self, answer: str) -> CheckFinding:
        """Return the finding for the output of `tmux -V`, such as `tmux 3.3a`."""
        version = re.search(r"(\d+)\.(\d+)", answer)
        if version is None:
            return self.report("warn", f"{answer}: unknown version")
        if (int(version[1]), int(version[2])) < MIN_TMUX_VERSION:
            return self.report("fail", f"{answer} is too old", "Install tmux 3.2 or newer.")
        return self.report("ok", answer)


class ServersCheck(BuiltinCheck):
    name = "servers"
    doc = "Every watched tmux server responds, and its version is known to be safe for direct requests."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            return self.report("skip", "no daemon is running")
        failing = [server.socket for server in health.servers if not server.mux_ok]
        if failing:
            hint = "Check it with `tmux -S <socket> ls`; a server that has exited is removed automatically."
            return self.report("warn", f"no response from {', '.join(failing)}", hint)
        degraded = [server for server in health.servers if server.client == "plain"]
        if degraded:
            reasons = "; ".join(f"{server.socket}: {server.detail}" for server in degraded)
            hint = (
                "Commands are sent by tmux processes and no client is attached, so panes piped by others are not heard."
            )
            return self.report("warn", reasons, hint)
        attached = sum(server.attached_sessions for server in health.servers)
        sessions = f"{attached} session{'' if attached == 1 else 's'}"
        note = f"; attached to {sessions} where another program uses a pane's pipe" if attached else ""
        return self.report("ok", f"{len(health.servers)} watched, all respond{note}")


class HistoryLimitCheck(BuiltinCheck):
    name = "history_limit"
    doc = "Every pane's `history-limit` is at least 50,000 lines."

    async def run(self, context: CheckContext) -> CheckFinding:
        panes = [pane for pane in await context.list_panes() or () if pane.facts.history_limit]
        if not panes:
            return self.report("skip", "no panes")
        short = [pane for pane in panes if pane.facts.history_limit < MIN_HISTORY_LINES]
        if short:
            least = min(pane.facts.history_limit for pane in short)
            count = f"{len(short)} of {len(panes)} panes"
            return self.report(
                "warn",
                f"{count} keep fewer than {MIN_HISTORY_LINES:,} lines (the shortest {least:,})",
                "Put `set -g history-limit 50000` into ~/.tmux.conf; it applies to new panes.",
            )
        return self.report("ok", f"all {len(panes)} panes keep {MIN_HISTORY_LINES:,} lines or more")


class ShellMarksCheck(BuiltinCheck):
    name = "shell_marks"
    doc = (
        "Shells send prompt marks (OSC 133 or 633), so that their activity is known, and their integration is current."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        panes = await context.list_panes()
        if not panes:
            return self.report("skip", "no panes")
        marked = [pane for pane in panes if pane.activity.kind in ("prompt", "command")]
        proven = sum(pane.activity.is_proven for pane in marked)
        message = f"{len(marked)} of {len(panes)} panes send marks, {proven} of them proven"
        folder = context.paths.shell_state_dir
        if outdated := sum(is_state_missing(folder, pane.facts.pid) for pane in marked if pane.activity.is_proven):
            message += f"; {outdated} record no state, so they are unknown after a restart"
            hint = "Run `visor setup shell` to update the integration, then `exec bash` (or zsh, fish) in these shells."
            return self.report("warn", message, hint)
        if marked:
            return self.report("ok", message)
        hint = "Run `visor setup shell` to send OSC 133 marks; without them a pane's activity is mostly unknown."
        return self.report("warn", message, hint)
