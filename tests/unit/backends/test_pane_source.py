"""Convert captures to screens."""

from termvisor.backends.pane_source import PaneCapture
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen


def test_a_capture_is_shown_with_the_given_rows():
    seen = PaneCapture(rows=("key=hunter2",), width=80, height=24, cursor_x=3, cursor_y=1, alternate=True)
    shown = Screen(pane=PaneId(7), rows=("key=…",), width=80, height=24, cursor_x=3, cursor_y=1, alternate=True, at=5)
    assert seen.to_screen(PaneId(7), ["key=…"], 5) == shown
