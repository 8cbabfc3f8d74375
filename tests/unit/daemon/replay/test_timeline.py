"""Recorded output is ordered and cut into replay steps."""

import pytest

from termvisor.clock import NS
from termvisor.daemon.replay.timeline import (
    MissingOutput,
    OutputChunk,
    PaneResized,
    ReplaySpan,
    TimelineSegment,
    build_segments,
    describe_gap,
    find_unfinished_sequence,
    iterate_steps,
    mark_missing,
    select_segments,
)
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Delta, Epoch, Gap
from termvisor.model.terminal.screen import Screen

PANE = PaneId(1)
USUAL = Screen(pane=PANE, rows=(), width=80, height=24)


def build_epoch(number: int, opened_at: int, ended_by=None, size: int | None = None) -> Epoch:
    return Epoch(id=EpochId(number), pane=PANE, source="pipe", opened_at=opened_at, ended_by=ended_by, size=size)


def build_deltas(*texts: tuple[float, str], number: int = 1) -> list[Delta]:
    found, offset = [], 0
    for at, text in texts:
        found.append(Delta(EpochId(number), offset, text.encode(), int(at * NS)))
        offset += len(text)
    return found


def list_steps(deltas: list[Delta], span: ReplaySpan, *others: PaneResized | MissingOutput) -> list[object]:
    segment = TimelineSegment((build_epoch(1, 0),), USUAL, others)
    return [
        (step.at / NS, step.data.decode()) if isinstance(step, OutputChunk) else step
        for step in iterate_steps(deltas, segment, span)
    ]


def test_output_within_an_interval_is_one_chunk_at_its_end_time():
    deltas = build_deltas((1.0, "a"), (1.01, "b"), (1.03, "c"), (1.04, "d"), (2.0, "e"))
    assert list_steps(deltas, ReplaySpan()) == [(1.03, "abc"), (1.04, "d"), (2.0, "e")]


def test_continuous_output_is_split_at_every_interval():
    deltas = build_deltas(*((number / 100, "x") for number in range(100)))
    assert len(list_steps(deltas, ReplaySpan())) == 25


def test_output_before_the_span_is_in_large_chunks_that_end_at_its_start():
    deltas = build_deltas((1, "a"), (2, "b"), (3, "c"), (3.5, "d"))
    assert list_steps(deltas, ReplaySpan(since=3 * NS)) == [(2, "ab"), (3, "c"), (3.5, "d")]


def test_output_after_the_span_is_not_read():
    assert list_steps(build_deltas((1, "a"), (2, "b")), ReplaySpan(until=NS)) == [(1, "a")]


def test_a_resize_is_ordered_between_output():
    resized = PaneResized(int(1.005 * NS), 40, 10)
    assert list_steps(build_deltas((1.0, "a"), (1.01, "b")), ReplaySpan(), resized) == [
        (1.0, "a"),
        resized,
        (1.01, "b"),
    ]


def test_deleted_bytes_are_reported():
    deltas = build_deltas((1, "a"), (2, "b"), (3, "c"))
    assert list(mark_missing(deltas[1:])) == [
        MissingOutput(2 * NS, "1 earlier bytes are no longer stored"),
        *deltas[1:],
    ]
    assert [type(moment) for moment in mark_missing([deltas[0], deltas[2]])] == [Delta, MissingOutput, Delta]


def test_joined_epochs_are_one_segment():
    epochs = [
        build_epoch(1, 0, "joined", 0),
        build_epoch(2, 1, "joined", 5),
        build_epoch(3, 2, "stopped", 9),
        build_epoch(4, 3),
    ]
    first = Screen(pane=PANE, rows=("$",), width=100, height=30)
    found = build_segments(epochs, {EpochId(2): first, EpochId(3): first}, USUAL)
    assert [[one.id for one in segment.epochs] for segment in found] == [[2, 3], [4]]
    assert [segment.first_screen for segment in found] == [first, USUAL]


def test_a_span_starts_in_the_segment_of_its_start_time():
    found = build_segments(
        [build_epoch(1, 10, "stopped"), build_epoch(2, 20, "stopped"), build_epoch(3, 30)], {}, USUAL
    )
    assert [one.opened_at for one in select_segments(found, (), ReplaySpan())] == [10, 20, 30]
    assert [one.opened_at for one in select_segments(found, (), ReplaySpan(since=25))] == [20, 30]
    assert [one.opened_at for one in select_segments(found, (), ReplaySpan(since=5, until=20))] == [10, 20]
    assert select_segments([], (), ReplaySpan()) == []


def test_other_events_belong_to_the_segment_of_their_time():
    found = build_segments([build_epoch(1, 10, "stopped"), build_epoch(2, 20)], {}, USUAL)
    early, late = MissingOutput(15, "gap"), MissingOutput(25, "gap")
    assert [one.other_events for one in select_segments(found, [late, early], ReplaySpan())] == [(early,), (late,)]


def test_a_gap_has_cause_duration_and_detail():
    gap = Gap(pane=PANE, cause="pipe_stolen", start_at=NS, end_at=3 * NS, detail="by cat")
    assert describe_gap(gap) == MissingOutput(NS, "gap: pipe_stolen for 2.0 s: by cat")


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"text", b"text"),
        (b"text\x1b", b"text\x1b"),
        (b"text\x1b[3", b"text\x1b[3"),
        (b"text\x1b]0;tit", b"text"),
        (b"\x1b]0;title\x07text", b"\x1b]0;title\x07text"),
        (b"\x1b]0;title\x1b\\", b"\x1b]0;title\x1b\\"),
        (b"\x1bPq#0\x07", b""),
        (b"\x1bPq#0\x18x", b"\x1bPq#0\x18x"),
        (b"a\x1b_Gb", b"a"),
        (b"\x1b]52;" + b"x" * (1 << 19), b"\x1b]52;" + b"x" * (1 << 19)),
    ],
)
def test_an_unfinished_string_sequence_is_held_back(data: bytes, whole: bytes):
    assert data[: find_unfinished_sequence(data)] == whole
