import random

from msgspec.structs import replace

from termvisor.clock import NS, format_timestamp
from termvisor.frontends.tui.fleet_rows import (
    FleetOptions,
    build_fleet_rows,
    format_coarse_age,
    list_needing,
    order_briefs,
    summarize_fleet,
)
from termvisor.frontends.tui.fleet_state import FleetState
from termvisor.ops.panes._pane_brief import PaneBrief
from termvisor.ops.panes.watch_panes import PaneRowsUpdate
from termvisor.testing.fake_clock import FakeClock

NOW = 1_800_000_000 * NS
STATES = ("error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown")


def build_brief(number: int, state: str | None = None, **values) -> PaneBrief:
    needs = {"waiting_approval": "approve", "waiting_input": "answer", "error": "see_error"}.get(state or "")
    fields = {
        "target": "local",
        "session": "work",
        "window_id": "@1",
        "window": "1:main",
        "pane_id": f"%{number}",
        "agent": "claude_code" if state else None,
        "state": state,
        "needs": needs,
        "needs_action": needs is not None,
        "since": format_timestamp(NOW - number * NS),
        "command": "bash",
    }
    return PaneBrief(id=number, **(fields | values))


def list_keys(briefs: list[PaneBrief], **options) -> list:
    return [row.key for row in build_fleet_rows(order_briefs(briefs), FleetOptions(**options), NOW, 100)]


def render_texts(briefs: list[PaneBrief], **options) -> list[str]:
    rows = build_fleet_rows(order_briefs(briefs), FleetOptions(**options), NOW, 100)
    return ["".join(text for text, _ in row.parts) for row in rows]


def test_who_needs_you_comes_first_longest_waiting_before_others() -> None:
    briefs = [
        build_brief(1, "running"),
        build_brief(2, "waiting_approval"),
        build_brief(3, activity="command"),
        build_brief(4, "waiting_approval"),
        build_brief(5, "waiting_input"),
        build_brief(6, "completed"),
    ]
    assert list_keys(briefs) == [4, 2, 5, 1, 6, 3]
    assert list_needing(briefs) == [4, 2, 5]


def test_an_open_request_needs_you_whatever_the_state() -> None:
    assert list_keys([build_brief(1, "error"), build_brief(2, "running", requests=(7,))])[0] == 2


def test_quiet_panes_are_folded_until_opened() -> None:
    quiet = [build_brief(number, "idle") for number in (1, 2, 3)]
    shells = [build_brief(number, activity="prompt") for number in (4, 5)]
    assert list_keys([*quiet, *shells]) == [("fold", "idle"), ("fold", "shell")]
    assert list_keys([*quiet, *shells], opened=frozenset({"idle"})) == [("fold", "idle"), 1, 2, 3, ("fold", "shell")]
    assert "▸ 3 idle" in render_texts(quiet)[0]


def test_a_filter_unfolds_and_matches_every_word() -> None:
    briefs = [build_brief(1, "idle", title="fix the importer"), build_brief(2, "idle"), build_brief(3, "running")]
    assert list_keys(briefs, text="IMPORT fix") == [1]
    assert list_keys(briefs, text="running") == [3]
    assert list_keys(briefs, text="nothing like it") == []


def test_each_state_filter_shows_only_its_states() -> None:
    briefs = [build_brief(number, state) for number, state in enumerate(STATES, 1)]
    assert [list_keys(briefs, only=key) for key in "!@#&"] == [[1], [2, 3], [5, 6], [4]]


def test_groups_have_headings_with_their_top_state_and_counts() -> None:
    briefs = [
        build_brief(1, "running", session="web"),
        build_brief(2, "waiting_approval", session="api"),
        build_brief(3, "running", session="api"),
        build_brief(4, "idle", session="api", target="box"),
    ]
    texts = render_texts(briefs, grouping="target-session")
    assert texts[0].split() == ["▾", "!", "local", "1", "need", "you,", "2", "running,", "3", "panes"]
    assert texts[1].split()[:3] == ["▾", "!", "api"]
    assert list_keys(briefs, grouping="target-session", closed=frozenset({("local",)})) == [
        ("group", "local"),
        ("group", "box"),
        ("group", "box", "api"),
        4,
    ]
    assert ("group", "api") in list_keys(briefs, grouping="session-name")


def test_the_header_counts_panes_agents_and_needs() -> None:
    briefs = {one.id: one for one in (build_brief(1, "running"), build_brief(2, "error"), build_brief(3))}
    assert "".join(text for text, _ in summarize_fleet(briefs)) == (
        " 3 panes · 2 agents · 1 needs you · 1 error · 1 running"
    )


def test_ages_below_a_minute_change_every_five_seconds() -> None:
    ages = {format_coarse_age(format_timestamp(NOW - second * NS), NOW) for second in range(60)}
    assert len(ages) == 12
    assert format_coarse_age(format_timestamp(NOW - 3700 * NS), NOW) == "1h"


def test_the_order_is_kept_while_keys_are_pressed_and_sorted_after_two_seconds() -> None:
    clock = FakeClock()
    state = FleetState(clock)
    state.take_panes(PaneRowsUpdate(is_snapshot=True, at="", panes=(build_brief(1, "running"), build_brief(2, "idle"))))
    assert [row.key for row in state.build_rows(80)] == [1, 2]
    state.note_key()
    state.take_panes(PaneRowsUpdate(at="", panes=(build_brief(2, "waiting_approval"), build_brief(3, "error"))))
    assert [row.key for row in state.build_rows(80)] == [1, 2, 3]
    assert [row.key for row in state.build_rows(80, is_sorting=True)] == [2, 3, 1]


async def test_rows_are_sorted_when_the_user_rests() -> None:
    clock = FakeClock()
    state = FleetState(clock)
    state.take_panes(PaneRowsUpdate(is_snapshot=True, at="", panes=(build_brief(1, "running"), build_brief(2, "idle"))))
    state.build_rows(80)
    state.note_key()
    state.take_panes(PaneRowsUpdate(at="", panes=(build_brief(2, "waiting_approval"),)))
    await clock.advance(2.5)
    assert [row.key for row in state.build_rows(80)] == [2, 1]


def test_a_snapshot_replaces_all_panes_and_their_marks() -> None:
    state = FleetState(FakeClock())
    state.take_panes(PaneRowsUpdate(is_snapshot=True, at="", panes=(build_brief(1), build_brief(2))))
    state.options = replace(state.options, marked=frozenset({1, 2}))
    state.take_panes(PaneRowsUpdate(is_snapshot=True, at="", panes=(build_brief(2),)))
    assert (list(state.briefs), state.options.marked) == ([2], frozenset({2}))


def test_any_order_of_changes_keeps_each_pane_once() -> None:
    state, chooser = FleetState(FakeClock()), random.Random(7)
    state.take_panes(PaneRowsUpdate(is_snapshot=True, at="", panes=tuple(build_brief(n, "running") for n in range(40))))
    for _ in range(300):
        number = chooser.randrange(40)
        state.take_panes(PaneRowsUpdate(at="", panes=(build_brief(number, chooser.choice(STATES[:5])),)))
        state.note_key()
        assert sorted(row.key for row in state.build_rows(80)) == list(range(40))
