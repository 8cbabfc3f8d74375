"""OSC 7501, the program status: ``state=blocked:app=claude-code:kind=permission:msg=<base64>``.

Claude Code prints it only in a terminal that answered its question for it at the start.
"""

import binascii

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.claude_code.error_codes import flags_of
from termvisor.agents.adapters.statements import Said, not_understood, payload
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

APP = "claude-code"
STATES: dict[str, StateName] = {"idle": "idle", "working": "running", "done": "completed", "error": "error"}


def read(record: Record) -> list[Said]:
    parts = dict(part.partition("=")[::2] for part in record.text.split(":"))
    if "state" not in parts or parts.get("app", APP) != APP:
        return []
    told = _told(parts, _decoded(parts.get("msg", "")), record.at)
    return [told or not_understood(f"OSC 7501 {record.text}")]


def _told(parts: dict[str, str], message: str, now: int) -> Said | None:
    name, kind = parts["state"], parts.get("kind", "")
    if name == "clear":
        return Said(kind="source_down")
    if name == "blocked":
        state: StateName = "waiting_approval" if kind == "permission" else "waiting_input"
        flags = FlagsTold(auth_needed=True) if kind == "auth" else FlagsTold()
        return Said(state=state, flags=flags, payload=payload(message=message))
    if name not in STATES:
        return None
    flags = flags_of("", message, now) if name == "error" else FlagsTold()
    about = payload(error=message) if name == "error" else payload(message=message)
    return Said(state=STATES[name], flags=flags, payload=about)


def _decoded(text: str) -> str:
    try:
        return binascii.a2b_base64(text).decode("utf-8", "replace")
    except ValueError:
        return ""
