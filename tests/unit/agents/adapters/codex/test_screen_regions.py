from termvisor.agents.adapters.codex.screen_regions import parse_layout

FOOT = ("", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src", "  ? for shortcuts", "", "")


def test_an_idle_screen_has_a_conversation_and_a_composer():
    layout = parse_layout(("› hi", "", "• Hello.", "  Worked for 1s • 10:00", *FOOT))
    assert layout.conversation == ("› hi", "• Hello.", "  Worked for 1s • 10:00")
    assert layout.last_paragraph == "• Hello.\n  Worked for 1s • 10:00"
    assert (layout.composer, layout.work, layout.dialog) == ("Ask Codex to do anything", "", ())


def test_the_line_of_work_stands_above_the_composer_with_its_details():
    layout = parse_layout(("› hi", "", "• Compacting context (2s • esc to interrupt)", "  └ Making room.", *FOOT))
    assert layout.work == "• Compacting context (2s • esc to interrupt)"
    assert layout.conversation == ("› hi",)


def test_a_line_of_work_that_was_only_quoted_is_conversation():
    layout = parse_layout(("• It printed:", "• Working (2s • esc to interrupt)", "• and then it ended.", *FOOT))
    assert layout.work == ""


def test_a_hint_at_the_right_edge_is_in_no_region():
    layout = parse_layout(("› hi", "", " " * 40 + "⚠ 5h limit: only <1% left", *FOOT))
    assert layout.conversation == ("› hi",)


def test_what_is_written_may_take_several_rows():
    rows = ("• Hello.", "", "› first", "  second", "", "  gpt-6 default · /src")
    assert parse_layout(rows).composer == "first\nsecond"


def test_a_dialog_replaces_the_composer():
    rows = (
        "› hi",
        "• Running touch x",
        "",
        "  Would you like it?",
        "",
        "› 1. Yes (y)",
        "",
        "  enter select · esc back",
    )
    layout = parse_layout(rows)
    assert layout.composer is None
    assert layout.dialog == ("  Would you like it?", "› 1. Yes (y)", "  enter select · esc back")
    assert layout.conversation == ("› hi", "• Running touch x")


def test_a_long_line_goes_on_at_the_left_edge():
    assert parse_layout(("■ unexpected status 401, url: http://h/v1/", "responses", *FOOT)).last_paragraph.startswith(
        "■ unexpected"
    )


def test_a_shell_has_neither():
    layout = parse_layout(("$ codex", "Disconnected from this task.", "$"))
    assert (layout.composer, layout.dialog, layout.last_row) == (None, (), "$")
    assert parse_layout(()).last_row == ""
