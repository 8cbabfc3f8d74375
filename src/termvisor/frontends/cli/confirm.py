"""Ask the user at the terminal to confirm, deny or edit a request before it is executed.

Invariants: only an explicit yes confirms; a no also denies the approval request, so that it does not stay open. Imports
nothing slow: every command line passes through here.
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
    """What to ask: the text to show, the id of an approval request, and a text that the user may edit.

    With ``text`` alone the user edits it, and there is nothing to confirm.
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
    """Return True if a user sees stderr and can answer on stdin."""
    return os.isatty(2) and (os.isatty(0) or (request.input_text is not None and _reopen_terminal()))


def ask_user(request: CommandRequest, question: ConfirmationRequest, send_aside: "Aside") -> "CommandRequest | None":
    """Return the request with the user's consent or edited text; None if the user said no."""
    try:
        answered = (
            _ask_decision(request, question, send_aside) if question.shown else _ask_edited_text(request, question)
        )
    except KeyboardInterrupt:
        _deny_request(request, question, send_aside)
        write_all(2, b"\n" + _NOTHING_DONE)
        raise
    if answered is None:
        write_all(2, _NOTHING_DONE)
    return answered


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
        if (edited := _ask_edited_text(request, question)) is not None:
            # The edited text is a new request; the old one is closed.
            _deny_request(request, question, send_aside, "--edited")
            return edited


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
    """Make the terminal stdin again after the input text was read from a pipe."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    os.dup2(terminal, 0)
    os.close(terminal)
    return True
