"""A real Claude Code in a pane, with hooks that write to a spool."""

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.claude_code.keyboard import KeyPress
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.model.agent.hooks import HOOK_EVENTS_BY_AGENT
from termvisor.model.terminal.screen import Screen
from tests.live.agents.agent_pane import HEIGHT, WIDTH, AgentPane
from tests.live.agents.agent_programs import CLAUDE, AgentFolders
from tests.live.polling import wait_until

SPOOL_PATH = "spool/hooks.jsonl"
ANSWER_FILE = "answer.json"
"""What the hook answers to a permission request, while this file is there."""

_ENV_WITHOUT_KEY = {name: value for name, value in CLAUDE.env.items() if name != "ANTHROPIC_API_KEY"}
SUBSCRIBED_CLAUDE = replace(CLAUDE, env={**_ENV_WITHOUT_KEY, "CLAUDE_CODE_OAUTH_TOKEN": "dummy"})
"""As with a subscription, whose usage limits tell when they end."""


def prepare_home(place: AgentFolders) -> None:
    """A home whose hooks append one line each to the spool file."""
    CLAUDE.prepare(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    hooks = {
        name: [{"hooks": [{"type": "command", "command": _build_hook_command(place, name)}]}]
        for name in HOOK_EVENTS_BY_AGENT["claude_code"].events
    }
    place.write_home_file(".claude/settings.json", {"hooks": hooks})


def _build_hook_command(place: AgentFolders, event: str) -> str:
    form = '{"v":1,"agent":"claude_code","event":"%s","at":%s,"pane":"%s","tmux":"%s","pid":%s,"payload":%s}\\n'
    told = f'{event} "$(date +%s%3N)" "$TMUX_PANE" "$TMUX" "$PPID" "$(cat)"'
    line = f"printf {shlex.quote(form)} {told} >> {shlex.quote(str(place.folder / SPOOL_PATH))}"
    answer = shlex.quote(str(place.folder / ANSWER_FILE))
    return f"{line}; [ ! -e {answer} ] || cat {answer}" if event == "PermissionRequest" else line


class ClaudePane(AgentPane):
    def start(self, waits_for: str = "mode on", *more: str) -> None:
        """In a plain shell that stays when it ends, and then says no more than that it did."""
        command = self.program.build_command(self.place, *more).replace(" && exec env ", " && env ")
        shell = f"exec sh -c {shlex.quote(command + '; exec sh')}"
        self.pane = self.tmux.start_session(command=shell, width=WIDTH, height=HEIGHT)
        self.wait_until_started(waits_for)

    def capture_screen(self) -> Screen:
        return with_fields(super().capture_screen(), at=time.time_ns())

    def send_prompt(self, text: str) -> None:
        """Typed, seen in the composer, then sent."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        self.wait_for_text(text[-20:])
        self.press("Enter")

    def send_command(self, text: str) -> None:
        """A slash opens a menu; Enter counts once the command stands in it, too."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        wait_until(lambda: self.capture_text().count(text) > 1)
        self.press("Enter")

    def press_until_answered(self, press: Callable[[Screen], KeyPress | None]) -> None:
        """Press what answers the dialog, and again while it still stands: one that is new swallows keys."""
        wait_until(lambda: self._is_answered(press(self.capture_screen())))

    def _is_answered(self, wanted: KeyPress | None) -> bool:
        if wanted is None:
            return True
        self.press(*wanted.keys)
        before, patience = self.capture_text(), iter(range(10))
        wait_until(lambda: self.capture_text() != before or next(patience, None) is None)
        return False

    def run_beside(self, prompt: str) -> None:
        """Another one in the same folder, in no pane, that answers and leaves."""
        command = self.program.build_command(self.place, "-p", prompt)
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)

    def find_process(self) -> ProcessInfo | None:
        """What the adapter takes for the agent among all that runs in the pane."""
        return ADAPTER.find_process(self.list_processes())

    def list_processes(self) -> Sequence[ProcessInfo]:
        first = int(self.tmux.read_format(self.pane, "#{pane_pid}"))
        return PaneProcessScanner(ADAPTER.env_names).scan_sync({self.pane: first})[self.pane]
