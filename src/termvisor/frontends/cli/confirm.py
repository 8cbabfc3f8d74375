"""Asking the person at the terminal before something is done that they should see first.

Invariant: only a clear yes is one, and a no to a question of the inbox closes it: it does not stay open behind the
back of who answered. Imports nothing that costs time: the fast path of the command line comes through here.
"""

import os

from termvisor.frontends.cli.fast_client import write
from termvisor.protocol.command_protocol import Asked, Given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Aside = Callable[[Asked], object]

_NOTHING = b"Nothing was done.\n"


class Question:
    """What a person is asked: ``shown`` is what they see, ``number`` that of a question in the inbox, ``text`` what
    they may edit. With a text alone there is nothing to allow: it is edited.
    """

    __slots__ = ("number", "shown", "text")

    def __init__(self, shown: bytes, number: bytes = b"", text: bytes = b""):
        self.shown, self.number, self.text = shown, number, text

    def prompt(self) -> bytes:
        if not self.number:
            return b"Go on? [y/N] "
        edit, sign = (b", e edit it first", b"/e") if self.text else (b"", b"")
        return b"Allow it? y once, s for this session (8 hours)%b, n no [y/s%b/N] " % (edit, sign)


def is_attended(asked: Asked) -> bool:
    """Whether somebody sees a question and can answer it."""
    return os.isatty(2) and (os.isatty(0) or (asked.given is not None and _has_keyboard()))


def settle(asked: Asked, question: Question, aside: "Aside") -> "Asked | None":
    """The command line as the person wants it: with their yes, or with their text. None is a no."""
    try:
        wanted = _decided(asked, question, aside) if question.shown else _edited(asked, question)
    except KeyboardInterrupt:
        _refuse(asked, question, aside)
        write(2, b"\n" + _NOTHING)
        raise
    if wanted is None:
        write(2, _NOTHING)
    return wanted


def _decided(asked: Asked, question: Question, aside: "Aside") -> "Asked | None":
    while True:
        write(2, question.shown + question.prompt())
        answer = os.read(0, 4096).strip().lower()
        if answer in (b"y", b"yes"):
            return asked.confirmed()
        if answer in (b"s", b"session") and question.number:
            return asked.confirmed("--yes-for-session")
        if answer not in (b"e", b"edit") or not question.text:
            _refuse(asked, question, aside)
            return None
        if (edited := _edited(asked, question)) is not None:
            _refuse(asked, question, aside, "--edited")
            return edited


def _edited(asked: Asked, question: Question) -> "Asked | None":
    from termvisor.frontends.cli.editor import edited

    text = edited(question.text)
    return None if text is None else asked.filled(Given(text))


def _refuse(asked: Asked, question: Question, aside: "Aside", how: str = "--quiet") -> None:
    if question.number:
        aside(Asked(("deny", how, question.number.decode()), cwd=asked.cwd, look=asked.look))


def _has_keyboard() -> bool:
    """Where stdin was used up for the text, it is the terminal from here on."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    os.dup2(terminal, 0)
    os.close(terminal)
    return True
