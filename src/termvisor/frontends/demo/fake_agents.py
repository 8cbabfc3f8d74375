"""Two fake agents that look and react to keys like Claude Code and Codex, for trying Termvisor without a model.

All their output is invented, and they run nothing.
"""

import re
import shutil
from collections.abc import Callable, Generator
from functools import partial
from itertools import cycle

from msgspec import Struct

ScreenBeat = tuple[str, float | None]
"""A screen and how many seconds to show it unless a key is typed. None waits for a key."""
AgentScript = Generator[ScreenBeat, bytes, None]
ScriptPart = Generator[ScreenBeat, bytes, bool]

TASKS = (
    ("make the invoice importer skip empty rows", "importer/rows.py", "python -m unittest importer"),
    ("cache the weather lookups for ten minutes", "weather/cache.py", "python -m unittest weather"),
    ("rename Basket to Cart everywhere", "shop/cart.py", "git grep -n Basket"),
)
_IDLE_TIMEOUT_S = 40.0
_ENTER, _ESCAPE, _UP, _DOWN, _BACKSPACE, _CTRL_C = b"\r", b"\x1b", b"\x1b[A", b"\x1b[B", b"\x7f", b"\x03"
REDRAW_KEY = b"\x0c"
"""Ctrl-L: paints the screen again, in its new size, and changes nothing."""
_CLEAR_KEYS = (b"\x15", _ESCAPE, _CTRL_C)
_EXIT_COMMANDS = ("/exit", "/quit")
_KEY_PATTERN = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
"""An escape sequence, a control character, or a run of text."""


class AgentLook(Struct, frozen=True, kw_only=True):
    """The texts and layout of an agent's screen."""

    head: tuple[str, ...]
    prompt: str
    interrupted: str
    render_footer: Callable[[str, str, list[str], int], tuple[list[str], int]]
    """Takes the seconds of work, the typed text, the queued prompts and the width. Returns the rows below the
    conversation and the index of the row with the cursor."""
    working: str = ""
    """Escape sequence sent when the agent starts to work."""
    resting: str = ""
    exit_presses: int = 1
    """How many consecutive Ctrl-C presses make it exit."""


class FakeConversation:
    def __init__(self, look: AgentLook, size: Callable[[], tuple[int, int]]):
        self._look, self._size = look, size
        self._rows = list(look.head)
        self._typed = ""
        self._queue: list[str] = []

    def add_prompt(self, task: str) -> None:
        self._rows += ["", f"{self._look.prompt} {task}"]

    def add_reply(self, *rows: str) -> None:
        self._rows += ["", *rows]

    def work(self, seconds: int) -> ScriptPart:
        """Show work for some seconds; return False if interrupted. A prompt typed meanwhile is queued."""
        yield self._look.working, 0.0
        second = 0
        while second < seconds:
            keys = split_keys((yield self._render_screen(f"{second}"), 1.0))
            if _ESCAPE in keys:
                self._rows += [self._look.interrupted]
                # What was queued returns to the composer, so that the agent rests.
                self._typed, self._queue = " ".join([*self._queue, self._typed]).strip(), []
                return False
            for key in keys:
                if prompt := self._type(key):
                    self._queue.append(prompt)
            second += not keys
        return True

    def ask(self, dialog: Callable[[int, int], list[str]], choices: int) -> ScriptPart:
        """Show a dialog until it is answered; return False for the last choice or Escape."""
        selected = 0
        while True:
            width, _ = self._size()
            for key in split_keys((yield self._compose_screen(dialog(selected, width), 0, 1), None)):
                step = {_UP: -1, _DOWN: 1}.get(key, 0)
                selected = min(max(selected + step, 0), choices - 1)
                if key.isdigit() and 1 <= int(key) <= choices:
                    return int(key) < choices
                if key in (_ENTER, _ESCAPE):
                    return key == _ENTER and selected < choices - 1

    def wait_for_prompt(self) -> Generator[ScreenBeat, bytes, str | None]:
        """Return the next prompt; empty after a while without keys, None to exit.

        There is no timeout while a prompt is being typed. Queued prompts come first.
        """
        if self._queue:
            return self._queue.pop(0)
        yield self._look.resting, 0.0
        exit_presses = 0
        while True:
            keys = split_keys((yield self._render_screen(""), None if self._typed else _IDLE_TIMEOUT_S))
            if not keys:
                return ""
            for key in keys:
                exit_presses = exit_presses + 1 if key == _CTRL_C and not self._typed else 0
                if exit_presses == self._look.exit_presses:
                    return None
                if prompt := self._type(key):
                    return None if prompt in _EXIT_COMMANDS else prompt

    def _type(self, key: bytes) -> str:
        """Take a key; return the prompt that Enter submits, else an empty text."""
        if key == _ENTER:
            prompt, self._typed = self._typed.strip(), ""
            return prompt
        if key == _BACKSPACE:
            self._typed = self._typed[:-1]
        elif key in _CLEAR_KEYS:
            self._typed = ""
        elif key >= b" ":
            self._typed += key.decode("utf-8", "replace")
        return ""

    def _render_screen(self, at: str) -> str:
        width, _ = self._size()
        foot, row = self._look.render_footer(at, self._typed, self._queue, width)
        return self._compose_screen(foot, row, 3 + len(self._typed))

    def _compose_screen(self, foot: list[str], row: int, column: int) -> str:
        """Return one synchronized update that paints the newest rows of the conversation above the footer."""
        width, height = self._size()
        room = max(1, height - len(foot))
        shown = self._rows[-room:]
        rows = [*shown, *[""] * (room - len(shown)), *foot]
        text = "\r\n".join(f"\x1b[K{line[:width]}" for line in rows[:height])
        return f"\x1b[?2026h\x1b[?1049h\x1b[H{text}\x1b[{room + row + 1};{column}H\x1b[?2026l"


def split_keys(typed: bytes) -> list[bytes]:
    return _KEY_PATTERN.findall(typed)


def play_claude(size: Callable[[], tuple[int, int]] = shutil.get_terminal_size) -> AgentScript:
    """Play an agent that asks before each command and waits for the answer. A question needs no command."""
    chat = FakeConversation(_CLAUDE_LOOK, size)
    yield "\x1b]2;✳ Claude Code\x07", 0.0
    tasks = cycle(TASKS)
    prompt: str | None = ""
    while prompt is not None:
        task, path, command = next(tasks)
        if prompt.endswith("?"):
            yield from _answer_claude_question(chat, prompt, path)
        else:
            yield from _run_claude_task(chat, prompt or task, path, command)
        prompt = yield from chat.wait_for_prompt()


def _run_claude_task(chat: FakeConversation, task: str, path: str, command: str) -> AgentScript:
    chat.add_prompt(task)
    if not (yield from chat.work(6)):
        return
    chat.add_reply(f"● I looked at {path}. The change is small: one function and its test.")
    if not (yield from chat.ask(partial(_render_dialog, command), 3)):
        chat.add_reply(f"● Bash({command})", "  ⎿  User rejected the command", "", "✻ Baked for 6s · done 4:58 AM")
        return
    chat.add_reply("  Ran 1 shell command")
    if (yield from chat.work(5)):
        chat.add_reply(f"● All checks passed. Done: {task}.", "", "✻ Baked for 11s · done 4:58 AM")


def _answer_claude_question(chat: FakeConversation, question: str, path: str) -> AgentScript:
    chat.add_prompt(question)
    if (yield from chat.work(6)):
        chat.add_reply(f"● It is in {path}.", "", "✻ Baked for 6s · done 4:58 AM")


def play_codex(size: Callable[[], tuple[int, int]] = shutil.get_terminal_size) -> AgentScript:
    """Play an agent that works without asking and reports its state to the terminal, as Codex does."""
    chat = FakeConversation(_CODEX_LOOK, size)
    tasks = cycle(TASKS[1:] + TASKS[:1])
    prompt: str | None = ""
    while prompt is not None:
        task, path, command = next(tasks)
        yield f"\x1b]2;⠹ {task}\x07", 0.0
        chat.add_prompt(prompt or task)
        chat.add_reply("")
        if (yield from chat.work(25)):
            chat.add_reply(
                f"• Ran {command}", "  └ OK", "", f"• Edited {path} (+9 -3). Done.", "", "  Worked for 25s • 05:08"
            )
        yield f"\x1b]2;{task}\x07", 0.0
        prompt = yield from chat.wait_for_prompt()


def _render_dialog(command: str, selected: int, width: int) -> list[str]:
    choices = ("Yes", "Yes, and always allow this command in this project", "No")
    marked = [f" {'❯' if index == selected else ' '} {index + 1}. {choice}" for index, choice in enumerate(choices)]
    rule, dashes = "─" * width, "╌" * width
    head = [rule, " Bash command", " Run the tests", dashes, f" {command}", dashes, " Do you want to proceed?"]
    return [*head, *marked, "", " Esc to cancel · Tab to amend"]


def _render_claude_footer(at: str, typed: str, queue: list[str], width: int) -> tuple[list[str], int]:
    rule, keys = "─" * width, "esc to interrupt" if at else "? for shortcuts"
    work = [f"✽ Pondering… ({at}s)" if at else ""]
    if queue:
        work = [*(f"❯ {prompt}" for prompt in queue), "  ctrl+x ctrl+s to send now", "", *work]
    composer = typed or ("Press up to edit queued messages" if queue else "")
    foot = ["", rule, f"❯ {composer}", rule, f"  ⏸ manual mode on · {keys} · ← for agents"]
    return [*work, *foot], len(work) + 2


def _render_codex_footer(at: str, typed: str, queue: list[str], _width: int) -> tuple[list[str], int]:
    work = [f"• Working ({at}s • esc to interrupt)", "", ""] if at else ["", ""]
    if queue:
        work[-1:] = ["• Messages to be submitted after next tool call", *(f"  ↳ {prompt}" for prompt in queue), ""]
    foot = ["", "  demo-model default · ~/kingfisher", "  ← for agents · ? for shortcuts"]
    return [*work, f"› {typed or 'Ask Codex to do anything'}", *foot], len(work)


_CLAUDE_LOOK = AgentLook(
    head=("", " ▐▛███▛█   Claude Code v2.1.325", "▝▜██████▀  a demo, not the program", " ▝▝   ▝▝   ~/kingfisher", ""),
    prompt="❯",
    interrupted="  ⎿  Interrupted · What should Claude do instead?",
    render_footer=_render_claude_footer,
    exit_presses=2,
)
_CODEX_LOOK = AgentLook(
    head=("", "  >_ OpenAI Codex (v0.166.0)", "     a demo, not the program", ""),
    prompt="›",
    interrupted="■ Conversation interrupted - use /feedback if something went wrong",
    render_footer=_render_codex_footer,
    working="\x1b]7501;state=working:app=codex\x1b\\",
    resting="\x1b]7501;state=done:app=codex\x1b\\",
)

DEMO_AGENTS: dict[str, Callable[[], AgentScript]] = {"claude": play_claude, "codex": play_codex}
"""Agent scripts by program name."""
