"""What was said to Copilot and by it, from its log of events; what its sub-agents say is left out."""

import posixpath
from collections.abc import Iterator

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.json_access import inside, moment, parsed, text
from termvisor.agents.adapters.transcript_text import Words
from termvisor.model.agent.transcript_message import Role

_ROLES: dict[str, Role] = {"user.message": "user", "assistant.message": "assistant"}


def words(record: Record) -> Iterator[Words]:
    line = parsed(record.text)
    role = _ROLES.get(text(line, "type")) if line is not None else None
    session = posixpath.basename(posixpath.dirname(record.path))
    if line is None or role is None or not session or text(line, "agentId"):
        return
    told = inside(line, "data")
    said = text(told, "content")
    if said.strip():
        key = text(told, "messageId") or text(line, "id")
        yield Words(role=role, text=said, session=session, key=key, at=moment(line.get("timestamp")))
