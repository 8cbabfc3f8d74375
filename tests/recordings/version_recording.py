"""Recordings of released agent versions: what one run showed and reported, with the true state at each moment.

The true state is known from what was done to the agent and from the scripted model, never from the agent's output. A
recording is one gzip file of JSON; paths, ids and names of the recording machine are replaced. A held-out recording is
marked as seen before a rule is changed because of it: `python -m tests.recordings.version_recording opencode 1.3.2`.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

FOLDER = Path(__file__).parent / "versions"


class VersionVariant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the agent was run."""

    width: int = 110
    has_hooks: bool = False
    theme: str = "dark"

    @property
    def name(self) -> str:
        return f"{self.width}-{'hooks' if self.has_hooks else 'plain'}-{self.theme}"


class RecordedSample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was new at one instant. ``rows`` is None if the screen had not changed since the last sample."""

    at: int
    rows: tuple[str, ...] | None = None
    cursor: tuple[int, int] = (0, 0)
    is_alternate: bool = False
    records: tuple[SourceRecord, ...] = ()


class RecordedMoment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of time, at least some seconds long, in which the true state of the agent did not change.

    Two true states mean that either is right; `gone` means that the program has exited.
    """

    name: str
    truths: tuple[str, ...]
    at: int


class VersionRecording(Struct, frozen=True, kw_only=True, omit_defaults=True):
    agent: str
    version: str
    variant: VersionVariant = VersionVariant()
    height: int
    is_held_out: bool = False
    """No rule or mechanism was changed after this recording was looked at: its figures tell of unseen versions."""
    runtime: AgentProcess
    moments: tuple[RecordedMoment, ...] = ()
    samples: tuple[RecordedSample, ...] = ()

    @property
    def path(self) -> Path:
        return FOLDER / self.agent / f"{self.version}-{self.variant.name}.json.gz"

    def build_screen(self, sample: RecordedSample, last: Screen | None) -> Screen | None:
        """Return the screen at a sample, given the one before; None before the first."""
        if sample.rows is None:
            return last and msgspec.structs.replace(last, at=sample.at)
        x, y = sample.cursor
        return Screen(
            pane=PaneId(1),
            rows=sample.rows + ("",) * (self.height - len(sample.rows)),
            width=self.variant.width,
            height=self.height,
            cursor_x=x,
            cursor_y=y,
            alternate=sample.is_alternate,
            at=sample.at,
        )


def write_recording(recording: VersionRecording) -> None:
    recording.path.parent.mkdir(parents=True, exist_ok=True)
    # Without a time stamp, so that an unchanged recording is an unchanged file.
    recording.path.write_bytes(gzip.compress(msgspec.json.encode(recording), mtime=0))


def load_recording(path: Path) -> VersionRecording:
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=VersionRecording)


def list_recordings(agent: str = "*") -> Iterator[Path]:
    return iter(sorted(FOLDER.glob(f"{agent}/*.json.gz")))


def mark_as_seen(agent: str, version: str) -> None:
    for path in list_recordings(agent):
        recording = load_recording(path)
        if recording.version == version:
            write_recording(msgspec.structs.replace(recording, is_held_out=False))


if __name__ == "__main__":
    mark_as_seen(*sys.argv[1:])
