from termvisor.actions.pane_agent import build_screen, get_agent_interaction, read_composer_text
from termvisor.model.ids import PaneId
from tests.unit.actions.scripted_screen import build_pane_state
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT

RULE = "─" * 60
FOOTER = "  ⏸ manual mode on"


def claude(*rows: str) -> str | None:
    seen = build_pane_state(("● Hello.", RULE, *rows, RULE, FOOTER))
    voice = get_agent_interaction("claude_code")
    assert voice is not None
    return read_composer_text(voice, build_screen(PaneId(1), seen, 1), seen)


def test_every_built_in_agent_has_its_keyboard():
    can = {name: get_agent_interaction(name) for name in ("claude_code", "codex", "gemini", "opencode", "copilot")}
    assert [name for name, voice in can.items() if voice is None or voice.is_without_keyboard] == []
    assert get_agent_interaction("generic").is_without_keyboard
    assert get_agent_interaction("nobody") is None


def test_a_missing_keyboard_function_gives_none():
    voice = get_agent_interaction("cursor")
    screen = build_screen(PaneId(1), build_pane_state(ASKED), 1)
    assert (
        voice.find_choice_keys(screen, "allow"),
        voice.find_interrupt_keys(screen),
        voice.find_exit_keys(screen),
    ) == (None, None, None)
    assert "allow" in voice.format_hook_answer("allow")


def test_typed_text_is_distinguished_from_a_faint_suggestion():
    assert claude("❯ ") == ""
    assert claude("❯ fix the tests") == "fix the tests"
    assert claude('❯ \x1b[2mTry "fix lint errors"\x1b[0m') == ""


def test_without_a_composer_there_is_no_text():
    voice = get_agent_interaction("codex")
    seen = build_pane_state(ASKED)
    assert read_composer_text(voice, build_screen(PaneId(1), seen, 1), seen) is None
    seen = build_pane_state(("• Hello.", *FOOT))
    assert read_composer_text(voice, build_screen(PaneId(1), seen, 1), seen) == ""
