"""OSC 7501, which Codex prints into its pane at every change: ``state=blocked:app=codex:kind=permission``."""

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.codex.process_match import AGENT
from termvisor.agents.adapters.statements import Said, not_understood
from termvisor.model.agent.signal import FlagsTold

_SAID = {
    "idle": Said(state="idle"),
    "working": Said(state="running"),
    "done": Said(state="completed"),
    "error": Said(state="error"),
    "clear": Said(state="unknown", reason="no_signal"),
}
_BLOCKED = {
    "permission": Said(state="waiting_approval"),
    "auth": Said(state="waiting_input", flags=FlagsTold(auth_needed=True)),
}
_ASKS = Said(state="waiting_input")


def read(record: Record) -> list[Said]:
    """A mark of another program says nothing here; `clear`, the last one, names no program."""
    fields = dict(field.partition("=")[::2] for field in record.text.split(":"))
    state = fields.get("state", "")
    if fields.get("app", AGENT) != AGENT or not state:
        return []
    said = _BLOCKED.get(fields.get("kind", ""), _ASKS) if state == "blocked" else _SAID.get(state)
    return [said or not_understood(record.text)]
