from termvisor.clock import NS
from termvisor.frontends.tui.dialog_rows import build_dialog_rows, find_options
from tests.unit.frontends.tui.test_fleet_rows import NOW, build_brief

CLAUDE = (
    "1. First I looked at the file",
    "2. Then I changed it",
    "────────",
    " Bash command",
    "   python -m unittest",
    " Do you want to proceed?",
    " ❯ 1. Yes",
    "   2. Yes, and don't ask again",
    "   3. No",
)


def test_the_options_are_those_of_the_last_dialog() -> None:
    assert [(one.digit, one.label) for one in find_options(CLAUDE)] == [
        ("1", "Yes"),
        ("2", "Yes, and don't ask again"),
        ("3", "No"),
    ]


def test_options_in_a_frame_are_found() -> None:
    assert [one.label for one in find_options(("│ 1) Run    │", "│ 2) Cancel │"))] == ["Run", "Cancel"]


def test_a_single_number_or_a_gap_is_no_dialog() -> None:
    assert find_options(("1. Only one",)) == []
    assert find_options(("1. one", *[""] * 9, "2. two")) == []
    assert find_options(("2. two", "3. three")) == []


def test_the_panel_shows_options_evidence_and_age() -> None:
    brief = build_brief(12, "waiting_approval", source="hook", evidence_mode="deterministic")
    rows = build_dialog_rows(brief, None, CLAUDE, NOW, shows_screen=False)
    texts = ["".join(text for text, _ in row.parts) for row in rows]
    assert texts[0] == " ! 12 claude_code is waiting approval"
    assert texts[1].split() == ["1", "Yes", "2", "Yes,", "and", "don't", "ask", "again", "3", "No"]
    assert texts[2] == "   for 10s · no open request · evidence: hook (deterministic)"


def test_without_the_screen_beside_the_dialog_itself_is_shown() -> None:
    rows = build_dialog_rows(build_brief(1, "waiting_approval"), None, CLAUDE, NOW + NS, shows_screen=True)
    texts = ["".join(text for text, _ in row.parts) for row in rows]
    assert "  Do you want to proceed?" in texts
    assert "  3. No" in texts
