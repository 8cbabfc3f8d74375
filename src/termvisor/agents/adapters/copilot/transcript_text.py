"""Extract prompts and answers from the Copilot event log, without sub-agents."""

import posixpath
from collections.abc import Iterator

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import get_object, get_str, parse_json_object, parse_timestamp
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.model.agent.transcript_message import MessageRole

_ROLES_BY_EVENT: dict[str, MessageRole] = {"user.message": "user", "assistant.message": "assistant"}


def read_transcript_text(record: SourceRecord) -> Iterator[TranscriptText]:
    line = parse_json_object(record.text)
    role = _ROLES_BY_EVENT.get(get_str(line, "type")) if line is not None else None
    session = posixpath.basename(posixpath.dirname(record.path))
    if line is None or role is None or not session or get_str(line, "agentId"):
        return
    fields = get_object(line, "data")
    text = get_str(fields, "content")
    if text.strip():
        key = get_str(fields, "messageId") or get_str(line, "id")
        yield TranscriptText(role=role, text=text, session=session, key=key, at=parse_timestamp(line.get("timestamp")))
