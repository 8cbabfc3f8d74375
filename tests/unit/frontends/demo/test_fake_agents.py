"""The demo's agents are recognized like the real ones and react to keys."""

import re
from collections.abc import Callable

import pytest

from termvisor.agents.adapters import claude_code, codex
from termvisor.frontends.demo.fake_agents import (
    DEMO_AGENTS,
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


class House:
    """Sits before a play, types, and reads the screen."""

    def __init__(self, play: Callable[[Callable[[], tuple[int, int]]], AgentScript]):
        self._play = play(lambda: (WIDTH, HEIGHT))
        self._beat: ScreenBeat = next(self._play)
        self.marks = self._screen = ""
        self.keep()

    def keep(self) -> None:
        text = self._beat[0]
        self._screen, self.marks = (text, self.marks) if "\x1b[H" in text else (self._screen, self.marks + text)

    def type(self, keys: bytes = b"") -> None:
        """Keys, or as long as this screen stands."""
        self._beat = self._play.send(keys)
        self.keep()

    def until(self, words: str) -> str:
        for _ in range(100):
            if any(words in row for row in self.screen.rows):
                return words
            self.type()
        raise AssertionError(f"{words!r} never stood there:\n" + "\n".join(self.screen.rows))

    @property
    def waits(self) -> bool:
        return self._beat[1] is None

    @property
    def screen(self) -> Screen:
        rows = tuple(_SEQUENCE.sub("", self._screen).split("\r\n"))
        return Screen(pane=PaneId(1), rows=rows, width=WIDTH, height=HEIGHT, alternate=True)


def seen(house: House) -> str | None:
    return claude_code.ADAPTER.classify_screen(house.screen).state


def test_claude_works_asks_waits_for_an_answer_and_is_done() -> None:
    house = House(play_claude)
    house.until("Pondering")
    assert seen(house) == "running"
    house.until("Do you want to proceed?")
    assert (seen(house), house.waits) == ("waiting_approval", True)
    house.type(b"1")
    house.until("Ran 1 shell command")
    house.until("All checks passed")
    assert seen(house) == "completed"


@pytest.mark.parametrize("keys", [b"\x1b", b"3", b"\x1b[B\x1b[B\r", b"\x1b[B\x1b[B\x1b[B\x1b[A\x1b[B\r"])
def test_claude_takes_a_no(keys: bytes) -> None:
    house = House(play_claude)
    house.until("Do you want to proceed?")
    house.type(keys)
    house.until("User rejected the command")
    assert seen(house) in ("idle", "completed")


@pytest.mark.parametrize("keys", [b"\r", b"1", b"\x1b[B\r", b"x9\r"])
def test_claude_takes_a_yes(keys: bytes) -> None:
    house = House(play_claude)
    house.until("Do you want to proceed?")
    house.type(keys)
    house.until("Ran 1 shell command")


def test_codex_works_and_says_so_to_the_terminal() -> None:
    house = House(play_codex)
    house.until("Working (3s")
    assert codex.ADAPTER.classify_screen(house.screen).state == "running"
    assert "state=working:app=codex" in house.marks
    house.until("Worked for 25s")
    assert codex.ADAPTER.classify_screen(house.screen).state == "completed"
    assert house.marks.index("state=working") < house.marks.index("state=done")


@pytest.mark.parametrize(
    ("play", "work", "told"), [(play_claude, "Pondering", "Interrupted"), (play_codex, "Working", "■")]
)
def test_escape_interrupts_work(play, work: str, told: str) -> None:
    house = House(play)
    house.until(work)
    house.type(b"\x1b")
    house.until(told)


def test_typed_text_is_shown_and_enter_starts_the_task() -> None:
    house = House(play_codex)
    house.until("Worked for 25s")
    for key in (b"write \xc3\xa4", b"x", b"\x7f", b" test"):
        house.type(key)
    house.until("› write ä test")
    assert house.waits
    house.type(b"\x15")
    house.until("› Ask Codex")
    house.type(b"write a test\r")
    house.until("› write a test")
    house.until("Working (1s")


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
def test_it_exits_on_its_exit_command(name: str, keys: list[bytes]) -> None:
    house = House(DEMO_AGENTS[name])
    house.until("Pondering" if name == "claude" else "Working")
    house.type(b"\x1b")
    house.until("nterrupted")
    for key in keys[:-1]:
        house.type(key)
    with pytest.raises(StopIteration):
        house.type(keys[-1])


def test_keys_are_split_at_any_cut() -> None:
    assert split_keys(b"ab\x1b[A\x1b\r\x1bOPc") == [b"ab", b"\x1b[A", b"\x1b", b"\r", b"\x1bOP", b"c"]
    assert split_keys(b"") == []
