"""The rollout: the file in which Codex keeps one thread, a line for everything that happens.

Its name holds the thread's id, but nothing in it names a process. So a line counts only where the process was proven
by its own command line. Of other threads the first line is taken, which tells the folder, and what they used: that goes
to whoever has shown the thread elsewhere, and to nobody else.
"""

import posixpath
import re
from collections.abc import Callable

from termvisor.agents.adapters.adapter import Process, Record, Watch
from termvisor.agents.adapters.codex import error_codes as error_names
from termvisor.agents.adapters.codex.process_match import home_of, resumed_by
from termvisor.agents.adapters.codex.usage import counted, window_figures, window_flags
from termvisor.agents.adapters.json_access import Json, inside, moment, number, parsed, text
from termvisor.agents.adapters.statements import Said, framed, not_understood, payload
from termvisor.model.agent.signal import FlagsTold, Hint

SOURCE = "rollout"
FACES = ("codex-tui", "codex_cli_rs")
"""What a Codex with a face calls itself; other programs keep threads in the same place."""
_NAME = re.compile(r"rollout-[\dT:-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


def watches(process: Process) -> list[Watch]:
    home = home_of(process)
    if not home:
        return []
    thread = resumed_by(process)
    name = f"rollout-*-{thread}.jsonl" if thread else "rollout-*.jsonl"
    hint = Hint(pid=process.pid, pid_started=process.pid_started) if thread else Hint()
    folder = posixpath.join(home, "sessions")
    return [Watch(source=SOURCE, kind="lines", folder=folder, pattern=name, is_deep=True, hint=hint)]


def read(record: Record) -> list[Said]:
    line = parsed(record.text)
    if line is None:
        return [not_understood(record.text)]
    told = inside(line, "payload")
    if text(line, "type") == "session_meta":
        return _opened(record, told)
    kind = text(told, "type") if text(line, "type") == "event_msg" else text(line, "type")
    read_one = _READERS.get(kind) if record.hint.pid else _COUNTERS.get(kind)
    said = read_one(told, record.at) if read_one is not None else None
    at = min(moment(line.get("timestamp")) or record.at, record.at)
    return [] if said is None else framed([said], session=_session(record), at=at)


def _session(record: Record) -> str:
    found = _NAME.fullmatch(posixpath.basename(record.path))
    return found[1] if found else ""


def _opened(record: Record, told: Json) -> list[Said]:
    if text(told, "originator") not in FACES or told.get("thread_source", "user") != "user":
        return []
    said = Said(kind="note", payload=payload(version=text(told, "cli_version"), transcript=record.path))
    hint = record.hint if record.hint.pid else Hint(target=record.hint.target, cwd=text(told, "cwd"))
    at = moment(told.get("timestamp")) or record.at
    return framed([said], session=text(told, "id"), hint=hint, at=min(at, record.at))


def _began(told: Json, now: int) -> Said:
    return Said(state="running", payload=payload(context_size=number(told, "model_context_window") or None))


def _ended(told: Json, now: int) -> Said:
    error = inside(told, "error")
    if not error:
        return Said(state="completed", payload=payload(last_message=text(told, "last_agent_message")))
    kind, words = error_names.kind_of(error.get("codex_error_info")), text(error, "message")
    return Said(state="error", flags=error_names.flags_of(kind, words, now), payload=payload(error=kind, message=words))


def _stopped(told: Json, now: int) -> Said:
    return Said(state="idle")


def _counted(told: Json, now: int) -> Said:
    info = inside(told, "info")
    window = number(info, "model_context_window")
    counts = counted(inside(info, "total_token_usage"), inside(info, "last_token_usage"), window)
    limits = told.get("rate_limits")
    return Said(kind="note", flags=window_flags(limits), payload=counts | window_figures(limits))


def _turned(told: Json, now: int) -> Said | None:
    model = text(told, "model")
    return Said(kind="note", payload=payload(model=model)) if model else None


def _compacted(told: Json, now: int) -> Said:
    return Said(kind="note", flags=FlagsTold(compacting=False))


_COUNTERS: dict[str, Callable[[Json, int], Said | None]] = {"token_count": _counted, "turn_context": _turned}
_READERS = _COUNTERS | {
    "task_started": _began,
    "task_complete": _ended,
    "turn_aborted": _stopped,
    "compacted": _compacted,
}
"""Lines that are not here tell what was said, not what Codex is doing."""
