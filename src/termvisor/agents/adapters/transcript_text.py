"""What was said in a conversation, out of the records in which agents keep it: who said it, and the whole of it."""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.json_access import text
from termvisor.agents.adapters.statements import hook_of
from termvisor.model.agent.transcript_message import Role


class Words(Struct, frozen=True, kw_only=True):
    """``key`` names them within their session; ``at`` is the agent's own time, 0 where it tells none."""

    role: Role
    text: str
    session: str
    key: str
    at: int = 0


WordsIn = Callable[[Record], Iterable[Words]]
Told = tuple[str, Role, str]
"""An event of a hook, who speaks in it, and the field that holds what they say."""


def digest(words: str) -> str:
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def of_hooks(*told: Told) -> WordsIn:
    """The reader for an agent that tells them in its hooks; a turn's name makes them one of a kind, else their time."""
    fields = {event: (role, field) for event, role, field in told}

    def words(record: Record) -> Iterable[Words]:
        hook = hook_of(record)
        if hook is None or hook.event not in fields:
            return
        role, field = fields[hook.event]
        said, session = text(hook.payload, field), text(hook.payload, "session_id")
        if said.strip() and session:
            turn = text(hook.payload, "turn_id") or str(hook.at)
            yield Words(role=role, text=said, session=session, key=f"{turn}:{role}:{digest(said)}", at=hook.at)

    return words
