"""The layout of the live table: order, selection, filter and footers, at every size."""

from itertools import product

import msgspec
import pytest

from termvisor.frontends.tui.pane_table import (
    HELP_ROWS,
    TableState,
    TableView,
    compose_rows,
    count_visible_rows,
    select_row,
    sort_panes,
)
from termvisor.ops.api.dispatch import call_operation
from termvisor.ops.approvals.inbox import InboxListing
from termvisor.ops.panes.list_panes import PaneListing
from termvisor.ops.render.text import RenderOptions, measure_width
from termvisor.settings import Paths
from termvisor.testing.sample_services import build_sample_services


@pytest.fixture
async def view(tmp_path_factory: pytest.TempPathFactory) -> TableView:
    folder = str(tmp_path_factory.mktemp("t"))
    paths = Paths(folder, folder, folder)
    listing = await call_operation(await build_sample_services(paths, "list_panes"), "list_panes", {})
    services = await build_sample_services(paths, "inbox")
    inbox = await call_operation(services, "inbox", {})
    assert isinstance(listing, PaneListing)
    assert isinstance(inbox, InboxListing)
    requests = {item.pane: item for item in inbox.items if item.pane is not None}
    return TableView(head="cost", panes=sort_panes(listing, requests), requests=requests)


def show(view: TableView, state: TableState, width: int = 80, height: int = 24) -> list[str]:
    return compose_rows(view, state, RenderOptions(width=width), height)


def test_who_needs_you_comes_first_then_agents_then_shells(view: TableView) -> None:
    assert [pane.agent for pane in view.panes if pane.identity.id not in view.requests] == [
        "claude_code",
        "codex",
        "gemini",
        "opencode",
    ]
    assert {pane.identity.id for pane in view.panes[:2]} == {1, 2}


def test_the_selection_follows_its_pane_and_stays_visible(view: TableView) -> None:
    last = view.panes[-1].identity.id
    assert select_row(view.panes, TableState(), "end", 2) == (last, len(view.panes) - 2)
    assert select_row(view.panes[::-1], TableState(selected=last), "", 10) == (last, 0)
    assert select_row(view.panes, TableState(selected=99), "down", 10) == (view.panes[1].identity.id, 0)
    assert select_row((), TableState(selected=1), "down", 10) == (None, 0)


def test_the_request_of_the_selected_pane_is_shown_and_confirmed_in_full(view: TableView) -> None:
    text = "\n".join(show(view, TableState(selected=1)))
    assert "type 'make deploy' and press Enter (a approves, d denies)" in text
    rows = show(view, TableState(selected=1, question=view.requests[1], answer="Approve"))
    assert rows[-1] == "Approve request 1? y or n"
    assert any(row.startswith("  why") for row in rows)


def test_a_filter_searches_agent_state_and_place(view: TableView) -> None:
    assert [pane.agent for pane in view.filter("CODEX")] == ["codex"]
    assert [pane.agent for pane in view.filter("waiting")] == ["claude_code"]
    assert "No pane contains this text." in show(view, TableState(filter="nothing such"))


def test_a_lost_daemon_replaces_the_cost_line(view: TableView) -> None:
    assert show(msgspec.structs.replace(view, problem="no daemon"), TableState())[0] == "no daemon"


def test_the_help_fits_and_says_how_to_leave(view: TableView) -> None:
    rows = show(view, TableState(is_help=True), width=60)
    assert rows[-1].startswith("q quits")
    assert len([row for row in rows if row]) > len(HELP_ROWS)


@pytest.mark.parametrize("text", ["", "x"])
@pytest.mark.parametrize("answer", ["", "Deny"])
def test_every_screen_fits_and_shows_how_to_leave(view: TableView, text: str, answer: str) -> None:
    state = TableState(selected=1, filter=text, question=view.requests[1] if answer else None, answer=answer)
    for width, height in product(range(34, 210, 9), range(1, 40, 3)):
        rows = show(view, state, width, height)
        assert len(rows) <= height
        assert count_visible_rows(view, state, width, height) >= 1
        assert max(measure_width(row) for row in rows) <= width
        assert height < 5 or rows[-1].endswith("y or n") or "q quits" in rows[-1]


@pytest.mark.parametrize(("width", "hints"), [(120, 4), (80, 4), (60, 3), (40, 2)])
def test_a_narrow_footer_says_who_needs_you_and_how_to_leave_before_other_keys(
    view: TableView, width: int, hints: int
) -> None:
    summary, *keys = show(view, TableState(), width=width)[-1].split("   ")
    assert "you" in summary
    assert keys == ["q quits", "? keys", "Enter goes there", "/ filters"][:hints]
