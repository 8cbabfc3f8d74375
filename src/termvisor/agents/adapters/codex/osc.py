"""Read OSC 7501, which Codex prints into its pane at every change: ``state=blocked:app=codex:kind=permission``."""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex.process_match import AGENT_NAME
from termvisor.agents.adapters.statements import AgentStatement, build_unknown_statement
from termvisor.model.agent.signal import FlagUpdate

_STATEMENTS_BY_STATE = {
    "idle": AgentStatement(state="idle"),
    "working": AgentStatement(state="running"),
    "done": AgentStatement(state="completed"),
    "error": AgentStatement(state="error"),
    "clear": AgentStatement(state="unknown", reason="no_signal"),
}
_STATEMENTS_BY_BLOCK_KIND = {
    "permission": AgentStatement(state="waiting_approval"),
    "auth": AgentStatement(state="waiting_input", flags=FlagUpdate(auth_needed=True)),
}
_WAITING_STATEMENT = AgentStatement(state="waiting_input")


def read_osc(record: SourceRecord) -> list[AgentStatement]:
    """Parse one mark; those of other programs are ignored. `clear`, the last one, names no program."""
    fields = dict(field.partition("=")[::2] for field in record.text.split(":"))
    state = fields.get("state", "")
    if fields.get("app", AGENT_NAME) != AGENT_NAME or not state:
        return []
    if state == "blocked":
        return [_STATEMENTS_BY_BLOCK_KIND.get(fields.get("kind", ""), _WAITING_STATEMENT)]
    return [_STATEMENTS_BY_STATE.get(state) or build_unknown_statement(record.text)]
