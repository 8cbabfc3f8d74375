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
"""The hook's answer to a permission request, while this file exists."""

_ENV_WITHOUT_KEY = {name: value for name, value in CLAUDE.env.items() if name != "ANTHROPIC_API_KEY"}
SUBSCRIBED_CLAUDE = replace(CLAUDE, env={**_ENV_WITHOUT_KEY, "CLAUDE_CODE_OAUTH_TOKEN": "dummy"})
"""Claude Code with a subscription, whose usage limits report their end."""


def prepare_home(place: AgentFolders) -> None:
    """Prepare a home whose hooks append one line each to the spool file."""
    CLAUDE.prepare(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    hooks = {
        name: [{"hooks": [{"type": "command", "command": _build_hook_command(place, name)}]}]
        for name in HOOK_EVENTS_BY_AGENT["claude_code"].events
    }
    place.write_home_file(".claude/settings.json", {"hooks": hooks})


def _build_hook_command(place: AgentFolders, event: str) -> str:
    form = '{"v":1,"agent":"claude_code","event":"%s","at":%s,"pane":"%s","tmux":"%s","pid":%s,"payload":%s}\\n'
    fields = f'{event} "$(date +%s%3N)" "$TMUX_PANE" "$TMUX" "$PPID" "$(cat)"'
    line = f"printf {shlex.quote(form)} {fields} >> {shlex.quote(str(place.folder / SPOOL_PATH))}"
    answer = shlex.quote(str(place.folder / ANSWER_FILE))
    return f"{line}; [ ! -e {answer} ] || cat {answer}" if event == "PermissionRequest" else line


class ClaudePane(AgentPane):
    def start(self, waits_for: str = "mode on", *more: str) -> None:
        """Start it in a plain shell that stays open when it exits."""
        command = self.program.build_command(self.place, *more).replace(" && exec env ", " && env ")
        shell = f"exec sh -c {shlex.quote(command + '; exec sh')}"
        self.pane = self.tmux.start_session(command=shell, width=WIDTH, height=HEIGHT)
        self.wait_until_started(waits_for)

    def capture_screen(self) -> Screen:
        return with_fields(super().capture_screen(), at=time.time_ns())

    def send_prompt(self, text: str) -> None:
        """Type a prompt, wait until it is in the composer, then send it."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        self.wait_for_text(text[-20:])
        self.press("Enter")

    def send_command(self, text: str) -> None:
        """Send a slash command: it opens a menu, and Enter works once the command is listed there."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        wait_until(lambda: self.capture_text().count(text) > 1)
        self.press("Enter")

    def press_until_answered(self, press: Callable[[Screen], KeyPress | None]) -> None:
        """Press the answer keys until the dialog closes: a new dialog ignores keys."""
        wait_until(lambda: self._is_answered(press(self.capture_screen())))

    def _is_answered(self, wanted: KeyPress | None) -> bool:
        if wanted is None:
            return True
        self.press(*wanted.keys)
        before, patience = self.capture_text(), iter(range(10))
        wait_until(lambda: self.capture_text() != before or next(patience, None) is None)
        return False

    def run_beside(self, prompt: str) -> None:
        """Run another Claude Code in the same folder, without a pane."""
        command = self.program.build_command(self.place, "-p", prompt)
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)

    def find_process(self) -> ProcessInfo | None:
        """Return the process that the adapter identifies as the agent in the pane."""
        return ADAPTER.find_process(self.list_processes())

    def list_processes(self) -> Sequence[ProcessInfo]:
        first = int(self.tmux.read_format(self.pane, "#{pane_pid}"))
        return PaneProcessScanner(ADAPTER.env_names).scan_sync({self.pane: first})[self.pane]
