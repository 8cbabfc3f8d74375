"""Detect repainting and its screen lifetime."""

import pytest

from termvisor.capture.screen_sampler import PaintActivity, RepaintDetector
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import ScreenLifetime

PANE, EPOCH = PaneId(7), EpochId(3)
ALTERNATE = PaneActivity(kind="alt_screen", since=10)
COMMAND = PaneActivity(kind="command", since=20)
OVER = PaintActivity(PANE, EPOCH)


@pytest.fixture
def build_detector() -> RepaintDetector:
    return RepaintDetector(PANE, EPOCH)


def build_marks(*kinds: str) -> list[Mark]:
    return [Mark(kind=kind, offset=number) for number, kind in enumerate(kinds)]


def test_output_on_the_alternate_screen_is_paint_activity(build_detector):
    stir = build_detector.take_activity(ALTERNATE, 0)
    assert (stir.lifetime, stir.is_repaint) == (ScreenLifetime(PANE, EPOCH, True, 10), True)


def test_scrolling_lines_are_not_paint_activity(build_detector):
    assert build_detector.take_activity(PaneActivity(), 0) is None
    assert build_detector.take_activity(COMMAND, 0) is None


def test_a_program_that_returns_to_earlier_rows_repaints(build_detector):
    assert build_detector.take_activity(COMMAND, 2).lifetime == ScreenLifetime(PANE, EPOCH, False, 20)
    later = build_detector.take_activity(COMMAND, 2)
    assert (later.lifetime, later.is_repaint) == (ScreenLifetime(PANE, EPOCH, False, 20), False)
    assert build_detector.take_activity(COMMAND, 3).is_repaint


def test_without_shell_marks_the_lifetime_of_the_main_screen_is_the_epoch(build_detector):
    assert build_detector.take_activity(PaneActivity(since=5), 1).lifetime == ScreenLifetime(PANE, EPOCH, False, 0)


def test_a_redrawn_prompt_is_not_a_repaint_and_ends_the_lifetime(build_detector):
    prompt = PaneActivity(kind="prompt", since=30)
    assert build_detector.take_activity(prompt, 4) is None
    build_detector.take_activity(COMMAND, 5)
    assert build_detector.take_activity(prompt, 6) == OVER
    assert build_detector.take_activity(prompt, 7) is None


def test_a_synchronized_update_marks_the_screen_complete(build_detector):
    build_detector.observe_marks(build_marks("sync_on"))
    begun = build_detector.take_activity(COMMAND, 0)
    assert (begun.is_repaint, begun.is_mid_update, begun.is_update_complete) == (True, True, False)
    build_detector.observe_marks(build_marks("sync_off"))
    ended = build_detector.take_activity(COMMAND, 0)
    assert (ended.is_mid_update, ended.is_update_complete) == (False, True)
    build_detector.observe_marks(build_marks("sync_on", "sync_off", "sync_on"))
    again = build_detector.take_activity(COMMAND, 0)
    assert (again.is_mid_update, again.is_update_complete) == (True, False)


def test_leaving_the_alternate_screen_ends_its_lifetime(build_detector):
    build_detector.take_activity(ALTERNATE, 0)
    assert build_detector.take_activity(PaneActivity(since=40), 0) == OVER
    assert build_detector.take_activity(PaneActivity(kind="alt_screen", since=50), 0).lifetime == ScreenLifetime(
        PANE, EPOCH, True, 50
    )


def test_the_end_of_an_epoch_is_reported_once_if_it_repainted(build_detector):
    assert build_detector.finish() is None
    build_detector.take_activity(ALTERNATE, 0)
    assert build_detector.finish() == OVER
    assert build_detector.finish() is None
