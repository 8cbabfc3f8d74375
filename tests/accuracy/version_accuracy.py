"""Measure on recordings of released versions how often the state is right three seconds after it began.

The recordings are replayed as the daemon would have processed them: each screen sample and each record at its time.
`by screen` leaves out the agent's own reports. `python -m tests.accuracy.version_accuracy` prints a row per recording,
and exits with status 1 if the held-out recordings miss a budget.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Adapter, ScreenReading
from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact
from termvisor.agents.tracking.agent_screens import ClassifiedScreen, build_screen_signal, find_moved_at
from termvisor.model.agent.agent_process import AgentStarted
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.bench.figure import BudgetedFigure, render_table
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.recordings.version_recording import (
    RecordedMoment,
    RecordedSample,
    VersionRecording,
    list_recordings,
    load_recording,
)

JUDGED_AFTER_NS = 3 * 10**9
SAMPLE_INTERVAL_NS = 10**9 // 2
"""Time between two screen samples of an active pane."""
EXITED = "gone"
WAITING_STATES = ("waiting_approval", "waiting_input")
# In percent, for versions that no rule was written for.
MIN_RIGHT, MIN_RIGHT_BY_SCREEN, MIN_WAITING_RECALL, MAX_FALSE_WAITING, MAX_WRONG = 97.0, 95.0, 98.0, 0.5, 1.0


class JudgedMoment(Struct, frozen=True, kw_only=True):
    """One moment with its true states, the state that was published, and the rule that the screen matched."""

    name: str
    truths: tuple[str, ...]
    state: str
    rule: str
    source: str

    @property
    def is_right(self) -> bool:
        return self.state in self.truths

    @property
    def is_waiting(self) -> bool:
        return all(truth in WAITING_STATES for truth in self.truths)

    def describe(self) -> str:
        by = self.rule if self.source in ("screen", "") else self.source
        return f"{self.name}: {self.state} ({by or 'no rule'}), was {' or '.join(self.truths)}"


class VersionReplay:
    """Replays one recording."""

    def __init__(self, recording: VersionRecording, adapter: Adapter, *, uses_records: bool):
        self._recording, self._adapter, self._uses_records = recording, adapter, uses_records
        runtime = recording.runtime
        started = AgentStarted(at=runtime.started_at, runtime=runtime)
        self._knowledge = apply_fact(AgentKnowledge(), started, DEFAULT_THRESHOLDS)
        self._signal_count = 0
        self._screen: Screen | None = None
        self._last: ClassifiedScreen | None = None
        self._moved_at = runtime.started_at
        self._reading = ScreenReading()
        self._rule = ""

    def judge(self) -> Iterator[JudgedMoment]:
        """Sample as often as the daemon does, and judge each moment some seconds after its start."""
        due = sorted((one for one in self._recording.moments if one.truths != (EXITED,)), key=lambda one: one.at)
        samples = list(self._recording.samples)
        end = max(one.at for one in due) + JUDGED_AFTER_NS
        for now in range(samples[0].at, end + SAMPLE_INTERVAL_NS, SAMPLE_INTERVAL_NS):
            while samples and samples[0].at <= now:
                self._apply_sample(samples.pop(0))
            self._read_screen(now)
            while due and due[0].at + JUDGED_AFTER_NS <= now:
                yield self._judge_moment(due.pop(0), now)

    def _judge_moment(self, moment: RecordedMoment, now: int) -> JudgedMoment:
        state = self._compute_state(now)
        return JudgedMoment(
            name=moment.name, truths=moment.truths, state=state.value, rule=self._rule, source=state.source or ""
        )

    def _compute_state(self, at: int) -> AgentState:
        return compute_state(self._knowledge, self._recording.runtime.id, at, DEFAULT_THRESHOLDS)

    def _apply_sample(self, sample: RecordedSample) -> None:
        if self._uses_records:
            for record in sample.records:
                for signal in self._adapter.read_record(record):
                    self._apply_signal(signal)
        self._screen = self._recording.build_screen(sample, self._screen)
        if sample.rows is not None and self._screen is not None:
            self._moved_at = sample.at
            self._reading = self._adapter.classify_screen(self._screen, self._recording.version)

    def _read_screen(self, now: int) -> None:
        if self._screen is None:
            return
        self._rule = self._reading.rule_name
        moved_at = find_moved_at(self._last, self._screen, self._reading, self._moved_at)
        self._last = ClassifiedScreen(rows=self._screen.rows, reading=self._reading, at=now, moved_at=moved_at)
        self._apply_signal(build_screen_signal(self._recording.runtime, self._last, moved_at))

    def _apply_signal(self, signal: Signal) -> None:
        self._signal_count += 1
        self._knowledge = apply_fact(
            self._knowledge, replace(signal, id=SignalId(self._signal_count)), DEFAULT_THRESHOLDS
        )


class VersionAccuracy(Struct, frozen=True, kw_only=True):
    """The judged moments of one recording, or of several."""

    name: str
    moments: tuple[JudgedMoment, ...]
    uses_records: bool
    is_held_out: bool = False

    def build_figures(self) -> list[BudgetedFigure]:
        """Return the figures with the budgets for versions that no rule was written for."""
        waiting = [one for one in self.moments if one.is_waiting]
        others = [one for one in self.moments if not set(one.truths) & set(WAITING_STATES)]
        wrong = [one for one in self.moments if not one.is_right and one.state != "unknown"]
        min_right = MIN_RIGHT if self.uses_records else MIN_RIGHT_BY_SCREEN
        false_waiting = _compute_percent([one.state in WAITING_STATES for one in others], 0.0)
        return [
            self._build_figure("right", _compute_percent([one.is_right for one in self.moments]), min_right),
            self._build_figure(
                "waiting recall", _compute_percent([one.is_right for one in waiting]), MIN_WAITING_RECALL
            ),
            self._build_figure("false waiting", false_waiting, MAX_FALSE_WAITING, is_floor=False),
            self._build_figure(
                "wrong", _compute_percent([one in wrong for one in self.moments], 0.0), MAX_WRONG, is_floor=False
            ),
        ]

    def _build_figure(self, what: str, value: float, budget: float, *, is_floor: bool = True) -> BudgetedFigure:
        moments = f"{len(self.moments)} moments"
        return BudgetedFigure(f"{self.name}: {what}", value, budget, "%", moments, is_floor=is_floor)

    def format_row(self) -> str:
        right, recall, false, wrong = (figure.value for figure in self.build_figures())
        unknown = _compute_percent([one.state == "unknown" for one in self.moments], 0.0)
        mark = "held out" if self.is_held_out else ""
        return (
            f"{self.name:<38}{mark:<9}{len(self.moments):>7}{right:>7.1f}{recall:>9.1f}{false:>7.1f}"
            f"{wrong:>7.1f}{unknown:>9.1f}"
        )


def _compute_percent(outcomes: Sequence[bool], default: float = 100.0) -> float:
    return 100.0 * sum(outcomes) / len(outcomes) if outcomes else default


def measure_recordings(paths: Iterable[Path], *, uses_records: bool) -> Iterator[VersionAccuracy]:
    adapters = {adapter.name: adapter for adapter in load_adapters()}
    for path in paths:
        recording = load_recording(path)
        replay = VersionReplay(recording, adapters[recording.agent], uses_records=uses_records)
        yield VersionAccuracy(
            name=f"{recording.agent} {recording.version} {recording.variant.name}",
            moments=tuple(replay.judge()),
            uses_records=uses_records,
            is_held_out=recording.is_held_out,
        )


def join_accuracies(name: str, measured: Sequence[VersionAccuracy], *, uses_records: bool) -> VersionAccuracy:
    moments = tuple(moment for one in measured for moment in one.moments)
    return VersionAccuracy(name=name, moments=moments, uses_records=uses_records)


def measure_released_versions() -> list[BudgetedFigure]:
    """Print a row per recording and every mistake; return the figures of the held-out recordings together."""
    figures = []
    for title, uses_records in (("all sources", True), ("by screen alone", False)):
        print(f"\n{title + ', %':<47}{'moments':>7}{'right':>7}{'waiting':>9}{'false':>7}{'wrong':>7}{'unknown':>9}")
        measured = list(measure_recordings(list_recordings(), uses_records=uses_records))
        for accuracy in measured:
            print(accuracy.format_row())
            for moment in accuracy.moments:
                if not moment.is_right:
                    print("   ", moment.describe())
        held_out = [one for one in measured if one.is_held_out]
        figures += join_accuracies(f"held out, {title}", held_out, uses_records=uses_records).build_figures()
    return figures


def main() -> int:
    figures = measure_released_versions()
    print(f"\n{render_table(figures)}")
    return 0 if all(figure.is_within_budget for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
