"""The demo's agents are recognized like the real ones and react to keys."""

import re
from collections.abc import Callable

import pytest

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters import claude_code, codex
from termvisor.frontends.demo.fake_agents import (
    DEMO_AGENTS,
    REDRAW_KEY,
    AgentScript,
    ScreenBeat,
    play_claude,
    play_codex,
    split_keys,
)
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

WIDTH, HEIGHT = 100, 30
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class AgentPlayer:
    """Plays an agent script, sends keys and reads the screen."""

    def __init__(self, play: Callable[[Callable[[], tuple[int, int]]], AgentScript]):
        self._play = play(lambda: (WIDTH, HEIGHT))
        self._beat: ScreenBeat = next(self._play)
        self.marks = self._screen = ""
        self.record_output()

    def record_output(self) -> None:
        text = self._beat[0]
        self._screen, self.marks = (text, self.marks) if "\x1b[H" in text else (self._screen, self.marks + text)

    def send_keys(self, keys: bytes = b"") -> None:
        """Send keys, or none to let the time of the current screen pass."""
        self._beat = self._play.send(keys)
        self.record_output()

    def play_until(self, words: str) -> str:
        for _ in range(100):
            if any(words in row for row in self.screen.rows):
                return words
            self.send_keys()
        raise AssertionError(f"{words!r} never appeared:\n" + "\n".join(self.screen.rows))

    @property
    def is_waiting_for_keys(self) -> bool:
        return self._beat[1] is None

    @property
    def screen(self) -> Screen:
        rows = tuple(_SEQUENCE.sub("", self._screen).split("\r\n"))
        return Screen(pane=PaneId(1), rows=rows, width=WIDTH, height=HEIGHT, alternate=True)


def classify_state(player: AgentPlayer) -> str | None:
    return claude_code.ADAPTER.classify_screen(player.screen).state


def test_claude_works_requests_permission_and_completes() -> None:
    player = AgentPlayer(play_claude)
    player.play_until("Pondering")
    assert classify_state(player) == "running"
    player.play_until("Do you want to proceed?")
    assert (classify_state(player), player.is_waiting_for_keys) == ("waiting_approval", True)
    player.send_keys(b"1")
    player.play_until("Ran 1 shell command")
    player.play_until("All checks passed")
    assert classify_state(player) == "completed"


@pytest.mark.parametrize("keys", [b"\x1b", b"3", b"\x1b[B\x1b[B\r", b"\x1b[B\x1b[B\x1b[B\x1b[A\x1b[B\r"])
def test_claude_accepts_a_denial(keys: bytes) -> None:
    player = AgentPlayer(play_claude)
    player.play_until("Do you want to proceed?")
    player.send_keys(keys)
    player.play_until("User rejected the command")
    assert classify_state(player) in ("idle", "completed")


@pytest.mark.parametrize("keys", [b"\r", b"1", b"\x1b[B\r", b"x9\r"])
def test_claude_accepts_an_approval(keys: bytes) -> None:
    player = AgentPlayer(play_claude)
    player.play_until("Do you want to proceed?")
    player.send_keys(keys)
    player.play_until("Ran 1 shell command")


def test_claude_answers_a_question_without_a_command() -> None:
    player = AgentPlayer(play_claude)
    player.play_until("Pondering")
    player.send_keys(b"\x1b")
    player.play_until("? for shortcuts")
    player.send_keys(b"where is the cache?\r")
    player.play_until("Pondering")
    assert classify_state(player) == "running"
    player.play_until("It is in")
    assert classify_state(player) == "completed"


def test_codex_reports_its_work_to_the_terminal() -> None:
    player = AgentPlayer(play_codex)
    player.play_until("Working (3s")
    assert codex.ADAPTER.classify_screen(player.screen).state == "running"
    assert "state=working:app=codex" in player.marks
    player.play_until("Worked for 25s")
    assert codex.ADAPTER.classify_screen(player.screen).state == "completed"
    assert player.marks.index("state=working") < player.marks.index("state=done")


@pytest.mark.parametrize(
    ("play", "work", "expected"), [(play_claude, "Pondering", "Interrupted"), (play_codex, "Working", "■")]
)
def test_escape_interrupts_work(play, work: str, expected: str) -> None:
    player = AgentPlayer(play)
    player.play_until(work)
    player.send_keys(b"\x1b")
    player.play_until(expected)


def test_typed_text_is_shown_and_enter_starts_the_task() -> None:
    player = AgentPlayer(play_codex)
    player.play_until("Worked for 25s")
    for key in (b"write \xc3\xa4", b"x", b"\x7f", b" test"):
        player.send_keys(key)
    player.play_until("› write ä test")
    assert player.is_waiting_for_keys
    player.send_keys(b"\x15")
    player.play_until("› Ask Codex")
    player.send_keys(b"write a test\r")
    player.play_until("› write a test")
    player.play_until("Working (1s")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("claude", [b"\x03", b"\x03"]),
        ("claude", [b"half", b"\x03", b"\x03", b"x", b"\x7f", b"\x03", b"\x03"]),
        ("claude", [b"/exit", b"\r"]),
        ("codex", [b"\x03"]),
        ("codex", [b"half", b"\x03", b"\x03"]),
        ("codex", [b"/quit", b"\r"]),
    ],
)
def test_the_fake_agent_exits_on_its_exit_command(name: str, keys: list[bytes]) -> None:
    player = AgentPlayer(DEMO_AGENTS[name])
    player.play_until("Pondering" if name == "claude" else "Working")
    player.send_keys(b"\x1b")
    player.play_until("nterrupted")
    for key in keys[:-1]:
        player.send_keys(key)
    with pytest.raises(StopIteration):
        player.send_keys(keys[-1])


def test_keys_are_parsed_at_any_chunk_border() -> None:
    assert split_keys(b"ab\x1b[A\x1b\r\x1bOPc") == [b"ab", b"\x1b[A", b"\x1b", b"\r", b"\x1bOP", b"c"]
    assert split_keys(b"") == []


@pytest.mark.parametrize(
    ("play", "adapter", "work"), [(play_claude, claude_code, "Pondering"), (play_codex, codex, "Working (")]
)
def test_a_prompt_typed_during_work_is_queued_and_done_next(play, adapter, work: str) -> None:
    player = AgentPlayer(play)
    player.play_until(work)
    player.send_keys(b"and a third thing")
    player.send_keys(b"\r")
    interaction = get_agent_interaction(adapter.ADAPTER.name)
    assert "and a third thing" in interaction.read_queue(player.screen)
    assert (interaction.read_screen(player.screen).state, interaction.read_composer(player.screen)) == ("running", "")
    for _ in range(60):
        player.send_keys(b"1" if player.is_waiting_for_keys else b"")
        if any(row.endswith("Done: and a third thing.") or row == "› and a third thing" for row in player.screen.rows):
            break
    assert interaction.read_queue(player.screen) == ""


@pytest.mark.parametrize(("play", "words"), [(play_claude, "Do you want"), (play_codex, "Worked for")])
def test_painting_again_after_a_resize_changes_nothing(play, words: str) -> None:
    player = AgentPlayer(play)
    player.play_until(words)
    before = player.screen.rows
    for _ in range(3):
        player.send_keys(REDRAW_KEY)
    assert player.screen.rows == before
