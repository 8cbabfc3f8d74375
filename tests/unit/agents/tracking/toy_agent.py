"""A toy agent: a program that prints OSC 7501 marks on request, and its adapter."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from termvisor.agents.adapters.adapter import ProcessInfo, ScreenReading, SourceRecord, WatchedPath
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, OSC_SOURCE, EvidenceSource, build_native_source
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, Signal
from termvisor.model.agent.state import StateName
from termvisor.model.terminal.screen import Screen

PROGRAM_NAME = "toy-agent"
STATES: dict[str, StateName] = {
    "idle": "idle",
    "working": "running",
    "blocked": "waiting_approval",
    "asking": "waiting_input",
    "done": "completed",
    "error": "error",
}
PROGRAM_SCRIPT = """\
import sys
print("toy ready")
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "bye":
        break
    print(f"\\x1b]7501;state={word}:app=toy:{rest}\\x07toy {word}", flush=True)
"""


class ToyAdapter:
    name = "toy"
    contract_version = (2, 0)
    capabilities = frozenset({"recognise", "signals", "look", "resume"})
    sources: tuple[EvidenceSource, ...] = (
        OSC_SOURCE,
        build_native_source("hook", 3, has_holes=True),
        build_native_source("notes", 4),
        *HEURISTIC_SOURCES,
    )
    env_names = ("TOY_HOME",)

    def find_process(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        return next((one for one in processes if _is_toy(one.argv)), None)

    def matches_title(self, title: str) -> bool:
        return title.startswith("Toy")

    def list_watched_paths(self, process: ProcessInfo) -> Sequence[WatchedPath]:
        home = process.env.get("TOY_HOME")
        hint = ProcessHint(pid=process.pid, pid_started=process.pid_started)
        return [WatchedPath(source="notes", kind="lines", folder=home, pattern="*.log", hint=hint)] if home else []

    def read_record(self, record: SourceRecord) -> Sequence[Signal]:
        fields = dict(part.partition("=")[::2] for part in record.text.split(":"))
        if record.source not in ("osc", "notes") or "state" not in fields:
            return []
        state = STATES.get(fields["state"], "unknown")
        return [
            Signal(
                source=record.source,
                tier="deterministic",
                agent=self.name,
                hint=record.hint,
                session=fields.get("id", ""),
                event_at=record.at,
                ingested_at=record.at,
                dedupe_key=record.event_id,
                state=state,
                reason="unsupported_signal" if state == "unknown" else None,
                flags=FlagUpdate(usage_limited=True) if "limit" in fields else FlagUpdate(),
                payload={key: fields[key] for key in ("model", "message", "end_reason") if key in fields},
            )
        ]

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        last = next((row for row in reversed(screen.rows) if row.startswith("toy ")), "")
        state = STATES.get(last.removeprefix("toy "), "idle" if last == "toy ready" else "unknown")
        return ScreenReading(state=state, rule=f"toy.{state}", confidence=0.9)

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        return (PROGRAM_NAME, "--resume", session)

    def find_resumed_session(self, process: ProcessInfo) -> str:
        return process.argv[-1] if "--resume" in process.argv else ""


ADAPTER = ToyAdapter()


def _is_toy(argv: Sequence[str]) -> bool:
    return any(os.path.basename(word) == PROGRAM_NAME for word in argv[:2])


def write_program(folder: Path) -> str:
    """Write the program to a folder and return its path."""
    path = folder / PROGRAM_NAME
    path.write_text(PROGRAM_SCRIPT)
    return str(path)


@contextmanager
def install_adapter(folder: Path, monkeypatch) -> Iterator[None]:
    """Install the adapter by an entry point, like a package."""
    dist_info = folder / "toy-1.0.dist-info"
    dist_info.mkdir()
    (dist_info / "entry_points.txt").write_text(f"[termvisor.agents]\ntoy = {__name__}:ADAPTER\n")
    monkeypatch.syspath_prepend(str(folder))
    yield
