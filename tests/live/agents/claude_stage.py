"""A real Claude Code in a pane, with hooks that write to a spool."""

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.claude_code.keyboard import Press
from termvisor.agents.sources.pane_processes import Processes
from termvisor.model.agent.hooks import LISTENED
from termvisor.model.terminal.screen import Screen
from tests.live.agents.lab import CLAUDE, Workplace
from tests.live.agents.stage import HEIGHT, WIDTH, Stage
from tests.live.waiting import until

SPOOL = "spool/hooks.jsonl"
ANSWER = "answer.json"
"""What the hook answers to a permission request, while this file is there."""

_KEYLESS = {name: value for name, value in CLAUDE.env.items() if name != "ANTHROPIC_API_KEY"}
SUBSCRIBED = replace(CLAUDE, env={**_KEYLESS, "CLAUDE_CODE_OAUTH_TOKEN": "dummy"})
"""As with a subscription, whose usage limits tell when they end."""


def settle(place: Workplace) -> None:
    """A home whose hooks append one line each to the spool file."""
    CLAUDE.settle(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    hooks = {
        name: [{"hooks": [{"type": "command", "command": _hook(place, name)}]}]
        for name in LISTENED["claude_code"].events
    }
    place.write(".claude/settings.json", {"hooks": hooks})


def _hook(place: Workplace, event: str) -> str:
    form = '{"v":1,"agent":"claude_code","event":"%s","at":%s,"pane":"%s","tmux":"%s","pid":%s,"payload":%s}\\n'
    told = f'{event} "$(date +%s%3N)" "$TMUX_PANE" "$TMUX" "$PPID" "$(cat)"'
    line = f"printf {shlex.quote(form)} {told} >> {shlex.quote(str(place.folder / SPOOL))}"
    answer = shlex.quote(str(place.folder / ANSWER))
    return f"{line}; [ ! -e {answer} ] || cat {answer}" if event == "PermissionRequest" else line


class ClaudeStage(Stage):
    def start(self, waits_for: str = "mode on", *more: str) -> None:
        """In a plain shell that stays when it ends, and then says no more than that it did."""
        command = self.program.command(self.place, *more).replace(" && exec env ", " && env ")
        shell = f"exec sh -c {shlex.quote(command + '; exec sh')}"
        self.pane = self.tmux.start(command=shell, width=WIDTH, height=HEIGHT)
        self.begins(waits_for)

    def screen(self) -> Screen:
        return with_fields(super().screen(), at=time.time_ns())

    def prompt(self, text: str) -> None:
        """Typed, seen in the composer, then sent."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        self.shows(text[-20:])
        self.press("Enter")

    def command(self, text: str) -> None:
        """A slash opens a menu; Enter counts once the command stands in it, too."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        until(lambda: self.text().count(text) > 1)
        self.press("Enter")

    def obey(self, press: Callable[[Screen], Press | None]) -> None:
        """Press what answers the dialog, and again while it still stands: one that is new swallows keys."""
        until(lambda: self._is_answered(press(self.screen())))

    def _is_answered(self, wanted: Press | None) -> bool:
        if wanted is None:
            return True
        self.press(*wanted.keys)
        before, patience = self.text(), iter(range(10))
        until(lambda: self.text() != before or next(patience, None) is None)
        return False

    def ask_beside(self, prompt: str) -> None:
        """Another one in the same folder, in no pane, that answers and leaves."""
        command = self.program.command(self.place, "-p", prompt)
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)

    def recognised(self) -> Process | None:
        """What the adapter takes for the agent among all that runs in the pane."""
        return ADAPTER.recognise(self.all_processes())

    def all_processes(self) -> Sequence[Process]:
        first = int(self.tmux.ask(self.pane, "#{pane_pid}"))
        return Processes(ADAPTER.env_names).survey({self.pane: first})[self.pane]
