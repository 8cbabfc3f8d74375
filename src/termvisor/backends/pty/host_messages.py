"""Values that the PTY host and its client exchange, parsed from the lines of the protocol."""

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from msgspec import Struct

from termvisor.pty_host.spec import ProgramSpec

ProgramState = Literal["held", "running", "exited"]


class ProgramExit(Struct, frozen=True):
    """How a program ended, as the kernel reported it to its parent."""

    code: int = -1
    """Exit status; -1 if a signal ended it."""
    signal: int = 0
    errno: int = 0
    """Why the program could not be executed; 0 if it was."""
    ended_at: int = 0
    user_us: int = 0
    system_us: int = 0
    rss_kb: int = 0


class HostedProgram(Struct, frozen=True):
    """A terminal of the host and the program in it."""

    number: int
    pid: int
    started_ticks: int
    state: ProgramState
    tty: str
    rows: int
    columns: int
    created_at: int = 0
    typed_at: int = 0
    """Time of the last key of an attached person; 0 if none has typed."""
    viewers: int = 0
    """Attached terminals."""
    tag: bytes = b""
    stream: str = ""
    """The pane and epoch that the recorder holds, as `7/12`; empty if it has not held any yet."""
    exit: ProgramExit | None = None


class TerminalFacts(Struct, frozen=True):
    """Input modes and foreground group of a terminal; ``output`` counts bytes that the recorder has not read."""

    group: int
    is_canonical: bool
    echoes: bool
    output: int


class HostRefusal(Struct, frozen=True):
    """The condition that failed, and what the host found. Nothing was changed."""

    what: str
    actual: str


class HostGuard(Struct, frozen=True, omit_defaults=True):
    """Conditions that the host checks in one step with the change. None is not checked."""

    pid: int | None = None
    group: int | None = None
    """The foreground process group of the terminal."""
    canonical: bool | None = None
    echo: bool | None = None
    output: int | None = None
    """Bytes that the program has printed and the recorder has not read: 0 before a change that depends on a screen."""
    log: int | None = None
    """End offset of the raw log. Check it after ``output``, as the order of these fields does."""
    typed: int | None = None
    """Time of the last key of an attached person."""

    def encode(self) -> str:
        """Format for the protocol, in the order of the fields."""
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return ",".join(f"{name}={int(value)}" for name, value in values if value is not None) or "-"


def build_spec(
    argv: Sequence[str | bytes],
    *,
    cwd: str,
    env: Mapping[str, str],
    rows: int,
    columns: int,
    tag: bytes = b"",
) -> bytes:
    """Encode a program to start. Raises ValueError for a word that contains a NUL byte."""
    words = [_encode_word(word) for word in argv]
    variables = [_encode_word(f"{name}={value}") for name, value in env.items()]
    if not words or any(b"\0" in word for word in [*words, *variables, _encode_word(cwd)]):
        raise ValueError("an argument or variable is missing or contains a NUL byte")
    return ProgramSpec(words, variables, cwd=_encode_word(cwd), size=(rows, columns, 0, 0), tag=tag).encode()


def parse_program(number: str, words: Sequence[str]) -> HostedProgram:
    row = dict(word.split("=", 1) for word in words)
    is_ended = row["state"] == "exited"
    return HostedProgram(
        number=int(number),
        pid=int(row["pid"]),
        started_ticks=int(row["start"]),
        state=cast(ProgramState, row["state"]),
        tty=row["tty"],
        rows=int(row["rows"]),
        columns=int(row["columns"]),
        created_at=int(row["created"]),
        typed_at=int(row["typed"]),
        viewers=int(row.get("viewers", "0")),
        tag=bytes.fromhex(row["tag"]),
        stream=row["stream"],
        exit=parse_exit(row) if is_ended else None,
    )


def parse_exit(row: Mapping[str, str]) -> ProgramExit:
    return ProgramExit(
        code=int(row.get("code", "-1")),
        signal=int(row.get("signal", "0")),
        errno=int(row.get("errno", "0")),
        ended_at=int(row.get("ended", "0")),
        user_us=int(row.get("user_us", "0")),
        system_us=int(row.get("system_us", "0")),
        rss_kb=int(row.get("rss_kb", "0")),
    )


def parse_facts(words: Sequence[str]) -> TerminalFacts:
    row = dict(word.split("=", 1) for word in words)
    return TerminalFacts(
        group=int(row["group"]),
        is_canonical=row["canonical"] == "1",
        echoes=row["echo"] == "1",
        output=int(row["output"]),
    )


def _encode_word(word: str | bytes) -> bytes:
    return word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape")
