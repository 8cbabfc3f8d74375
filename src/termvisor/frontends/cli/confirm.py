"""Asking the person at the terminal before something is done that they should see first.

Invariant: only a clear yes is one, and a no to a question of the inbox closes it: it does not stay open behind the
back of who answered. Imports nothing that costs time: the fast path of the command line comes through here.
"""

import os

from termvisor.frontends.cli.fast_client import write_all
from termvisor.protocol.command_protocol import CommandRequest, InputText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Aside = Callable[[CommandRequest], object]

_NOTHING_DONE = b"Nothing was done.\n"


class ConfirmationRequest:
    """What a person is asked: ``shown`` is what they see, ``number`` that of a question in the inbox, ``text`` what
    they may edit. With a text alone there is nothing to allow: it is edited.
    """

    __slots__ = ("number", "shown", "text")

    def __init__(self, shown: bytes, number: bytes = b"", text: bytes = b""):
        self.shown, self.number, self.text = shown, number, text

    def build_prompt(self) -> bytes:
        if not self.number:
            return b"Go on? [y/N] "
        edit, sign = (b", e edit it first", b"/e") if self.text else (b"", b"")
        return b"Allow it? y once, s for this session (8 hours)%b, n no [y/s%b/N] " % (edit, sign)


def can_ask_user(request: CommandRequest) -> bool:
    """Whether somebody sees a question and can answer it."""
    return os.isatty(2) and (os.isatty(0) or (request.given is not None and _reopen_terminal()))


def ask_user(request: CommandRequest, question: ConfirmationRequest, send_aside: "Aside") -> "CommandRequest | None":
    """The command line as the person wants it: with their yes, or with their text. None is a no."""
    try:
        wanted = _ask_decision(request, question, send_aside) if question.shown else _ask_edited_text(request, question)
    except KeyboardInterrupt:
        _deny_request(request, question, send_aside)
        write_all(2, b"\n" + _NOTHING_DONE)
        raise
    if wanted is None:
        write_all(2, _NOTHING_DONE)
    return wanted


def _ask_decision(
    request: CommandRequest, question: ConfirmationRequest, send_aside: "Aside"
) -> "CommandRequest | None":
    while True:
        write_all(2, question.shown + question.build_prompt())
        answer = os.read(0, 4096).strip().lower()
        if answer in (b"y", b"yes"):
            return request.with_consent()
        if answer in (b"s", b"session") and question.number:
            return request.with_consent("--yes-for-session")
        if answer not in (b"e", b"edit") or not question.text:
            _deny_request(request, question, send_aside)
            return None
        if (edit_text := _ask_edited_text(request, question)) is not None:
            _deny_request(request, question, send_aside, "--edited")
            return edit_text


def _ask_edited_text(request: CommandRequest, question: ConfirmationRequest) -> "CommandRequest | None":
    from termvisor.frontends.cli.editor import edit_text

    text = edit_text(question.text)
    return None if text is None else request.with_input(InputText(text))


def _deny_request(
    request: CommandRequest, question: ConfirmationRequest, send_aside: "Aside", option: str = "--quiet"
) -> None:
    if question.number:
        send_aside(
            CommandRequest(("deny", option, question.number.decode()), cwd=request.cwd, terminal=request.terminal)
        )


def _reopen_terminal() -> bool:
    """Where stdin was used up for the text, it is the terminal from here on."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    os.dup2(terminal, 0)
    os.close(terminal)
    return True
