from termvisor.actions.pane_agent import screen_of, voice_of, written
from termvisor.model.ids import PaneId
from tests.unit.actions.dialogs import sight
from tests.unit.agents.adapters.codex.test_screen_rules import ASKED, FOOT

RULE = "─" * 60
FOOTER = "  ⏸ manual mode on"


def claude(*rows: str) -> str | None:
    seen = sight(("● Hello.", RULE, *rows, RULE, FOOTER))
    voice = voice_of("claude_code")
    assert voice is not None
    return written(voice, screen_of(PaneId(1), seen, 1), seen)


def test_every_agent_of_ours_is_spoken_to_by_its_own_channel():
    can = {name: voice_of(name) for name in ("claude_code", "codex", "gemini", "opencode", "copilot")}
    assert [name for name, voice in can.items() if voice is None or voice.is_mute] == []
    assert voice_of("generic").is_mute
    assert voice_of("nobody") is None


def test_what_a_channel_lacks_is_not_said():
    voice = voice_of("cursor")
    screen = screen_of(PaneId(1), sight(ASKED), 1)
    assert (voice.pick(screen, "allow"), voice.interrupt(screen), voice.leave(screen)) == (None, None, None)
    assert "allow" in voice.hook_answer("allow")


def test_what_somebody_wrote_is_told_from_a_faint_proposal():
    assert claude("❯ ") == ""
    assert claude("❯ fix the tests") == "fix the tests"
    assert claude('❯ \x1b[2mTry "fix lint errors"\x1b[0m') == ""


def test_without_a_composer_nothing_is_written():
    voice = voice_of("codex")
    seen = sight(ASKED)
    assert written(voice, screen_of(PaneId(1), seen, 1), seen) is None
    seen = sight(("• Hello.", *FOOT))
    assert written(voice, screen_of(PaneId(1), seen, 1), seen) == ""
