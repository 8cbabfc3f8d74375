"""Structures that the screens of all agents share: dialogs, composers, work; and copies of them in other programs."""

import pytest

from termvisor.agents.adapters.screen_classifier import ANY_AGENT, ScreenClassifier
from termvisor.agents.adapters.screen_structure import read_structure, split_regions
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.recordings.near_miss import load_near_misses

RULE = "─" * 40
CLASSIFIER = ScreenClassifier(ANY_AGENT, split_regions)
OPTIONS = ("Do you want to run it?", "❯ 1. Yes", "  2. Yes, and don't ask again", "  3. No, and say why (esc)")
BOX = ("╭" + "─" * 38 + "╮", *(f"│ {row:<36} │" for row in OPTIONS), "╰" + "─" * 38 + "╯")
ANSWERED = ("> fix it", "", "● It is fixed.", "")
RULED = (RULE, "❯ ", RULE, "  ? for shortcuts")


def build_screen(*rows: str, cursor: str = "❯") -> Screen:
    """Build a screen whose cursor stands behind the first letter of this text in its last row, or below the screen."""
    marked = [index for index, row in enumerate(rows) if cursor in row]
    place = (rows[marked[-1]].index(cursor) + 2, marked[-1]) if marked else (0, len(rows))
    return Screen(pane=PaneId(1), rows=rows, width=80, height=40, cursor_x=place[0], cursor_y=place[1])


SCREENS = {
    "a boxed dialog": (build_screen(*ANSWERED, *BOX), "waiting_approval"),
    "a boxed dialog above a footer": (
        build_screen(
            *ANSWERED, *BOX, "⠏ Waiting for user confirmation...", RULE, " shift+tab to accept edits", " ~/src"
        ),
        "waiting_approval",
    ),
    "a dialog above a row that waits": (
        build_screen("> go", "", "◆\ufe0e Using a tool.", "", *OPTIONS, "", "  ⠏ Waiting for user confirmation..."),
        "waiting_approval",
    ),
    "an answer after a sign with a variation selector": (
        build_screen("> go", "", "●\ufe0e It is fixed.", "", *RULED),
        "completed",
    ),
    "a dialog without a box": (build_screen(*ANSWERED, *OPTIONS), "waiting_approval"),
    "options without numbers": (
        build_screen(
            "Trust this folder?", "", "❯ No, exit", "  Yes, I trust it", "", "Enter to confirm · Esc to cancel"
        ),
        "waiting_approval",
    ),
    "options in one row": (
        build_screen(
            "  ┃  △ Permission required", "  ┃  $ touch a", "  ┃   Allow   Always   Reject      enter confirm"
        ),
        "waiting_approval",
    ),
    "a question": (
        build_screen("Which one?", "❯ 1. Postgres", "     large", "  2. SQLite", "Enter to select · Esc to cancel"),
        "waiting_input",
    ),
    "a question marked by colour": (
        build_screen("┃ Which one?", "┃ 1. Postgres", "┃ 2. SQLite", "┃ ↑↓ select  enter submit  esc dismiss"),
        "waiting_input",
    ),
    "a composer after an answer": (build_screen(*ANSWERED, *RULED), "completed"),
    "a composer before any prompt": (build_screen("Welcome!", "", *RULED), "idle"),
    "a cursor on the upper edge of the composer": (
        build_screen(*ANSWERED, "─" * 50, *RULED[1:], cursor="─" * 50),
        "completed",
    ),
    "a hidden cursor": (build_screen(*ANSWERED, *RULED, cursor="hidden"), "completed"),
    "a boxed composer": (
        build_screen(*ANSWERED, "╭" + RULE + "╮", f"│ ❯ {'':<37}│", "╰" + RULE + "╯", "  ~/src"),
        "completed",
    ),
    "a composer in the row of the cursor": (
        build_screen(*ANSWERED, "❯ Ask anything", "", "  model · ~/src"),
        "completed",
    ),
    "typed text without a footer": (build_screen("› go", "", "• It is fixed.", "", "› and", cursor="›"), "completed"),
    "an answer after an asterisk": (build_screen("❯ go", "", " * It is fixed.", "", *RULED), "completed"),
    "a failure after an asterisk": (build_screen("❯ go", "", " * Error: refused", "", *RULED), "error"),
    "a failure above the time that a turn took": (
        build_screen("> go", "", "✗ It failed", "", "* Churned for 5s", "", *RULED),
        "error",
    ),
    "a stopped turn": (build_screen("> go", "", "● Operation cancelled by user", "", *RULED), "idle"),
    "a failed turn": (build_screen("> go", "", "✗ Failed to get a response", "", *RULED), "error"),
    "an earlier failure": (build_screen("> go", "", "✗ A tool failed", "", "● Done.", "", *RULED), "completed"),
    "a turning sign": (build_screen("> go", "", "✽ Unfurling…", *RULED), "running"),
    "a counted time": (build_screen("> go", "", "• Working (12s • esc to interrupt)", *RULED), "running"),
    "work below the composer": (
        build_screen(*ANSWERED, RULE, "❯ ", RULE, " ◎ Working · 66 B esc esc interrupt"),
        "running",
    ),
    "a list that someone types": (
        build_screen(*ANSWERED, RULE, "❯ 1. first", "  2. second", RULE, "  ? help"),
        "completed",
    ),
    "a quoted dialog above a composer without a rule": (
        build_screen("> show", "", *BOX, "", "  ? for shortcuts", " ❯ Type your message", " ~/src"),
        "completed",
    ),
    "a prompt that is wrapped": (
        build_screen(*ANSWERED, "❯ use the words", "  pg and lite", "", "  9K used", cursor="te"),
        "completed",
    ),
    "options with the cursor in another row": (
        build_screen("Which?", "❯ the first", "  the last", "", "  enter to confirm · esc to cancel", cursor="as"),
        "waiting_input",
    ),
    "a quoted dialog": (build_screen("> show", "", *BOX, "", *RULED), "completed"),
}


@pytest.mark.parametrize(("screen", "state"), SCREENS.values(), ids=SCREENS)
def test_a_structure_has_its_state(screen: Screen, state: str) -> None:
    assert CLASSIFIER.classify_screen(screen).state == state


@pytest.mark.parametrize("below", [("$ ",), ("(END)",), ("~", '"a.txt" 9L, 20B'), ("dev@host:~$ cat a",)])
@pytest.mark.parametrize("rows", [BOX, OPTIONS, RULED], ids=["boxed", "plain", "composer"])
def test_a_copy_in_another_program_is_unknown(rows: tuple[str, ...], below: tuple[str, ...]) -> None:
    screen = build_screen(*ANSWERED, *rows, *below, cursor=below[-1])
    assert CLASSIFIER.classify_screen(screen).state == "unknown"


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ("$ ls", "a  b"),
        ("Steps:", "  1. Build", "  2. Test"),
        ("❯ 1. Yes", "  3. No (esc)"),
        ("❯ one", "", "", "", "  two"),
        (*OPTIONS, "", "  ⠏ Running the tests..."),
    ],
)
def test_other_text_is_unknown(rows: tuple[str, ...]) -> None:
    assert CLASSIFIER.classify_screen(build_screen(*rows, cursor="nowhere")).state == "unknown"


def test_a_dialog_has_its_question_options_and_pointer() -> None:
    found = read_structure(build_screen(*ANSWERED, *BOX))
    assert (found.question, found.selected) == ("Do you want to run it?", 0)
    assert found.options == ("Yes", "Yes, and don't ask again", "No, and say why (esc)")


def test_near_misses_never_wait_for_a_user() -> None:
    states = {miss.name: CLASSIFIER.classify_screen(miss.screen).state for miss in load_near_misses()}
    assert [name for name, state in states.items() if state.startswith("waiting")] == []


FOOTER_OF_WORK = " ◎ Thinking esc cancel                       scripted-model"
HIDDEN_CURSOR_ROWS = ("❯ go", "● words", " /home/you", "─" * 60, "❯", "─" * 60, FOOTER_OF_WORK)


@pytest.mark.parametrize(
    ("x", "y", "is_working"),
    [(59, 6, True), (7, 1, True), (20, 6, False), (3, 1, False)],
    ids=["in the corner", "after the last text", "within the footer", "within the text"],
)
def test_a_hidden_cursor_stays_where_the_agent_drew_last(x: int, y: int, is_working: bool) -> None:
    shown = Screen(pane=PaneId(1), rows=HIDDEN_CURSOR_ROWS, width=60, height=7, cursor_x=x, cursor_y=y)
    found = read_structure(shown)
    assert ("Thinking" in found.work) == is_working
    assert found.options == (), "a row of work is never a dialog"
