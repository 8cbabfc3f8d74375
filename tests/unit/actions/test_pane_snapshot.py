from termvisor.actions.pane_snapshot import build_screen, get_agent_interaction, read_composer_text
from termvisor.model.ids import PaneId
from tests.unit.actions.scripted_screen import build_pane_state
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT

RULE = "─" * 60
FOOTER = "  ⏸ manual mode on"


def read_claude_composer(*rows: str) -> str | None:
    state = build_pane_state(("● Hello.", RULE, *rows, RULE, FOOTER))
    interaction = get_agent_interaction("claude_code")
    assert interaction is not None
    return read_composer_text(interaction, build_screen(PaneId(1), state, 1), state)


def test_every_built_in_agent_has_its_keyboard():
    can = {name: get_agent_interaction(name) for name in ("claude_code", "codex", "gemini", "opencode", "copilot")}
    assert [name for name, interaction in can.items() if interaction is None or interaction.is_without_keyboard] == []
    assert get_agent_interaction("generic").is_without_keyboard
    assert get_agent_interaction("nobody") is None


def test_a_missing_keyboard_function_gives_none():
    interaction = get_agent_interaction("cursor")
    screen = build_screen(PaneId(1), build_pane_state(ASKED), 1)
    assert (
        interaction.find_choice_keys(screen, "allow"),
        interaction.find_interrupt_keys(screen),
        interaction.find_exit_keys(screen),
    ) == (None, None, None)
    assert "allow" in interaction.format_hook_answer("allow")


def test_typed_text_is_distinguished_from_a_faint_suggestion():
    assert read_claude_composer("❯ ") == ""
    assert read_claude_composer("❯ fix the tests") == "fix the tests"
    assert read_claude_composer('❯ \x1b[2mTry "fix lint errors"\x1b[0m') == ""


def test_without_a_composer_there_is_no_text():
    interaction = get_agent_interaction("codex")
    state = build_pane_state(ASKED)
    assert read_composer_text(interaction, build_screen(PaneId(1), state, 1), state) is None
    state = build_pane_state(("• Hello.", *FOOT))
    assert read_composer_text(interaction, build_screen(PaneId(1), state, 1), state) == ""
