"""Read OSC 7501, the program status: ``state=blocked:app=claude-code:kind=permission:msg=<base64>``.

Claude Code prints it only in a terminal that has confirmed support for it at the start.
"""

import binascii

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.statements import AgentStatement, build_payload, build_unknown_statement
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

APP_NAME = "claude-code"
STATES_BY_OSC: dict[str, StateName] = {"idle": "idle", "working": "running", "done": "completed", "error": "error"}


def read_osc(record: SourceRecord) -> list[AgentStatement]:
    """Parse one mark; those of other programs are ignored."""
    fields = dict(part.partition("=")[::2] for part in record.text.split(":"))
    if "state" not in fields or fields.get("app", APP_NAME) != APP_NAME:
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
    if name not in STATES_BY_OSC:
        return None
    flags = build_error_flags("", message, now) if name == "error" else FlagUpdate()
    payload = build_payload(error=message) if name == "error" else build_payload(message=message)
    return AgentStatement(state=STATES_BY_OSC[name], flags=flags, payload=payload)


def _decode_message(text: str) -> str:
    try:
        return binascii.a2b_base64(text).decode("utf-8", "replace")
    except ValueError:
        return ""
