"""Read what Claude Code writes to its terminal besides the screen: OSC 7501 and pane titles.

OSC 7501 is the program status: ``state=blocked:app=claude-code:kind=permission:msg=<base64>``. Claude Code prints it
only if the terminal confirmed support at the start, which tmux does not. A title is `✳ Claude Code`, or `✳` and
the session title; it does not show the state.
"""

import binascii
import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.statements import AgentStatement, build_payload, build_unknown_statement, redact_text
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

_APP_NAME = "claude-code"
_TITLE_PATTERN = re.compile(r"(?:[✳✻✶✢✽·⠂⠐] )?(\S.*)")
_PRODUCT_NAME = "Claude Code"
_STATES_BY_OSC: dict[str, StateName] = {"idle": "idle", "working": "running", "done": "completed", "error": "error"}


def read_osc(record: SourceRecord) -> list[AgentStatement]:
    """Parse one mark, ignoring those of other programs."""
    fields = dict(part.partition("=")[::2] for part in record.text.split(":"))
    if "state" not in fields or fields.get("app", _APP_NAME) != _APP_NAME:
        return []
    statement = _build_statement(fields, _decode_message(fields.get("msg", "")), record.at)
    return [statement or build_unknown_statement(f"OSC 7501 {record.text}")]


def _build_statement(fields: dict[str, str], message: str, now: int) -> AgentStatement | None:
    name, kind = fields["state"], fields.get("kind", "")
    if name == "clear":
        return AgentStatement(kind="source_down")
    if name == "blocked":
        state: StateName = "waiting_approval" if kind == "permission" else "waiting_input"
        flags = FlagUpdate(auth_needed=True) if kind == "auth" else FlagUpdate()
        return AgentStatement(state=state, flags=flags, payload=build_payload(message=message))
    if name not in _STATES_BY_OSC:
        return None
    flags = build_error_flags("", message, now) if name == "error" else FlagUpdate()
    payload = build_payload(error=message) if name == "error" else build_payload(message=message)
    return AgentStatement(state=_STATES_BY_OSC[name], flags=flags, payload=payload)


def _decode_message(text: str) -> str:
    try:
        # The message is optional, so a malformed one must not hide the state.
        return binascii.a2b_base64(text).decode("utf-8", "replace")
    except ValueError:
        return ""


def matches_title(title: str) -> bool:
    return title.startswith("✳ ") or title == _PRODUCT_NAME


def read_title(record: SourceRecord) -> list[AgentStatement]:
    """Return the session title; nothing if the pane title is just the product name."""
    match = _TITLE_PATTERN.fullmatch(record.text.strip())
    title = redact_text(match[1]) if match else ""
    return [AgentStatement(kind="note", title="" if title == _PRODUCT_NAME else title)]
