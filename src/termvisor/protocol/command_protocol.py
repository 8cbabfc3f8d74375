"""The command protocol: a client sends a command line; the daemon replies with bytes for stdout and stderr.

A request is one line: ``!2`` and fields separated by 0x1f. The answer is a sequence of frames:

    a <protocol>  acknowledgement, repeated as heartbeat
    o <length>    bytes for stdout
    e <length>    bytes for stderr
    f <length>    path of a file that replaces stdout
    l 0           the command needs no daemon: run it in the client
    i <length>    send the request again with the text of this file (``-``: stdin)
    q <length>    text to show before the user confirms; followed by n, t and a refusal for clients without a user
    n <length>    id of the approval request that the user answers
    t <length>    text that the user may edit
    x <status>    exit status, always last

The frame header never changes, so that every version can report a mismatch.
Invariant: this module imports nothing, because `visor robot` must cost little more than starting the interpreter.
"""

PROTOCOL_VERSION = 2
MAX_LINE_BYTES = 16 << 20
MAX_FRAME_BYTES = 256 << 10
_FIELD_SEPARATOR = b"\x1f"


class MalformedCommand(ValueError):
    """The bytes do not follow this protocol."""


class TerminalInfo:
    """The client's terminal. Width 0 means that output is not truncated."""

    __slots__ = ("colour", "is_terminal", "width")

    def __init__(self, width: int = 80, is_terminal: bool = False, colour: bool = False):
        self.width, self.is_terminal, self.colour = width, is_terminal, colour


class InputText:
    """A text that only the client can read: from a file, stdin or the user's editor.

    ``error`` is the reason why it could not be read.
    """

    __slots__ = ("data", "error")

    def __init__(self, data: bytes = b"", error: str = ""):
        self.data, self.error = data, error


class CommandRequest:
    """A command line with the client's folder and terminal, and the input text that the daemon requested."""

    __slots__ = ("argv", "cwd", "input_text", "is_robot", "terminal")

    def __init__(
        self, argv: "tuple[str, ...]", is_robot: bool = False, cwd: str = "/", terminal: "TerminalInfo | None" = None
    ):
        self.argv, self.is_robot, self.cwd, self.terminal = argv, is_robot, cwd, terminal or TerminalInfo()
        self.input_text: InputText | None = None

    def with_consent(self, consent_option: str = "--yes") -> "CommandRequest":
        """Return a copy with the user's consent added as an option before ``--``."""
        end = self.argv.index("--") if "--" in self.argv else len(self.argv)
        return CommandRequest(
            (*self.argv[:end], consent_option, *self.argv[end:]), self.is_robot, self.cwd, self.terminal
        ).with_input(self.input_text)

    def with_input(self, input_text: "InputText | None") -> "CommandRequest":
        """Return a copy with this input text."""
        request = CommandRequest(self.argv, self.is_robot, self.cwd, self.terminal)
        request.input_text = input_text
        return request

    def to_fields(self) -> "dict[str, object]":
        """Return all fields as a flat dict, keyed by the field names of `ops.api.dispatch.CommandContext`."""
        terminal, input_text = self.terminal, self.input_text
        return {
            "argv": self.argv,
            "input_text": input_text and input_text.data,
            "input_error": input_text.error if input_text else "",
            "is_robot": self.is_robot,
            "cwd": self.cwd,
            "width": terminal.width,
            "is_terminal": terminal.is_terminal,
            "colour": terminal.colour,
        }


def encode_request(request: CommandRequest) -> bytes:
    terminal = request.terminal
    fields = (
        str(int(request.is_robot)),
        str(terminal.width),
        str(int(terminal.is_terminal)),
        str(int(terminal.colour)),
        request.cwd,
    )
    words = (field.encode("utf-8", "surrogateescape") for field in (*fields, *request.argv))
    parts = [b"!%d" % PROTOCOL_VERSION, _encode_input(request.input_text), *words]
    return _FIELD_SEPARATOR.join(map(_escape, parts)) + b"\n"


def decode_request(line: bytes) -> CommandRequest:
    """Decode a request of this protocol version; check `parse_version` first. Raises MalformedCommand."""
    parts = [_unescape(part) for part in line.rstrip(b"\n").split(_FIELD_SEPARATOR)]
    fields = [part.decode("utf-8", "replace") for part in parts[2:7]]
    if len(fields) < 5 or not fields[1].isdecimal():
        raise MalformedCommand("not a command request")
    is_robot, width, is_terminal, colour, cwd = fields[:5]
    terminal = TerminalInfo(min(int(width[:6]), 10_000), is_terminal == "1", colour == "1")
    # Commands that start programs take any bytes; the dispatcher replaces what is not UTF-8 for all others.
    words = tuple(part.decode("utf-8", "surrogateescape") for part in parts[7:])
    return CommandRequest(words, is_robot == "1", cwd, terminal).with_input(_decode_input(parts[1]))


def parse_version(line: bytes) -> int:
    number = line[1:].split(_FIELD_SEPARATOR, 1)[0].strip()
    if line[:1] != b"!" or not number.isdigit() or len(number) > 6:
        raise MalformedCommand("not a command request")
    return int(number)


def describe_mismatch(client: int, daemon: int) -> str:
    """Return the error message for a client and a daemon with different protocol versions."""
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
    """Encode bytes for stdout (``o``) or stderr (``e``) as frames of limited size."""
    pieces = (data[start : start + MAX_FRAME_BYTES] for start in range(0, len(data), MAX_FRAME_BYTES))
    return b"".join(encode_frame(kind, len(piece)) + piece for piece in pieces)


class FrameDecoder:
    """Decode frames from arbitrary chunks of bytes."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, chunk: bytes) -> "list[tuple[bytes, int, bytes]]":
        """Return the frames completed by this chunk, as (kind, number, body). Raises MalformedCommand."""
        self._buffer += chunk
        frames = []
        while (frame := self._next_frame()) is not None:
            frames.append(frame)
        return frames

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
    return b"!" + input_text.error.encode("utf-8", "replace") if input_text.error else b"=" + input_text.data


def _decode_input(field: bytes) -> "InputText | None":
    if field[:1] == b"!":
        return InputText(error=field[1:].decode("utf-8", "replace"))
    return InputText(field[1:]) if field else None


def _escape(data: bytes) -> bytes:
    return data.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(_FIELD_SEPARATOR, b"\\s")


def _unescape(data: bytes) -> bytes:
    parts = (part.replace(b"\\n", b"\n").replace(b"\\s", _FIELD_SEPARATOR) for part in data.split(b"\\\\"))
    return b"\\".join(parts)
