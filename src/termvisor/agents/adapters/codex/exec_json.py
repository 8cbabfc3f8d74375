"""What `codex exec --json` prints: one JSON object a line, from the thread's start to the end of its one turn.

Anybody can print such lines, so whoever reads them must know that this process has the terminal. A failure that is
tried again is told as an `error`, too; only `turn.failed` is the last one.
"""

from collections.abc import Callable

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.adapters.codex import error_codes as error_names
from termvisor.agents.adapters.codex.process_match import RESUME, call_of
from termvisor.agents.adapters.codex.usage import summed
from termvisor.agents.adapters.json_access import Json, inside, parsed, text
from termvisor.agents.adapters.statements import Said, payload

_ITEM = "item."


def prints(process: Process) -> bool:
    """Whether its output is meant for programs."""
    call = call_of(process)
    return call.verb in ("exec", "e") and call.is_json


def read(record: Record) -> list[Said]:
    """Nothing for what is no line of it: other programs may print below it."""
    line = parsed(record.text)
    kind = text(line, "type") if line is not None else ""
    read_one = _READERS.get(kind) or (_worked if kind.startswith(_ITEM) else None)
    said = read_one(line, record.at) if line is not None and read_one is not None else None
    return [] if said is None else [said]


def _opened(told: Json, now: int) -> Said | None:
    thread = text(told, "thread_id")
    return Said(kind="note", session=thread) if RESUME.is_session(thread) else None


def _began(told: Json, now: int) -> Said:
    return Said(state="running")


def _worked(told: Json, now: int) -> Said | None:
    """A warning is told as an item, too; it may come before there is any work."""
    kind = text(inside(told, "item"), "type")
    return Said(state="running", payload=payload(item=kind)) if kind and kind != "error" else None


def _ended(told: Json, now: int) -> Said:
    return Said(state="completed", payload=summed(inside(told, "usage")))


def _tried(told: Json, now: int) -> Said:
    return Said(kind="note", payload=payload(message=text(told, "message")))


def _failed(told: Json, now: int) -> Said:
    words = text(inside(told, "error"), "message")
    kind = error_names.kind_in(words)
    return Said(state="error", flags=error_names.flags_of(kind, words, now), payload=payload(error=kind, message=words))


_READERS: dict[str, Callable[[Json, int], Said | None]] = {
    "thread.started": _opened,
    "turn.started": _began,
    "turn.completed": _ended,
    "turn.failed": _failed,
    "error": _tried,
}
