"""Homes in which Gemini, opencode and Copilot tell every event to one spool file, as our own hooks do."""

import json
import shlex
from pathlib import Path

from termvisor.agents.adapters import copilot, gemini, opencode
from termvisor.agents.adapters.opencode import signals
from tests.live.agents.lab import Program, Workplace

SPOOL = "spool/hooks.jsonl"
ANSWER = "answer.json"
"""What the deciding hook answers to the next question, while this file is there."""
_DECIDES = {"BeforeTool", "permissionRequest"}


def settle(program: Program, place: Workplace) -> None:
    program.settle(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    {"gemini": _gemini, "opencode": _opencode, "copilot": _copilot}[program.name](place)


def hook(place: Workplace, agent: str, event: str) -> str:
    """One line of `sh`: a line for the spool, and an answer where one was left for it."""
    form = '{"v":1,"agent":"%s","event":"%s","at":%s,"pane":"%s","tmux":"%s","pid":%s,"payload":%s}\\n'
    told = f'{agent} {event} "$(date +%s%3N)" "$TMUX_PANE" "$TMUX" "$PPID" "$(cat)"'
    line = f"printf {shlex.quote(form)} {told} >> {shlex.quote(str(place.folder / SPOOL))}"
    answer = shlex.quote(str(place.folder / ANSWER))
    return f"{line}; [ ! -e {answer} ] || cat {answer}" if event in _DECIDES else line


def _gemini(place: Workplace) -> None:
    path = place.home / ".gemini/settings.json"
    settings = json.loads(path.read_text())
    settings["general"]["enableNotifications"] = True
    settings["hooksConfig"] = {"enabled": True, "notifications": False}
    settings["hooks"] = {
        name: [{"matcher": "*", "hooks": [{"type": "command", "command": hook(place, "gemini", name), "name": "told"}]}]
        for name in gemini.signals.HOOKS
    }
    path.write_text(json.dumps(settings))


def _copilot(place: Workplace) -> None:
    hooks = {
        name: [{"type": "command", "bash": hook(place, "copilot", name), "timeoutSec": 20}]
        for name in (*copilot.hooks.HOOKS, "permissionRequest")
    }
    place.write(".copilot/hooks/told.json", {"version": 1, "hooks": hooks})


def _opencode(place: Workplace) -> None:
    plugin = (Path(opencode.__file__).parent / signals.PLUGIN).read_text()
    place.write(".config/opencode/plugin/told.js", plugin.replace(signals.SPOOL_MARK, str(place.folder / SPOOL)))
