"""Every view and key of the cockpit, on real operations."""

import random

import pytest
from msgspec.structs import replace

from termvisor.frontends.tui.key_table import COMMAND_BY_KEY, KEY_TABLE, VIEW_KEYS, render_help
from termvisor.frontends.tui.row_list import ListRow
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.sample_agents import ASKING_PANE, WORKING_PANE
from tests.unit.frontends.tui.cockpit_scene import open_cockpit

DIALOG = ("Do you want to proceed?", "❯ 1. Yes", "  2. Yes, always", "  3. No")


def show_dialog(scene) -> None:
    pane = PaneId(ASKING_PANE)
    scene.services.screens[pane] = Screen(pane=pane, rows=DIALOG, width=80, height=4)
    scene.services.print_lines(pane, "painted")


async def test_who_needs_you_is_first_with_its_dialog_and_evidence() -> None:
    async with open_cockpit() as scene:
        show_dialog(scene)
        await scene.press("n")
        await scene.settle(3)
        assert scene.read(scene.app.view.header)[0].startswith(" 5 panes · 4 agents · ")
        assert scene.app.selected_pane in (1, ASKING_PANE)
        scene.app.view.list.select_key(ASKING_PANE)
        await scene.settle(3)
        assert "claude_code is waiting approval" in scene.dialog
        assert "1 Yes   2 Yes, always   3 No" in scene.dialog
        assert "evidence: hook (deterministic)" in scene.dialog
        assert "Do you want to proceed?" in scene.pane_text


async def test_an_option_is_chosen_by_its_number_after_a_question_and_only_on_that_dialog() -> None:
    async with open_cockpit() as scene:
        show_dialog(scene)
        scene.app.view.list.select_key(ASKING_PANE)
        await scene.settle(3)
        await scene.press("3")
        await scene.wait_for_footer("answer 3. No, pane 2?")
        assert scene.calls.made[-1][1]["dry_run"]
        await scene.press("y")
        name, params = scene.calls.made[-1]
        assert (name, params["choice"], params["if_screen"]) == ("answer_dialog", "3", "No")
        assert "pane 2: answer 3. No" in scene.message


async def test_a_number_that_the_dialog_does_not_offer_does_nothing() -> None:
    async with open_cockpit() as scene:
        show_dialog(scene)
        scene.app.view.list.select_key(ASKING_PANE)
        await scene.settle(3)
        calls = len(scene.calls.made)
        await scene.press("7")
        assert "no dialog with an option 7" in scene.message
        assert len(scene.calls.made) == calls


async def test_a_request_is_approved_and_the_outcome_is_shown() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(1)
        await scene.settle()
        assert "request 1" in scene.dialog
        await scene.press("a")
        assert "Allow once: type 'make deploy'" in scene.footer
        await scene.press("y")
        await scene.settle(20)
        assert "request 1 approved" in scene.message
        assert scene.services.gate.requests[-1].state == "allowed"


async def test_escape_answers_nothing() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(1)
        await scene.settle()
        await scene.press("a", "escape")
        assert "q quit" in scene.footer
        assert scene.services.gate.requests[-1].state == "open"


async def test_a_request_is_denied_with_a_reason() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(1)
        await scene.settle()
        await scene.press("d", *"later", "enter")
        await scene.settle(20)
        assert (scene.services.gate.requests[-1].state, scene.services.gate.requests[-1].reason) == ("denied", "later")
        assert "request 1 denied" in scene.message


async def test_a_text_is_sent_only_after_its_verdict_was_shown() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(WORKING_PANE)
        await scene.settle()
        await scene.press("s", *"go on", "enter")
        await scene.wait_for_footer("send 'go on', pane 4?")
        assert "policy: " in scene.message
        assert [params["dry_run"] for name, params in scene.calls.made if name == "send_text"] == [True]
        await scene.press("y")
        sent = [params for name, params in scene.calls.made if name == "send_text"][-1]
        assert (sent["text"], sent["program"], "dry_run" in sent) == ("go on", True, False)


async def test_marked_panes_are_acted_on_together() -> None:
    async with open_cockpit() as scene:
        for pane in (ASKING_PANE, WORKING_PANE):
            scene.app.view.list.select_key(pane)
            await scene.press("space")
        await scene.press("i")
        await scene.wait_for_footer(f"interrupt, 2 panes ({ASKING_PANE}, {WORKING_PANE})?")
        await scene.press("y")
        done = [params["pane"] for name, params in scene.calls.made if name == "interrupt" and "dry_run" not in params]
        assert done == [str(ASKING_PANE), str(WORKING_PANE)]
        assert scene.app.state.options.marked == frozenset()


async def test_killing_asks_for_the_signal_and_again() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(1)
        await scene.settle()
        await scene.press("K", "t")
        await scene.wait_for_footer("send TERM, pane 1?")
        await scene.press("y")
        name, params = scene.calls.made[-1]
        assert (name, params["signal"], params["yes"]) == ("kill", "TERM", True)


@pytest.mark.parametrize(
    ("letter", "text"),
    [
        ("i", "make deploy"),
        ("l", "codex"),
        ("j", "nightly"),
        ("a", "make deploy"),
        ("t", "Tokens and cost by day"),
        ("s", "f searches everything"),
        ("f", "port the importer"),
    ],
)
async def test_each_view_shows_its_content(letter: str, text: str) -> None:
    async with open_cockpit() as scene:
        scene.services.agents.set_state(WORKING_PANE, "waiting_input")
        scene.services.agents.set_state(WORKING_PANE, "running")
        await scene.press("v", letter)
        await scene.settle(3)
        assert text in scene.list_text
        assert scene.footer.startswith(" q quit  ? keys")


async def test_tab_goes_through_all_views_and_back_to_the_first() -> None:
    async with open_cockpit() as scene:
        seen = []
        for _ in VIEW_KEYS:
            await scene.press("tab")
            seen.append(scene.app.view_name)
        assert seen == [*list(VIEW_KEYS.values())[1:], "fleet"]


async def test_another_view_ends_the_zoom() -> None:
    async with open_cockpit(80, 24) as scene:
        await scene.press("z")
        await scene.press("v", "i")
        assert scene.app.view.list.display


async def test_a_closed_pane_leaves_the_list_and_the_cursor_goes_to_its_place() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(WORKING_PANE)
        scene.services.remove_pane(PaneId(WORKING_PANE))
        await scene.settle(3)
        assert WORKING_PANE not in [row.pane for row in scene.app.view.list.rows]
        assert scene.app.view.list.current is not None


async def test_search_shows_hits() -> None:
    async with open_cockpit() as scene:
        await scene.press("f", *"passed", "enter")
        await scene.settle(2)
        assert "tests passed" in scene.list_text


async def test_rows_are_filtered_as_they_are_typed_and_escape_shows_all() -> None:
    async with open_cockpit() as scene:
        await scene.press("slash", *"codex")
        assert [row.pane for row in scene.app.view.list.rows] == [WORKING_PANE]
        await scene.press("enter", "escape")
        assert len(scene.app.view.list.rows) == 5
        await scene.press("ampersand")
        assert [row.pane for row in scene.app.view.list.rows] == [WORKING_PANE]
        await scene.press("exclamation_mark")
        assert "No pane matches" in scene.list_text
        await scene.press("0")
        assert len(scene.app.view.list.rows) == 5


async def test_output_evidence_and_history_take_the_place_of_the_screen() -> None:
    async with open_cockpit() as scene:
        scene.app.view.list.select_key(1)
        await scene.settle()
        await scene.press("t")
        assert "tests passed" in scene.pane_text
        await scene.press("h")
        assert "new pane" in scene.pane_text
        scene.app.view.list.select_key(ASKING_PANE)
        await scene.settle()
        await scene.press("e")
        assert "waiting approval" in scene.pane_text


async def test_any_operation_runs_after_a_colon_with_completion() -> None:
    async with open_cockpit() as scene:
        await scene.press("colon", *"list-se", "tab")
        assert ": list-sessions" in scene.footer
        await scene.press("enter")
        assert "agents" in scene.pane_text
        await scene.press("colon", *"stauts", "enter")
        assert "Did you mean status" in scene.pane_text


async def test_help_lists_every_key_and_can_be_filtered() -> None:
    async with open_cockpit(height=70) as scene:
        await scene.press("question_mark")
        for binding in KEY_TABLE:
            assert binding.help in scene.pane_text
        await scene.press(*"remove")
        assert "remove all marks" in scene.pane_text
        assert "interrupt the agent" not in scene.pane_text


def test_every_key_has_a_command_and_one_only() -> None:
    keys = [key for binding in KEY_TABLE for key in binding.keys]
    assert len(keys) == len(set(keys)) == len(COMMAND_BY_KEY)
    assert "quit" in "\n".join(render_help("quit"))


async def test_every_command_of_the_table_exists() -> None:
    async with open_cockpit() as scene:
        assert [one.command for one in KEY_TABLE if not hasattr(scene.app.commands, f"on_{one.command}")] == []


async def test_the_cursor_stays_on_its_pane_over_a_thousand_sorts() -> None:
    async with open_cockpit() as scene:
        rows, chooser = scene.app.view.list, random.Random(3)
        lines = [ListRow(key=number, parts=((f"pane {number}", ""),), pane=number) for number in range(200)]
        rows.set_rows(lines)
        rows.select_key(117)
        for _ in range(1000):
            chooser.shuffle(lines)
            rows.set_rows(lines)
            assert rows.current.key == 117
            assert 0 <= lines.index(rows.current) - rows.top < rows.size.height
        rows.set_rows([line for line in lines if line.key != 117])
        assert rows.current is not None


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (300, 50), (20, 6)])
async def test_every_size_shows_the_list_and_how_to_leave(size: tuple[int, int]) -> None:
    async with open_cockpit(*size) as scene:
        scene.app.view.list.select_key(ASKING_PANE)
        await scene.settle()
        assert scene.footer.startswith(" q quit")
        assert scene.app.view.list.size.height >= 1
        assert scene.app.view.side.display is (size[0] >= 110)
        await scene.press("z")
        assert (scene.app.view.list.display, scene.app.view.side.display) == (False, True)


async def test_a_resize_storm_leaves_a_whole_picture() -> None:
    async with open_cockpit() as scene:
        for width in range(40, 200, 7):
            await scene.pilot.resize_terminal(width, 10 + width % 30)
        await scene.pilot.resize_terminal(80, 24)
        await scene.settle()
        assert scene.app.view.list.size.width == 80
        assert all(scene.app.view.list.render_line(y).cell_length == 80 for y in range(5))


async def test_a_lost_daemon_is_shown_and_the_picture_stays() -> None:
    async with open_cockpit() as scene:
        scene.app.note_link("no daemon is running")
        await scene.settle()
        assert "no daemon is running; trying again" in scene.read(scene.app.view.header)[0]
        assert "port the importer" in scene.list_text
        scene.app.note_link("")
        await scene.settle()
        assert scene.read(scene.app.view.header)[0].startswith(" 5 panes")


async def test_hostile_titles_and_screens_are_shown_as_text() -> None:
    async with open_cockpit() as scene:
        pane = scene.services.views[0]
        scene.services.change_pane(pane.id, facts=replace(pane.facts, title="[red]x\x1b]52;c;AAAA\x07\u202ey"))
        scene.services.screens[pane.id] = Screen(pane=pane.id, rows=("a\x1b]0;z\x07\x9b31mb\u202e",), width=9, height=1)
        scene.services.print_lines(pane.id, "x")
        scene.app.view.list.select_key(int(pane.id))
        await scene.settle(6)
        assert "[red]xy" in scene.list_text
        assert scene.pane_text == "ab"


async def test_groups_are_chosen_and_closed_by_keys() -> None:
    async with open_cockpit() as scene:
        await scene.press("b", "g")
        assert scene.app.view.list.current.key == ("group", "local", "work")
        count = len(scene.app.view.list.rows)
        await scene.press("space")
        assert len(scene.app.view.list.rows) < count


async def test_high_contrast_uses_no_dim_text() -> None:
    async with open_cockpit() as scene:
        await scene.press("T")
        segments = [part for y in range(6) for part in scene.app.view.list.render_line(y)]
        assert not [part for part in segments if part.style is not None and (part.style.dim or part.style.color)]


async def test_q_quits() -> None:
    async with open_cockpit() as scene:
        await scene.pilot.press("q")
        assert scene.app.return_code == 0
