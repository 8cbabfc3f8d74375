"""Get inputs that exist only on the client: a file, stdin, or the decision of the user at the terminal.

Files are read with the client's permissions. The daemon never opens files for clients; it only checks the text and
formats errors. Only an explicit yes confirms a request. A no also denies the approval request, so that it does not
stay open. Imports nothing slow, because every command line and every agent hook may pass through here.
"""

import os

from termvisor.frontends.cli.fast_client import write_all
from termvisor.protocol.command_protocol import CommandRequest, InputText

# Importing `typing` would cost more than the rest of this module. Type checkers understand this idiom.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Aside = Callable[[CommandRequest], object]

_NOTHING_DONE = b"Nothing was done.\n"
MAX_INPUT_BYTES = (1 << 20) + 2
"""One byte more than the longest text with its final newline, so that the daemon can detect a longer text."""


def read_input(source: bytes) -> InputText:
    """Read a file, or stdin for ``-``. Errors are returned in ``error``."""
    try:
        if source == b"--secret":
            return InputText(_ask_secret() if os.isatty(0) else _read_to_end(0))
        return InputText(_read_stdin() if source == b"-" else _read_file(source))
    except OSError as error:
        return InputText(error=error.strerror or "cannot be read")


def _read_file(path: bytes) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return _read_to_end(descriptor)
    finally:
        os.close(descriptor)


def _read_stdin() -> bytes:
    if os.isatty(0) and os.isatty(2):
        write_all(2, b"Type the text; end it with Ctrl-D on an empty line.\n")
    return _read_to_end(0)


def _ask_secret() -> bytes:
    """Read a line from the terminal without echo."""
    import termios

    modes = termios.tcgetattr(0)
    hidden = [*modes[:3], modes[3] & ~termios.ECHO, *modes[4:]]
    write_all(2, b"Secret: ")
    try:
        termios.tcsetattr(0, termios.TCSAFLUSH, hidden)
        return os.read(0, MAX_INPUT_BYTES)
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, modes)
        write_all(2, b"\n")


def _read_to_end(descriptor: int) -> bytes:
    data = bytearray()
    while len(data) < MAX_INPUT_BYTES and (chunk := os.read(descriptor, min(1 << 16, MAX_INPUT_BYTES - len(data)))):
        data += chunk
    return bytes(data)


class ConfirmationRequest:
    """What to ask the user: the text to show, the id of an approval request, a text to edit, the option that confirms.

    If only ``text`` is set, the user edits it without confirming anything.
    """

    __slots__ = ("consent", "number", "shown", "text")

    def __init__(self, shown: bytes, number: bytes = b"", text: bytes = b"", consent: bytes = b""):
        self.shown, self.number, self.text, self.consent = shown, number, text, consent or b"--yes"

    def build_prompt(self) -> bytes:
        if not self.number:
            return b"Go on? [y/N] "
        edit, sign = (b", e edit it first", b"/e") if self.text else (b"", b"")
        return b"Allow it? y once, s for this session (8 hours)%b, n no [y/s%b/N] " % (edit, sign)


def can_ask_user(request: CommandRequest) -> bool:
    """Return True if a user can see stderr and answer on stdin."""
    return os.isatty(2) and (os.isatty(0) or (request.input_text is not None and _reopen_terminal()))


def ask_user(request: CommandRequest, question: ConfirmationRequest, send_aside: "Aside") -> "CommandRequest | None":
    """Return the request with the user's consent or edited text; None if the user declined."""
    try:
        answered = (
            _ask_decision(request, question, send_aside) if question.shown else _ask_edited_text(request, question)
        )
    # Ctrl-C means no, so the approval request must not stay in the inbox.
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
            return request.with_consent(question.consent.decode())
        if answer in (b"s", b"session") and question.number:
            return request.with_consent("--yes-for-session")
        if answer not in (b"e", b"edit") or not question.text:
            _deny_request(request, question, send_aside)
            return None
        if (edited := _ask_edited_text(request, question)) is not None:
            # The edited text is a new request, so close the old one.
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
    """Make the terminal stdin again after reading the input text from a pipe."""
    try:
        # Fails in a session without a controlling terminal, where no user can answer.
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    os.dup2(terminal, 0)
    os.close(terminal)
    return True
