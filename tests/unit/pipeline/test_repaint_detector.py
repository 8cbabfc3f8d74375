"""Detect repainting and its screen lifetime."""

import pytest

from termvisor.capture.screen_sampler import PaintActivity
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline.repaint_detector import RepaintDetector

PANE, EPOCH = PaneId(7), EpochId(3)
ALTERNATE = PaneActivity(kind="alt_screen", since=10)
COMMAND = PaneActivity(kind="command", since=20)
OVER = PaintActivity(PANE, EPOCH)


@pytest.fixture
def repaint() -> RepaintDetector:
    return RepaintDetector(PANE, EPOCH)


def sync(*kinds: str) -> list[Mark]:
    return [Mark(kind=kind, offset=number) for number, kind in enumerate(kinds)]


def test_everything_on_the_alternate_screen_is_painting(repaint):
    stir = repaint.take_activity(ALTERNATE, 0)
    assert (stir.lifetime, stir.is_repaint) == (ScreenLifetime(PANE, EPOCH, True, 10), True)


def test_scrolling_lines_are_no_paint_activity(repaint):
    assert repaint.take_activity(PaneActivity(), 0) is None
    assert repaint.take_activity(COMMAND, 0) is None


def test_a_program_that_goes_back_to_rows_it_had_left_repaints(repaint):
    assert repaint.take_activity(COMMAND, 2).lifetime == ScreenLifetime(PANE, EPOCH, False, 20)
    later = repaint.take_activity(COMMAND, 2)
    assert (later.lifetime, later.is_repaint) == (ScreenLifetime(PANE, EPOCH, False, 20), False)
    assert repaint.take_activity(COMMAND, 3).is_repaint


def test_without_shell_marks_the_lifetime_of_the_main_screen_is_the_epoch(repaint):
    assert repaint.take_activity(PaneActivity(since=5), 1).lifetime == ScreenLifetime(PANE, EPOCH, False, 0)


def test_a_redrawn_prompt_is_no_repaint_and_ends_the_lifetime(repaint):
    prompt = PaneActivity(kind="prompt", since=30)
    assert repaint.take_activity(prompt, 4) is None
    repaint.take_activity(COMMAND, 5)
    assert repaint.take_activity(prompt, 6) == OVER
    assert repaint.take_activity(prompt, 7) is None


def test_a_synchronized_update_marks_the_screen_complete(repaint):
    repaint.observe_marks(sync("sync_on"))
    begun = repaint.take_activity(COMMAND, 0)
    assert (begun.is_repaint, begun.is_mid_update, begun.is_update_complete) == (True, True, False)
    repaint.observe_marks(sync("sync_off"))
    ended = repaint.take_activity(COMMAND, 0)
    assert (ended.is_mid_update, ended.is_update_complete) == (False, True)
    repaint.observe_marks(sync("sync_on", "sync_off", "sync_on"))
    again = repaint.take_activity(COMMAND, 0)
    assert (again.is_mid_update, again.is_update_complete) == (True, False)


def test_leaving_the_alternate_screen_ends_its_lifetime(repaint):
    repaint.take_activity(ALTERNATE, 0)
    assert repaint.take_activity(PaneActivity(since=40), 0) == OVER
    assert repaint.take_activity(PaneActivity(kind="alt_screen", since=50), 0).lifetime == ScreenLifetime(
        PANE, EPOCH, True, 50
    )


def test_the_end_of_an_epoch_is_reported_once_if_it_repainted(repaint):
    assert repaint.finish() is None
    repaint.take_activity(ALTERNATE, 0)
    assert repaint.finish() == OVER
    assert repaint.finish() is None
