"""Extract messages, each with its role and full text, from the transcript records of agents."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import get_str
from termvisor.agents.adapters.statements import hash_text, parse_hook_event
from termvisor.model.agent.session import MessageRole


class TranscriptText(Struct, frozen=True, kw_only=True):
    """One message. ``key`` is unique within the session; ``at`` is the agent's time, 0 if unknown."""

    role: MessageRole
    text: str
    session: str
    key: str
    at: int = 0


TranscriptReader = Callable[[SourceRecord], Iterable[TranscriptText]]
HookTextField = tuple[str, MessageRole, str]
"""Name of a hook event, the role of its message, and the field with the text."""


def build_hook_transcript_reader(*text_fields: HookTextField) -> TranscriptReader:
    """Return a reader for hooks that contain messages. The key of a message includes the turn id, or else its time."""
    fields_by_event = {event: (role, field) for event, role, field in text_fields}

    def read_transcript_text(record: SourceRecord) -> Iterable[TranscriptText]:
        hook = parse_hook_event(record)
        if hook is None or hook.event not in fields_by_event:
            return
        role, field = fields_by_event[hook.event]
        text, session = get_str(hook.payload, field), get_str(hook.payload, "session_id")
        if text.strip() and session:
            turn = get_str(hook.payload, "turn_id") or str(hook.at)
            key = f"{turn}:{role}:{hash_text(text)}"
            yield TranscriptText(role=role, text=text, session=session, key=key, at=hook.at)

    return read_transcript_text
