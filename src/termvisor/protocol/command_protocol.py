"""The face protocol: a command line goes to the daemon, ready bytes for stdout and stderr come back.

A request is one line: ``!2`` and fields separated by 0x1f. The answer is frames: ``a <protocol>`` (heard you),
``o <length>`` and ``e <length>`` with that many bytes for stdout and stderr, ``f <length>`` with the path of a file
that takes the place of stdout, ``l 0`` (run it yourself, no daemon is needed), and last ``x <status>``.
Three more ask for something that only the caller's side has; whoever has it asks again with it. ``i <length>``: the
text in the file of this path, or on stdin for ``-``. ``q <length>``: what a person should see before they say yes; then
``n <length>`` is the number of the question in the inbox that they answer. ``t <length>``: a text that a person may
edit. The refusal for callers that nobody can ask follows.
The head of a frame never changes, so that every version can tell a mismatch.
Invariant: this file imports nothing, because `visor robot` must cost little more than an interpreter's start.
"""

PROTOCOL_VERSION = 2
MAX_LINE_BYTES = 16 << 20
MAX_FRAME_BYTES = 256 << 10
_FIELD_SEPARATOR = b"\x1f"


class MalformedCommand(ValueError):
    """These bytes are not of this protocol."""


class TerminalInfo:
    """How the caller's terminal looks."""

    __slots__ = ("colour", "is_terminal", "width")

    def __init__(self, width: int = 80, is_terminal: bool = False, colour: bool = False):
        self.width, self.is_terminal, self.colour = width, is_terminal, colour


class InputText:
    """A text of the caller's side that is no word of the command line: out of a file or stdin, or as a person edited
    it. ``trouble`` says why there is none.
    """

    __slots__ = ("data", "trouble")

    def __init__(self, data: bytes = b"", trouble: str = ""):
        self.data, self.trouble = data, trouble


class CommandRequest:
    """A command line as its caller gave it."""

    __slots__ = ("argv", "cwd", "given", "is_robot", "terminal")

    def __init__(
        self, argv: "tuple[str, ...]", is_robot: bool = False, cwd: str = "/", terminal: "TerminalInfo | None" = None
    ):
        self.argv, self.is_robot, self.cwd, self.terminal = argv, is_robot, cwd, terminal or TerminalInfo()
        self.given: InputText | None = None

    def with_consent(self, consent_option: str = "--yes") -> "CommandRequest":
        """The same again, with a person's consent in it."""
        end = self.argv.index("--") if "--" in self.argv else len(self.argv)
        return CommandRequest(
            (*self.argv[:end], consent_option, *self.argv[end:]), self.is_robot, self.cwd, self.terminal
        ).with_input(self.given)

    def with_input(self, input_text: "InputText | None") -> "CommandRequest":
        """The same again, with a text."""
        again = CommandRequest(self.argv, self.is_robot, self.cwd, self.terminal)
        again.given = input_text
        return again

    def to_fields(self) -> "dict[str, object]":
        """Everything in one flat dict, as the operations know a caller."""
        look, given = self.terminal, self.given
        return {
            "argv": self.argv,
            "given": given and given.data,
            "trouble": given.trouble if given else "",
            "is_robot": self.is_robot,
            "cwd": self.cwd,
            "width": look.width,
            "is_terminal": look.is_terminal,
            "colour": look.colour,
        }


def encode_request(request: CommandRequest) -> bytes:
    look = request.terminal
    fields = (
        str(int(request.is_robot)),
        str(look.width),
        str(int(look.is_terminal)),
        str(int(look.colour)),
        request.cwd,
    )
    words = (field.encode("utf-8", "surrogateescape") for field in (*fields, *request.argv))
    parts = [b"!%d" % PROTOCOL_VERSION, _encode_input(request.given), *words]
    return _FIELD_SEPARATOR.join(map(_escape, parts)) + b"\n"


def decode_request(line: bytes) -> CommandRequest:
    """The request of our own protocol version; look at `version` first."""
    parts = [_unescape(part) for part in line.rstrip(b"\n").split(_FIELD_SEPARATOR)]
    fields = [part.decode("utf-8", "replace") for part in parts[2:]]
    if len(fields) < 5 or not fields[1].isdecimal():
        raise MalformedCommand("not a face request")
    is_robot, width, is_terminal, colour, cwd = fields[:5]
    look = TerminalInfo(min(int(width[:6]), 10_000), is_terminal == "1", colour == "1")
    return CommandRequest(tuple(fields[5:]), is_robot == "1", cwd, look).with_input(_decode_input(parts[1]))


def parse_version(line: bytes) -> int:
    number = line[1:].split(_FIELD_SEPARATOR, 1)[0].strip()
    if line[:1] != b"!" or not number.isdigit() or len(number) > 6:
        raise MalformedCommand("not a face request")
    return int(number)


def describe_mismatch(client: int, daemon: int) -> str:
    """What to say when the two sides speak different versions: which one to upgrade."""
    if client > daemon:
        return f"the running daemon is older than this visor (protocol {daemon}, not {client})"
    return f"this visor is older than the running daemon (protocol {client}, not {daemon})"


def build_mismatch_hint(client: int, daemon: int) -> str:
    if client > daemon:
        return "Restart the daemon with `visor daemon restart`."
    return "Upgrade this visor, or stop the newer daemon with the visor that started it."


def encode_frame(kind: bytes, number: int) -> bytes:
    return b"%b %d\n" % (kind, number)


def encode_output(kind: bytes, data: bytes) -> bytes:
    """Bytes for stdout (``o``) or stderr (``e``), cut into frames that a reader can hold."""
    pieces = (data[start : start + MAX_FRAME_BYTES] for start in range(0, len(data), MAX_FRAME_BYTES))
    return b"".join(encode_frame(kind, len(piece)) + piece for piece in pieces)


class FrameDecoder:
    """Puts frames together again from any chunks of bytes."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, chunk: bytes) -> "list[tuple[bytes, int, bytes]]":
        """The frames that are complete now, each as kind, number, body."""
        self._buffer += chunk
        found = []
        while (one := self._next_frame()) is not None:
            found.append(one)
        return found

    def _next_frame(self) -> "tuple[bytes, int, bytes] | None":
        head, newline, rest = self._buffer.partition(b"\n")
        if len(head) > 24:
            raise MalformedCommand("not a frame")
        if not newline:
            return None
        kind, _, number = head.partition(b" ")
        if len(kind) != 1 or not number.isdigit() or int(number) > MAX_LINE_BYTES:
            raise MalformedCommand("not a frame")
        length = int(number) if kind in b"oefiqnt" else 0
        if len(rest) < length:
            return None
        self._buffer = rest[length:]
        return kind, int(number), rest[:length]


def _encode_input(input_text: "InputText | None") -> bytes:
    if input_text is None:
        return b""
    return b"!" + input_text.trouble.encode("utf-8", "replace") if input_text.trouble else b"=" + input_text.data


def _decode_input(field: bytes) -> "InputText | None":
    if field[:1] == b"!":
        return InputText(trouble=field[1:].decode("utf-8", "replace"))
    return InputText(field[1:]) if field else None


def _escape(data: bytes) -> bytes:
    return data.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(_FIELD_SEPARATOR, b"\\s")


def _unescape(data: bytes) -> bytes:
    parts = (part.replace(b"\\n", b"\n").replace(b"\\s", _FIELD_SEPARATOR) for part in data.split(b"\\\\"))
    return b"\\".join(parts)
