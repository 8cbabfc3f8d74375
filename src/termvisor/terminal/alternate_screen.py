"""Switch a row window between the main and the alternate screen, as tmux does.

The rows of the main screen are frozen meanwhile. The alternate screen has rows of its own only if its cursor survives
the return (modes 47 and 1047); nothing of it is settled.
"""

from termvisor.terminal.row_window import FrozenScreen, RowWindow
from termvisor.terminal.window_resize import resize_window


def enter_alternate(window: RowWindow, *, has_cursor: bool) -> None:
    """Freeze the main screen; ``has_cursor`` tells whether the mode saves the cursor (1049)."""
    if window.frozen is not None:
        return
    if has_cursor:
        window.alternate_saved = (window.x, window.y)
    window.frozen = FrozenScreen(window.rows, window.x, window.y, window.width, window.height, not has_cursor)
    window.rows = window.build_blank_rows(0 if has_cursor else window.height)
    window.low = 0


def leave_alternate(window: RowWindow, *, has_cursor: bool) -> None:
    """Restore the main screen. Mode 1049 restores its cursor even if the main screen was shown already."""
    frozen, size = window.frozen, (window.width, window.height)
    if frozen is not None:
        if not frozen.is_followed:
            window.x, window.y = frozen.x, frozen.y
        window.frozen, window.rows = None, frozen.rows
        window.width, window.height, window.low = frozen.width, frozen.height, frozen.height - 1
    if has_cursor and window.alternate_saved is not None:
        window.x, window.y = window.alternate_saved
    if size != (window.width, window.height):
        window.x, window.y = min(window.x, window.width), min(window.y, window.height - 1)
        resize_window(window, *size)
    window.x, window.y = min(window.x, window.width - 1), min(window.y, window.height - 1)
