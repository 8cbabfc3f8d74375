import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import build_screen, get_agent_interaction, list_typing_clients, read_composer_text
from termvisor.backends.pane_control import PaneGuard, PaneViewer
from termvisor.clock import NS
from termvisor.model.action.preconditions import UndoPrecondition
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from tests.unit.actions.scripted_screen import build_pane_state, build_snapshot
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


@pytest.mark.parametrize(("ago", "is_typing"), [(0.0, True), (2.999, True), (3.0, False), (60.0, False)])
def test_a_user_counts_as_typing_for_three_seconds(ago, is_typing):
    viewer = PaneViewer("/dev/pts/1", 100 * NS)
    state = replace(build_pane_state(()), viewers=(viewer,))
    assert list_typing_clients(state, int((100 + ago) * NS)) == ([viewer] if is_typing else [])


def test_a_text_that_is_partly_faint_was_typed():
    assert read_claude_composer("❯ fix", '  \x1b[2mTry "lint"\x1b[0m') == 'fix\n  Try "lint"'


def test_at_a_shell_prompt_there_is_no_agent_to_interact_with():
    snapshot = build_snapshot(ASKED)
    assert snapshot.interaction is not None
    at_prompt = replace(snapshot, view=replace(snapshot.view, activity=PaneActivity(kind="prompt", is_proven=True)))
    assert at_prompt.interaction is None
    assert replace(snapshot, agent=None).interaction is None
    assert replace(snapshot, agent=replace(snapshot.agent, name="generic")).interaction is None


def test_a_guard_requires_what_the_snapshot_shows():
    snapshot = build_snapshot(ASKED)
    expected = PaneGuard(pane="%1", pid=1000, command="codex", alternate=True, shows="Yes")
    assert snapshot.build_guard("Yes") == expected
    undoes = UndoPrecondition(correlation="c", title="new", front="%2")
    assert replace(snapshot, undo_target=undoes).build_guard("Yes") == replace(expected, title="new", front="%2")


def test_a_suggestion_of_several_rows_is_no_text():
    assert read_claude_composer("❯ \x1b[2mfix", '  \x1b[2mTry "lint"\x1b[0m') == ""
