"""Lines are reported when the cursor has left them, and again when a program rewrites them."""

import pytest

from termvisor.pipeline.line_tracker import WindowLineTracker
from termvisor.terminal.row_window import ProvisionalLine, SettledLine


def build_window(*texts: str, cursor: int | None = None) -> list[ProvisionalLine]:
    """Build the lines of a window; by default the cursor is on the last one."""
    at_cursor = len(texts) - 1 if cursor is None else cursor
    return [ProvisionalLine(text, 0, 0, 0, has_cursor=place == at_cursor) for place, text in enumerate(texts)]


def build_settled(*texts: str) -> list[SettledLine]:
    return [SettledLine(text, 0, 0, 0) for text in texts]


def track(tracker, first=0, settled=(), window=(), at=0) -> list[tuple[int, list[str]]]:
    runs = tracker.track(first, settled, window, at)
    return [(run.first, [line.text for line in run.lines]) for run in runs]


def test_the_line_at_the_cursor_is_reported_once_the_cursor_has_left_it():
    tracker = WindowLineTracker(0)
    assert track(tracker, window=build_window("one", "$ ")) == [(0, ["one"])]
    assert track(tracker, window=build_window("one", "$ ls", "")) == [(1, ["$ ls"])]
    assert track(tracker, window=build_window("one", "$ ls", "")) == []


def test_a_line_that_leaves_the_window_is_not_reported_again():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", ""))
    assert track(tracker, 0, build_settled("one"), build_window("two", "three", "")) == [(2, ["three"])]
    assert track(tracker, 1, build_settled("two", "three", "four"), build_window("five", "")) == [(3, ["four", "five"])]


def test_a_rewritten_line_is_reported_again_with_its_index():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("step 1", "step 2", "done"))
    assert tracker.rewritten_at == 0
    assert track(tracker, window=build_window("step 1", "STEP 2", "done"), at=7_000_000) == [(1, ["STEP 2"])]
    assert tracker.rewritten_at == 7
    assert tracker.find_rewritten(0) == [1]
    assert tracker.find_rewritten(7) == []


def test_rewrites_at_the_same_millisecond_are_distinguished():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("a", "b", ""))
    track(tracker, window=build_window("A", "b", ""), at=7_000_000)
    track(tracker, window=build_window("A", "B", ""), at=7_000_000)
    assert tracker.find_rewritten(7) == [1]


def test_a_cursor_that_returns_to_a_reported_line_does_not_report_it_again():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", ""))
    assert track(tracker, window=build_window("one", "two", cursor=0)) == []
    assert track(tracker, window=build_window("one", "two", "")) == []


@pytest.mark.parametrize(
    ("first", "window", "is_tracked"),
    [
        (0, build_window("one", "two", "50 %"), True),
        (1, build_window("one", "two", "50 %"), False),
        (0, build_window("one", "TWO", "50 %"), False),
        (0, build_window("one", "two", "50 %", cursor=1), False),
        (0, build_window("one", "two", "50 %", ""), False),
        (0, build_window("one", "two"), False),
    ],
)
def test_only_a_rewritten_incomplete_line_is_tracked_already(first, window, is_tracked):
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", "10 %"))
    assert tracker.is_tracked(first, window) == is_tracked


def test_a_reported_line_that_is_rewritten_at_the_cursor_is_not_tracked():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", ""))
    track(tracker, window=build_window("one", "two", "", cursor=1))
    assert tracker.is_tracked(0, build_window("one", "two", "", cursor=1))
    assert not tracker.is_tracked(0, build_window("one", "TWO", "", cursor=1))


def test_a_restarted_tracker_tracks_nothing_yet():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", ""))
    assert not WindowLineTracker(0, tracker.checksums).is_tracked(0, build_window("one", ""))


def test_erased_lines_count_as_rewritten():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", "three", ""))
    assert track(tracker, window=build_window("one", ""), at=1_000_000) == []
    assert tracker.find_rewritten(0) == [1, 2]


def test_a_restarted_tracker_reports_only_what_its_predecessor_did_not():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", "unfinished"))
    successor = WindowLineTracker(0, tracker.checksums)
    assert track(successor, window=build_window("one", "two", "finished", "")) == [(2, ["finished"])]


def test_a_line_erased_during_a_restart_counts_as_rewritten():
    before = WindowLineTracker(0)
    track(before, window=build_window("one", "two", ""))
    after = WindowLineTracker(0, before.checksums)
    assert track(after, window=build_window("", "two", ""), at=7_000_000) == [(0, [""])]
    assert after.find_rewritten(0) == [0]


def test_a_restarted_tracker_offers_the_whole_window_to_readers_that_were_behind():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", ""))
    track(tracker, window=build_window("ONE", "two", ""), at=9_000_000)
    successor = WindowLineTracker(0, tracker.checksums, tracker.rewritten_at, tracker.first_rewritten)
    assert successor.find_rewritten(8) == [0, 1]
    assert successor.find_rewritten(9) == []


def test_a_restarted_tracker_knows_that_lines_above_the_first_rewritten_one_were_never_rewritten():
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", "three", ""))
    track(tracker, window=build_window("one", "TWO", "three", ""), at=9_000_000)
    assert tracker.first_rewritten == 1
    successor = WindowLineTracker(0, tracker.checksums, tracker.rewritten_at, tracker.first_rewritten)
    assert successor.find_rewritten(8) == [1, 2]


def test_the_oldest_rewritten_lines_are_forgotten(monkeypatch):
    monkeypatch.setattr("termvisor.pipeline.line_tracker._MAX_REWRITTEN", 1)
    tracker = WindowLineTracker(0)
    track(tracker, window=build_window("one", "two", ""))
    track(tracker, window=build_window("ONE", "two", ""))
    track(tracker, window=build_window("ONE", "TWO", ""))
    assert tracker.find_rewritten(0) == [1]
