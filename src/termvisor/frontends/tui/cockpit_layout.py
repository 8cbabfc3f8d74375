"""The layout of the cockpit: header, what the selected agent asks, list, pane, messages, and the footer with keys."""

from collections.abc import Sequence

from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from termvisor.frontends.tui.pane_view import PaneDisplay
from termvisor.frontends.tui.row_list import ListRow, RowList
from termvisor.frontends.tui.styled_text import StyledPart

WIDE_COLUMNS = 110
"""From this width on, the pane is shown beside the list."""
_MAX_MESSAGE_ROWS = 8


STYLE_SHEET = """
CockpitScreen { background: ansi_default; color: ansi_default; overflow: hidden; }
RowList, PaneDisplay { background: ansi_default; color: ansi_default; }
#header, #pane_title, #footer { height: 1; }
#dialog, #message { height: 0; }
#body { height: 1fr; }
#list { width: 1fr; height: 1fr; }
#side { width: 3fr; height: 1fr; border-left: ascii ansi_bright_black; }
#pane { height: 1fr; }
#list.beside { width: 2fr; }
"""


class CockpitScreen(Screen[None], inherit_bindings=False):
    """The only screen. It has no keys of its own; the application handles all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.header = RowList(id="header", shows_cursor=False)
        self.dialog = RowList(id="dialog", shows_cursor=False)
        self.list = RowList(id="list")
        self.pane_title = RowList(id="pane_title", shows_cursor=False)
        self.pane = PaneDisplay(id="pane")
        self.side = Vertical(self.pane_title, self.pane, id="side")
        self.message = RowList(id="message", shows_cursor=False)
        self.footer = RowList(id="footer", shows_cursor=False)

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.dialog
        yield Horizontal(self.list, self.side, id="body")
        yield self.message
        yield self.footer

    def show_pane(self, width: int, *, is_zoomed: bool, is_beside: bool = True) -> None:
        """Show the list, the pane, or both, as far as there is room."""
        self.list.display = not is_zoomed
        self.side.display = is_zoomed or (width >= WIDE_COLUMNS and is_beside)
        self.list.set_class(self.side.display, "beside")

    def show_dialog(self, rows: Sequence[ListRow]) -> None:
        _set_height(self.dialog, min(len(rows), max(2, self.size.height // 2)))
        self.dialog.set_rows(rows)

    def show_message(self, lines: Sequence[StyledPart]) -> None:
        _set_height(self.message, min(len(lines), _MAX_MESSAGE_ROWS, max(1, self.size.height // 3)))
        self.message.set_rows([ListRow(key=number, parts=(line,)) for number, line in enumerate(lines)])

    def show_line(self, where: RowList, parts: Sequence[StyledPart]) -> None:
        where.set_rows([ListRow(key=0, parts=tuple(parts))])

    def set_theme(self, styles: dict[str, Style]) -> None:
        for rows in self.query(RowList):
            rows.set_theme(styles)


def _set_height(rows: RowList, height: int) -> None:
    # Setting a style makes the whole screen lay out again, so only a new height is set.
    if rows.styles.height is None or rows.styles.height.value != height:
        rows.styles.height = height
