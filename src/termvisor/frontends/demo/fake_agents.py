"""Two made-up agents that look like Claude Code and Codex, and heed keys as those do: what Termvisor sees, asks and
presses can be tried on them without a model. Everything they say they did is invented, and nothing is run.
"""

import re
import shutil
from collections.abc import Callable, Generator
from functools import partial
from itertools import cycle

from msgspec import Struct

Beat = tuple[str, float | None]
"""A screen, and how many seconds it stands unless a key comes; None waits for one."""
Play = Generator[Beat, bytes, None]
Part = Generator[Beat, bytes, bool]

TASKS = (
    ("make the invoice importer skip empty rows", "importer/rows.py", "python -m unittest importer"),
    ("cache the weather lookups for ten minutes", "weather/cache.py", "python -m unittest weather"),
    ("rename Basket to Cart everywhere", "shop/cart.py", "git grep -n Basket"),
)
_RESTS_FOR = 40.0
_ENTER, _ESCAPE, _UP, _DOWN, _ERASED, _END = b"\r", b"\x1b", b"\x1b[A", b"\x1b[B", b"\x7f", b"\x03"
_EMPTYING = (b"\x15", _ESCAPE, _END)
_FAREWELLS = ("/exit", "/quit")
_KEY = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
"""A sequence, a control character, or a run of text."""


class Manner(Struct, frozen=True, kw_only=True):
    """How an agent looks."""

    head: tuple[str, ...]
    prompt: str
    interrupted: str
    foot: Callable[[str, str, int], tuple[list[str], int]]
    """Of the seconds that it works, what is typed and the width: the rows below the conversation, and which of them has
    the cursor."""
    working: str = ""
    """What it says to the terminal as it begins to work."""
    resting: str = ""
    farewells: int = 1
    """How many Ctrl-C in a row end it."""


class Conversation:
    def __init__(self, manner: Manner, size: Callable[[], tuple[int, int]]):
        self._manner, self._size = manner, size
        self._rows = list(manner.head)
        self._typed = ""

    def hear(self, task: str) -> None:
        self._rows += ["", f"{self._manner.prompt} {task}"]

    def say(self, *rows: str) -> None:
        self._rows += ["", *rows]

    def work(self, seconds: int) -> Part:
        """Whether nobody interrupted it."""
        yield self._manner.working, 0.0
        for second in range(seconds):
            keys = yield self._painted(f"{second}"), 1.0
            if _ESCAPE in keys_of(keys):
                self._rows += [self._manner.interrupted]
                return False
        return True

    def ask(self, dialog: Callable[[int, int], list[str]], choices: int) -> Part:
        """Whether the first choice was taken. Waits for as long as that takes."""
        pointed = 0
        while True:
            width, _ = self._size()
            for key in keys_of((yield self._drawn(dialog(pointed, width), 0, 1), None)):
                step = {_UP: -1, _DOWN: 1}.get(key, 0)
                pointed = min(max(pointed + step, 0), choices - 1)
                if key.isdigit() and 1 <= int(key) <= choices:
                    return int(key) < choices
                if key in (_ENTER, _ESCAPE):
                    return key == _ENTER and pointed < choices - 1

    def rest(self) -> Generator[Beat, bytes, str | None]:
        """What it is told next: empty when nobody says anything for a while, None when it is to leave. Half a prompt is
        waited for."""
        yield self._manner.resting, 0.0
        farewells = 0
        while True:
            keys = keys_of((yield self._painted(""), None if self._typed else _RESTS_FOR))
            if not keys:
                return ""
            for key in keys:
                farewells = farewells + 1 if key == _END and not self._typed else 0
                if farewells == self._manner.farewells:
                    return None
                if key == _ENTER and self._typed.strip():
                    told, self._typed = self._typed.strip(), ""
                    return None if told in _FAREWELLS else told
                self._type(key)

    def _type(self, key: bytes) -> None:
        if key == _ERASED:
            self._typed = self._typed[:-1]
        elif key in _EMPTYING:
            self._typed = ""
        elif key >= b" ":
            self._typed += key.decode("utf-8", "replace")

    def _painted(self, at: str) -> str:
        width, _ = self._size()
        foot, row = self._manner.foot(at, self._typed, width)
        return self._drawn(foot, row, 3 + len(self._typed))

    def _drawn(self, foot: list[str], row: int, column: int) -> str:
        """The newest rows of the conversation above the foot, painted at once."""
        width, height = self._size()
        room = max(1, height - len(foot))
        shown = self._rows[-room:]
        rows = [*shown, *[""] * (room - len(shown)), *foot]
        text = "\r\n".join(f"\x1b[K{line[:width]}" for line in rows[:height])
        return f"\x1b[?2026h\x1b[?1049h\x1b[H{text}\x1b[{room + row + 1};{column}H\x1b[?2026l"


def keys_of(typed: bytes) -> list[bytes]:
    return _KEY.findall(typed)


def claude(size: Callable[[], tuple[int, int]] = shutil.get_terminal_size) -> Play:
    """Asks before each command, and waits until somebody answers."""
    chat = Conversation(_CLAUDE, size)
    yield "\x1b]2;✳ Claude Code\x07", 0.0
    tasks = cycle(TASKS)
    told: str | None = ""
    while told is not None:
        task, path, command = next(tasks)
        yield from _careful(chat, told or task, path, command)
        told = yield from chat.rest()


def _careful(chat: Conversation, task: str, path: str, command: str) -> Play:
    chat.hear(task)
    if not (yield from chat.work(6)):
        return
    chat.say(f"● I looked at {path}. The change is small: one function and its test.")
    if not (yield from chat.ask(partial(_asked, command), 3)):
        chat.say(f"● Bash({command})", "  ⎿  User rejected the command", "", "✻ Baked for 6s · done 4:58 AM")
        return
    chat.say("  Ran 1 shell command")
    if (yield from chat.work(5)):
        chat.say(f"● All checks passed. Done: {task}.", "", "✻ Baked for 11s · done 4:58 AM")


def codex(size: Callable[[], tuple[int, int]] = shutil.get_terminal_size) -> Play:
    """Works by itself, and says so to the terminal, as Codex does."""
    chat = Conversation(_CODEX, size)
    tasks = cycle(TASKS[1:] + TASKS[:1])
    told: str | None = ""
    while told is not None:
        task, path, command = next(tasks)
        yield f"\x1b]2;⠹ {task}\x07", 0.0
        chat.hear(told or task)
        chat.say("")
        if (yield from chat.work(25)):
            chat.say(
                f"• Ran {command}", "  └ OK", "", f"• Edited {path} (+9 -3). Done.", "", "  Worked for 25s • 05:08"
            )
        yield f"\x1b]2;{task}\x07", 0.0
        told = yield from chat.rest()


def _asked(command: str, pointed: int, width: int) -> list[str]:
    choices = ("Yes", "Yes, and always allow this command in this project", "No")
    marked = [f" {'❯' if one == pointed else ' '} {one + 1}. {choice}" for one, choice in enumerate(choices)]
    rule, dashes = "─" * width, "╌" * width
    head = [rule, " Bash command", " Run the tests", dashes, f" {command}", dashes, " Do you want to proceed?"]
    return [*head, *marked, "", " Esc to cancel · Tab to amend"]


def _below_claude(at: str, typed: str, width: int) -> tuple[list[str], int]:
    rule, keys = "─" * width, "esc to interrupt" if at else "? for shortcuts"
    work = [f"✽ Pondering… ({at}s)" if at else ""]
    return [*work, "", rule, f"❯ {typed}", rule, f"  ⏸ manual mode on · {keys} · ← for agents"], 3


def _below_codex(at: str, typed: str, _width: int) -> tuple[list[str], int]:
    work = [f"• Working ({at}s • esc to interrupt)", "", ""] if at else ["", ""]
    foot = ["", "  demo-model default · ~/kingfisher", "  ← for agents · ? for shortcuts"]
    return [*work, f"› {typed or 'Ask Codex to do anything'}", *foot], len(work)


_CLAUDE = Manner(
    head=("", " ▐▛███▛█   Claude Code v2.1.325", "▝▜██████▀  a demo, not the program", " ▝▝   ▝▝   ~/kingfisher", ""),
    prompt="❯",
    interrupted="  ⎿  Interrupted · What should Claude do instead?",
    foot=_below_claude,
    farewells=2,
)
_CODEX = Manner(
    head=("", "  >_ OpenAI Codex (v0.166.0)", "     a demo, not the program", ""),
    prompt="›",
    interrupted="■ Conversation interrupted - use /feedback if something went wrong",
    foot=_below_codex,
    working="\x1b]7501;state=working:app=codex\x1b\\",
    resting="\x1b]7501;state=done:app=codex\x1b\\",
)

AGENTS: dict[str, Callable[[], Play]] = {"claude": claude, "codex": codex}
"""By the name of the program."""
