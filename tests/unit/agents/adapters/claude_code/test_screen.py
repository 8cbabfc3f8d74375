"""Regions and states of Claude Code screens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.claude_code.screen import ClaudeScreenLayout, parse_layout
from termvisor.model.terminal.screen import Screen
from tests.recordings.scene import load_scenes
from tests.unit.agents.adapters.claude_code.claude_inputs import HORIZONTAL_RULE, build_composer_screen, build_screen

ROWS = st.lists(
    st.sampled_from(["", HORIZONTAL_RULE, "❯ x", "  foot", " Do you want to proceed?", " ❯ 1. Yes", "● a", "$ ", "x"])
)


def test_a_composer_has_a_footer_below_and_blocks_above() -> None:
    parts = parse_layout(
        build_composer_screen("❯ do it", "", "● done", "  with more", "                hint", typed="next")
    )
    assert parts.composer == ("❯ next",)
    assert parts.footer == ("  ⏸ manual mode on · ? for shortcuts",)
    assert parts.blocks == (("● done", "  with more"), ("❯ do it",))
    assert parts.dialog == ()


def test_a_composer_may_have_several_rows() -> None:
    parts = parse_layout(build_screen(HORIZONTAL_RULE, "❯ one", "  two", "", "  three", HORIZONTAL_RULE, "  foot"))
    assert parts.composer == ("❯ one", "  two", "", "  three")


def test_a_composer_may_have_the_sign_of_older_versions() -> None:
    parts = parse_layout(build_screen("> do it", "● done", HORIZONTAL_RULE, "> one", HORIZONTAL_RULE, "  foot"))
    assert (parts.composer, parts.blocks) == (("> one",), (("● done",), ("> do it",)))


def test_a_screen_with_output_of_another_program_has_no_regions() -> None:
    assert (
        parse_layout(build_screen(HORIZONTAL_RULE, "❯", HORIZONTAL_RULE, "  ⏸ manual mode on", "$ "))
        == ClaudeScreenLayout()
    )
    assert (
        parse_layout(build_screen("● words", HORIZONTAL_RULE, "❯", "dev@host:~$ ls", HORIZONTAL_RULE, "  foot"))
        == ClaudeScreenLayout()
    )


def test_a_dialog_extends_from_its_rule_to_the_end() -> None:
    parts = parse_layout(
        build_screen("● words", HORIZONTAL_RULE, " Do it?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel", "")
    )
    assert parts.dialog == (" Do it?", " ❯ 1. Yes", "   2. No", " Esc to cancel")
    assert parts.composer is None


SIGN_IN = (
    "❯ /login",
    HORIZONTAL_RULE,
    "  Login",
    "",
    "  Browser didn't open? Use the url below to sign in (c to copy)",
    "",
    "https://claude.com/cai/oauth/authorize?code=true&client_id=9d1c250a-e61b-44d9-88ed-5944d1962f5e&response_type=code",
    "&redirect_uri=https%3A%2F%2Fplatform.claude.com%2Foauth%2Fcode%2Fcallback&state=XxFYus_yDgLvy31Yh9cH3k5puH",
    "",
    "  Paste code here if prompted >",
    "",
    "  Esc to cancel",
)
"""The page of version 2.1.325."""


def test_a_page_without_options_is_a_dialog() -> None:
    parts = parse_layout(build_screen(*SIGN_IN))
    assert (parts.dialog[0], parts.dialog[-1]) == ("  Login", "  Esc to cancel")
    assert parse_layout(build_screen(*SIGN_IN, "$ ")) == ClaudeScreenLayout()


def test_an_empty_screen_has_no_regions() -> None:
    assert parse_layout(build_screen()) == parse_layout(build_screen("", "")) == ClaudeScreenLayout()


@given(ROWS)
def test_a_layout_never_has_both_a_composer_and_a_dialog(rows: list[str]) -> None:
    parts = parse_layout(build_screen(*rows))
    assert parts.composer is None or parts.dialog == ()
    assert len(parts.blocks) <= 3


DIALOG = (
    HORIZONTAL_RULE,
    " Bash command",
    " rm -rf x",
    " Do you want to proceed?",
    " ❯ 1. Yes",
    "   2. No",
    "",
    " Esc to cancel · Tab to amend",
)
PROMPTED = "❯ do it"
DONE = "✻ Churned for 13s · done 7:42 PM"
WAITING = [
    scene for scene in load_scenes("claude_code") if ADAPTER.classify_screen(scene.screen).state.startswith("waiting")
]


def classify_rule(shown: Screen) -> str:
    return ADAPTER.classify_screen(shown).rule_name


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        (build_screen(*DIALOG), "permission"),
        (build_screen(*DIALOG[:-1], " Esc to exit"), "permission"),
        (
            build_screen(
                HORIZONTAL_RULE,
                " Do you want to use this API key?",
                " ❯ 1. Yes",
                "",
                " Enter to confirm · Esc to cancel",
            ),
            "use_api_key",
        ),
        (build_screen("▔" * 60, "  " + HORIZONTAL_RULE, "   Exit plan mode?", "    ❯ 1. Yes", "      2. No"), "plan"),
        (
            build_screen(HORIZONTAL_RULE, "Which?", "❯ 1. A", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"),
            "question",
        ),
        (build_screen(HORIZONTAL_RULE, " Select login method:", " ❯ 1. Account", "   2. Console"), "login"),
        (build_screen(*SIGN_IN), "sign_in_link"),
        (build_composer_screen(PROMPTED, "✢ Photosynthesizing… (0s · ↓ 1 tokens)"), "spinner"),
        (build_composer_screen(PROMPTED, "✢ Wibbling…", "  ⎿  Tip: use it"), "spinner"),
        (build_composer_screen(PROMPTED, "· Compacting conversation… (1s)"), "compacting"),
        (build_composer_screen(PROMPTED, "✻ 500 Internal server error · Retrying in 1s · attempt 3/10"), "retrying"),
        (build_composer_screen(PROMPTED, "✻ Waiting for 2 background agents to finish"), "agents_running"),
        (build_composer_screen(PROMPTED, "● words", footer=("  ⏸ plan mode on · esc to interrupt",)), "interruptible"),
        (
            build_composer_screen(
                PROMPTED, DONE, footer=("  ⏸ manual mode on", "  ● main", "  ◯ general  a part   3s · ↑ 9 tokens")
            ),
            "agent_listed",
        ),
        (build_composer_screen(PROMPTED, f"{DONE} · 1 shell still running"), "shell_running"),
        (build_composer_screen("● words", footer=("  ⏵⏵ auto mode on · 2 shells",)), "shell_listed"),
        (
            build_composer_screen(PROMPTED, "● Usage limit reached · continuing automatically at 7pm", "", DONE),
            "usage_limit_said",
        ),
        (build_composer_screen(f"{PROMPTED}", "  ⎿  Invalid API key · Fix external API key", "", DONE), "login_needed"),
        (
            build_composer_screen(PROMPTED, "  ⎿  Context limit reached · /compact or /clear to continue", "", DONE),
            "context_full",
        ),
        (build_composer_screen(PROMPTED, "● API Error: 529 Overloaded.", "", DONE), "api_error"),
        (build_composer_screen(PROMPTED, "● API Error: 529 Overloaded.", "", "✻ Worked for 0s"), "api_error"),
        (
            build_composer_screen(PROMPTED, "● half of", "  ⎿  Interrupted · What should Claude do instead?"),
            "interrupted",
        ),
        (build_composer_screen(PROMPTED, "● words", "", DONE), "turn_ended"),
        (build_composer_screen(PROMPTED, "● words"), "answered"),
        (build_composer_screen("❯ /clear"), "at_rest"),
        (build_composer_screen("▝▜██████▀  Claude Code v2.1.325"), "begun"),
    ],
)
def test_a_screen_matches_its_rule(shown: Screen, rule: str) -> None:
    assert classify_rule(shown) == rule


def test_an_error_of_an_earlier_turn_does_not_count() -> None:
    assert (
        classify_rule(
            build_composer_screen(PROMPTED, "● API Error: 500", "", DONE, "", PROMPTED, "", "● well", "", DONE)
        )
        == "turn_ended"
    )


def test_a_quoted_dialog_is_not_a_dialog() -> None:
    prose = ("● It then asks:", *(f"  {row}" for row in DIALOG), "", DONE)
    assert classify_rule(build_composer_screen(PROMPTED, *prose)) == "turn_ended"
    assert (
        classify_rule(
            build_composer_screen(PROMPTED, "● Do you want to proceed?", " ❯ 1. Yes", " Esc to cancel", "", DONE)
        )
        == "turn_ended"
    )


@pytest.mark.parametrize(
    "below",
    [
        ("$ ",),
        ("dev@host:~$ cat screen.txt",),
        (":",),
        ("(END)",),
        ("~", "~", '"screen.txt" 40L, 2000B'),
        ("-- INSERT --",),
        ("--More--(50%)",),
    ],
    ids=str,
)
@pytest.mark.parametrize("scene", [*WAITING, *load_scenes("claude_code")[:6]], ids=lambda scene: scene.name)
def test_a_claude_screen_shown_by_another_program_is_unknown(scene, below: tuple[str, ...]) -> None:
    rows = list(scene.screen.rows)
    while not rows[-1]:
        rows.pop()
    assert ADAPTER.classify_screen(build_screen(*rows, *below)).state == "unknown"


def test_a_dialog_with_an_overwritten_pointer_is_unknown() -> None:
    crashed = [" Killedes" if "❯ 1. Yes" in row else row for row in DIALOG]
    assert ADAPTER.classify_screen(build_screen(*crashed)).state == "unknown"


def test_an_unrecognized_screen_is_unknown_and_never_idle() -> None:
    assert ADAPTER.classify_screen(build_screen("hello", "world")).state == "unknown"
    assert ADAPTER.classify_screen(build_composer_screen("◆ a glyph of tomorrow that turns")).state == "unknown"


def test_a_reset_time_on_the_screen_needs_a_zone() -> None:
    limit = "  ⎿  You've hit your 5-hour limit · resets 7:16am (UTC)"
    flags = ADAPTER.classify_screen(
        build_composer_screen(PROMPTED, limit, "", DONE, footer=("  ⚠ Usage limit reached · limit resets 7:16am",))
    ).flags
    assert flags.usage_limited
    assert flags.resets_at is not None


def test_a_dialog_has_its_question() -> None:
    assert ADAPTER.classify_screen(build_screen(*DIALOG)).details == {"question": "Do you want to proceed?"}


@given(st.lists(st.text(alphabet="─❯ ●✻·…abc?1.\n", max_size=70), max_size=30))
def test_any_rows_are_classified(rows: list[str]) -> None:
    seen = ADAPTER.classify_screen(build_screen(*rows))
    assert (seen.state == "unknown") == (seen.rule == "")
