"""Which output is told as painting, and in which life."""

import pytest

from termvisor.capture.sampling_schedule import Stir
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.pane import Activity
from termvisor.model.terminal.screen_row import Life
from termvisor.pipeline.repaint_detector import Repaint

PANE, EPOCH = PaneId(7), EpochId(3)
ALTERNATE = Activity(kind="alt_screen", since=10)
COMMAND = Activity(kind="command", since=20)
OVER = Stir(PANE, EPOCH)


@pytest.fixture
def repaint() -> Repaint:
    return Repaint(PANE, EPOCH)


def sync(*kinds: str) -> list[Mark]:
    return [Mark(kind=kind, offset=number) for number, kind in enumerate(kinds)]


def test_everything_on_the_alternate_screen_is_painting(repaint):
    stir = repaint.stir(ALTERNATE, 0)
    assert (stir.life, stir.is_sign) == (Life(PANE, EPOCH, True, 10), True)


def test_lines_that_scroll_by_are_not_told_at_all(repaint):
    assert repaint.stir(Activity(), 0) is None
    assert repaint.stir(COMMAND, 0) is None


def test_a_program_that_goes_back_to_rows_it_had_left_repaints(repaint):
    assert repaint.stir(COMMAND, 2).life == Life(PANE, EPOCH, False, 20)
    later = repaint.stir(COMMAND, 2)
    assert (later.life, later.is_sign) == (Life(PANE, EPOCH, False, 20), False)
    assert repaint.stir(COMMAND, 3).is_sign


def test_without_shell_marks_the_life_on_the_main_screen_is_the_epoch(repaint):
    assert repaint.stir(Activity(since=5), 1).life == Life(PANE, EPOCH, False, 0)


def test_a_prompt_that_is_redrawn_is_no_painting_and_ends_the_life(repaint):
    prompt = Activity(kind="prompt", since=30)
    assert repaint.stir(prompt, 4) is None
    repaint.stir(COMMAND, 5)
    assert repaint.stir(prompt, 6) == OVER
    assert repaint.stir(prompt, 7) is None


def test_synchronized_updates_say_when_the_picture_is_whole(repaint):
    repaint.hear(sync("sync_on"))
    begun = repaint.stir(COMMAND, 0)
    assert (begun.is_sign, begun.is_painting, begun.is_painted) == (True, True, False)
    repaint.hear(sync("sync_off"))
    ended = repaint.stir(COMMAND, 0)
    assert (ended.is_painting, ended.is_painted) == (False, True)
    repaint.hear(sync("sync_on", "sync_off", "sync_on"))
    again = repaint.stir(COMMAND, 0)
    assert (again.is_painting, again.is_painted) == (True, False)


def test_leaving_the_alternate_screen_ends_its_life(repaint):
    repaint.stir(ALTERNATE, 0)
    assert repaint.stir(Activity(since=40), 0) == OVER
    assert repaint.stir(Activity(kind="alt_screen", since=50), 0).life == Life(PANE, EPOCH, True, 50)


def test_the_end_of_an_epoch_is_told_once_and_only_where_it_painted(repaint):
    assert repaint.over() is None
    repaint.stir(ALTERNATE, 0)
    assert repaint.over() == OVER
    assert repaint.over() is None
