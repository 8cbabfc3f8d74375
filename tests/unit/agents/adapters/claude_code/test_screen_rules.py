"""Screens: each rule where it holds, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.model.terminal.screen import Screen
from tests.recordings.scene import scenes
from tests.unit.agents.adapters.claude_code.saying import RULE, composed, screen
from tests.unit.agents.adapters.claude_code.test_screen_regions import SIGN_IN

DIALOG = (
    RULE,
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
WAITING = [scene for scene in scenes("claude_code") if ADAPTER.look(scene.screen).state.startswith("waiting")]


def rule_of(shown: Screen) -> str:
    return ADAPTER.look(shown).name


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        (screen(*DIALOG), "permission"),
        (
            screen(RULE, " Do you want to use this API key?", " ❯ 1. Yes", "", " Enter to confirm · Esc to cancel"),
            "use_api_key",
        ),
        (screen("▔" * 60, "  " + RULE, "   Exit plan mode?", "    ❯ 1. Yes", "      2. No"), "plan"),
        (screen(RULE, "Which?", "❯ 1. A", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"), "question"),
        (screen(RULE, " Select login method:", " ❯ 1. Account", "   2. Console"), "login"),
        (screen(*SIGN_IN), "sign_in_link"),
        (composed(PROMPTED, "✢ Photosynthesizing… (0s · ↓ 1 tokens)"), "spinner"),
        (composed(PROMPTED, "✢ Wibbling…", "  ⎿  Tip: use it"), "spinner"),
        (composed(PROMPTED, "· Compacting conversation… (1s)"), "compacting"),
        (composed(PROMPTED, "✻ 500 Internal server error · Retrying in 1s · attempt 3/10"), "retrying"),
        (composed(PROMPTED, "✻ Waiting for 2 background agents to finish"), "agents_running"),
        (composed(PROMPTED, "● words", footer=("  ⏸ plan mode on · esc to interrupt",)), "interruptible"),
        (
            composed(
                PROMPTED, DONE, footer=("  ⏸ manual mode on", "  ● main", "  ◯ general  a part   3s · ↑ 9 tokens")
            ),
            "agent_listed",
        ),
        (composed(PROMPTED, f"{DONE} · 1 shell still running"), "shell_running"),
        (composed("● words", footer=("  ⏵⏵ auto mode on · 2 shells",)), "shell_listed"),
        (composed(PROMPTED, "● Usage limit reached · continuing automatically at 7pm", "", DONE), "usage_limit_said"),
        (composed(f"{PROMPTED}", "  ⎿  Invalid API key · Fix external API key", "", DONE), "login_needed"),
        (composed(PROMPTED, "  ⎿  Context limit reached · /compact or /clear to continue", "", DONE), "context_full"),
        (composed(PROMPTED, "● API Error: 529 Overloaded.", "", DONE), "api_error"),
        (composed(PROMPTED, "● half of", "  ⎿  Interrupted · What should Claude do instead?"), "interrupted"),
        (composed(PROMPTED, "● words", "", DONE), "turn_ended"),
        (composed("❯ /clear"), "at_rest"),
        (composed("▝▜██████▀  Claude Code v2.1.325"), "begun"),
    ],
)
def test_a_screen_fits_its_rule(shown: Screen, rule: str) -> None:
    assert rule_of(shown) == rule


def test_the_trouble_of_an_earlier_turn_is_over() -> None:
    assert (
        rule_of(composed(PROMPTED, "● API Error: 500", "", DONE, "", PROMPTED, "", "● well", "", DONE)) == "turn_ended"
    )


def test_prose_that_looks_like_a_dialog_is_prose() -> None:
    prose = ("● It then asks:", *(f"  {row}" for row in DIALOG), "", DONE)
    assert rule_of(composed(PROMPTED, *prose)) == "turn_ended"
    assert (
        rule_of(composed(PROMPTED, "● Do you want to proceed?", " ❯ 1. Yes", " Esc to cancel", "", DONE))
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
@pytest.mark.parametrize("scene", [*WAITING, *scenes("claude_code")[:6]], ids=lambda scene: scene.name)
def test_a_picture_of_it_in_another_program_is_not_it(scene, below: tuple[str, ...]) -> None:
    rows = list(scene.screen.rows)
    while not rows[-1]:
        rows.pop()
    assert ADAPTER.look(screen(*rows, *below)).state == "unknown"


def test_a_dialog_whose_pointer_was_written_over_is_none() -> None:
    crashed = [" Killedes" if "❯ 1. Yes" in row else row for row in DIALOG]
    assert ADAPTER.look(screen(*crashed)).state == "unknown"


def test_a_screen_of_nothing_we_know_is_unknown_and_never_idle() -> None:
    assert ADAPTER.look(screen("hello", "world")).state == "unknown"
    assert ADAPTER.look(composed("◆ a glyph of tomorrow that turns")).state == "unknown"


def test_a_limit_on_the_screen_tells_its_end_where_its_zone_is_told() -> None:
    said = "  ⎿  You've hit your 5-hour limit · resets 7:16am (UTC)"
    flags = ADAPTER.look(
        composed(PROMPTED, said, "", DONE, footer=("  ⚠ Usage limit reached · limit resets 7:16am",))
    ).flags
    assert flags.usage_limited
    assert flags.resets_at is not None


def test_a_dialog_tells_what_it_asks() -> None:
    assert ADAPTER.look(screen(*DIALOG)).details == {"question": "Do you want to proceed?"}


@given(st.lists(st.text(alphabet="─❯ ●✻·…abc?1.\n", max_size=70), max_size=30))
def test_any_rows_at_all_give_an_answer(rows: list[str]) -> None:
    seen = ADAPTER.look(screen(*rows))
    assert (seen.state == "unknown") == (seen.rule == "")
