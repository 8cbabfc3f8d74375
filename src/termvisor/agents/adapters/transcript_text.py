"""What was said in a conversation, out of the records in which agents keep it: who said it, and the whole of it."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import get_str
from termvisor.agents.adapters.statements import parse_hook_event
from termvisor.model.agent.transcript_message import MessageRole


class TranscriptText(Struct, frozen=True, kw_only=True):
    """``key`` names them within their session; ``at`` is the agent's own time, 0 where it tells none."""

    role: MessageRole
    text: str
    session: str
    key: str
    at: int = 0


TranscriptReader = Callable[[SourceRecord], Iterable[TranscriptText]]
HookTextField = tuple[str, MessageRole, str]
"""An event of a hook, who speaks in it, and the field that holds what they say."""


def hash_text(message: str) -> str:
    return blake2b(message.encode("utf-8", "replace"), digest_size=8).hexdigest()


def build_hook_transcript_reader(*text_fields: HookTextField) -> TranscriptReader:
    """The reader for an agent that tells them in its hooks; a turn's name makes them one of a kind, else their time."""
    fields = {event: (role, field) for event, role, field in text_fields}

    def read_transcript_text(record: SourceRecord) -> Iterable[TranscriptText]:
        hook = parse_hook_event(record)
        if hook is None or hook.event not in fields:
            return
        role, field = fields[hook.event]
        said, session = get_str(hook.payload, field), get_str(hook.payload, "session_id")
        if said.strip() and session:
            turn = get_str(hook.payload, "turn_id") or str(hook.at)
            yield TranscriptText(
                role=role, text=said, session=session, key=f"{turn}:{role}:{hash_text(said)}", at=hook.at
            )

    return read_transcript_text
