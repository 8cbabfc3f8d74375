"""A toy agent: a program that prints OSC 7501 marks as it is told to, and the adapter that somebody ships for it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from termvisor.agents.adapters.adapter import Process, Record, Seen, Watch
from termvisor.model.agent.evidence_source import LOOKS, OSC, Source, told
from termvisor.model.agent.signal import FlagsTold, Hint, Signal
from termvisor.model.agent.state import StateName
from termvisor.model.terminal.screen import Screen

NAME = "toy-agent"
STATES: dict[str, StateName] = {
    "idle": "idle",
    "working": "running",
    "blocked": "waiting_approval",
    "asking": "waiting_input",
    "done": "completed",
    "error": "error",
}
SCRIPT = """\
import sys
print("toy ready")
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "bye":
        break
    print(f"\\x1b]7501;state={word}:app=toy:{rest}\\x07toy {word}", flush=True)
"""


class Toy:
    name = "toy"
    contract_version = (1, 0)
    """The first one: its looks are not told the version of its program."""
    capabilities = frozenset({"recognise", "signals", "look", "resume"})
    sources: tuple[Source, ...] = (OSC, told("hook", 3, has_holes=True), told("notes", 4), *LOOKS)
    env_names = ("TOY_HOME",)

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return next((one for one in processes if _is_toy(one.argv)), None)

    def title_matches(self, title: str) -> bool:
        return title.startswith("Toy")

    def watches(self, process: Process) -> Sequence[Watch]:
        home = process.env.get("TOY_HOME")
        hint = Hint(pid=process.pid, pid_started=process.pid_started)
        return [Watch(source="notes", kind="lines", folder=home, pattern="*.log", hint=hint)] if home else []

    def read(self, record: Record) -> Sequence[Signal]:
        words = dict(part.partition("=")[::2] for part in record.text.split(":"))
        if record.source not in ("osc", "notes") or "state" not in words:
            return []
        state = STATES.get(words["state"], "unknown")
        return [
            Signal(
                source=record.source,
                tier="deterministic",
                agent=self.name,
                hint=record.hint,
                session=words.get("id", ""),
                event_at=record.at,
                ingested_at=record.at,
                dedupe_key=record.event_id,
                state=state,
                reason="unsupported_signal" if state == "unknown" else None,
                flags=FlagsTold(usage_limited=True) if "limit" in words else FlagsTold(),
                payload={key: words[key] for key in ("model", "message", "end_reason") if key in words},
            )
        ]

    def look(self, screen: Screen) -> Seen:
        last = next((row for row in reversed(screen.rows) if row.startswith("toy ")), "")
        state = STATES.get(last.removeprefix("toy "), "idle" if last == "toy ready" else "unknown")
        return Seen(state=state, rule=f"toy.{state}", confidence=0.9)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return (NAME, "--resume", session)

    def session_of(self, process: Process) -> str:
        return process.argv[-1] if "--resume" in process.argv else ""


ADAPTER = Toy()


def _is_toy(argv: Sequence[str]) -> bool:
    return any(os.path.basename(word) == NAME for word in argv[:2])


def program(folder: Path) -> str:
    """The program, in a folder of its own."""
    path = folder / NAME
    path.write_text(SCRIPT)
    return str(path)


@contextmanager
def installed(folder: Path, monkeypatch) -> Iterator[None]:
    """The adapter as a package would bring it: by nothing but an entry point."""
    about = folder / "toy-1.0.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text(f"[termvisor.agents]\ntoy = {__name__}:ADAPTER\n")
    monkeypatch.syspath_prepend(str(folder))
    yield
