"""Prepare homes in which Gemini, opencode and Copilot write every event to one spool file, as Termvisor's hooks do."""

import json
import shlex
from pathlib import Path

from termvisor.agents.adapters import copilot, gemini, opencode
from tests.live.agents.agent_programs import AgentFolders, AgentProgram

SPOOL_PATH = "spool/hooks.jsonl"
ANSWER_FILE = "answer.json"
"""The hook's answer to the next permission request, while this file exists."""
_DECIDING_EVENTS = {"BeforeTool", "permissionRequest"}


def prepare_home(program: AgentProgram, place: AgentFolders) -> None:
    program.prepare(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    {"gemini": _set_up_gemini, "opencode": _set_up_opencode, "copilot": _set_up_copilot}[program.name](place)


def build_hook_command(place: AgentFolders, agent: str, event: str) -> str:
    """Return a line of `sh` that writes to the spool and prints the answer file, if there is one."""
    form = '{"v":1,"agent":"%s","event":"%s","at":%s,"pane":"%s","tmux":"%s","pid":%s,"payload":%s}\\n'
    fields = f'{agent} {event} "$(date +%s%3N)" "$TMUX_PANE" "$TMUX" "$PPID" "$(cat)"'
    line = f"printf {shlex.quote(form)} {fields} >> {shlex.quote(str(place.folder / SPOOL_PATH))}"
    answer = shlex.quote(str(place.folder / ANSWER_FILE))
    return f"{line}; [ ! -e {answer} ] || cat {answer}" if event in _DECIDING_EVENTS else line


def _set_up_gemini(place: AgentFolders) -> None:
    path = place.home / ".gemini/settings.json"
    settings = json.loads(path.read_text())
    settings["general"]["enableNotifications"] = True
    settings["hooksConfig"] = {"enabled": True, "notifications": False}
    settings["hooks"] = {
        name: [
            {
                "matcher": "*",
                "hooks": [{"type": "command", "command": build_hook_command(place, "gemini", name), "name": "told"}],
            }
        ]
        for name in gemini.hooks.HOOK_INTERPRETERS
    }
    path.write_text(json.dumps(settings))


def _set_up_copilot(place: AgentFolders) -> None:
    hooks = {
        name: [{"type": "command", "bash": build_hook_command(place, "copilot", name), "timeoutSec": 20}]
        for name in (*copilot.hooks.HOOK_INTERPRETERS, "permissionRequest")
    }
    place.write_home_file(".copilot/hooks/told.json", {"version": 1, "hooks": hooks})


def _set_up_opencode(place: AgentFolders) -> None:
    plugin = (Path(opencode.__file__).parent / "plugin.js").read_text()
    place.write_home_file(".config/opencode/plugin/told.js", plugin.replace("@SPOOL@", str(place.folder / SPOOL_PATH)))
