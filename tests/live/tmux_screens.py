"""Print bytes in real tmux panes and read their history back as lines; generate random terminal output."""

from random import Random

from msgspec import Struct

from termvisor.testing.private_tmux import PrivateTmux
from tests.live.polling import wait_until

_TEXTS = [
    *(b"word", b"abc def ", b"x", b"  ", b"0123456789", b"0123456789" * 3, "éè".encode(), "e\u0301".encode()),
    *("日本".encode(), "漢".encode()),
]
_SEQUENCES = [
    *(
        b"\r\n",
        b"\r\n",
        b"\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"\b",
        b"\t",
        b"\v",
        b"\x1bM",
        b"\x1bD",
        b"\x1bE",
        b"\x1b7",
        b"\x1b8",
    ),
    *(
        b"\x1b[31m",
        b"\x1b[?25l",
        b"\x1bH",
        b"\x1b[g",
        b"\x1b[r",
        b"\x1b[2;5r",
        b"\x1b[3;4r",
        b"\x1b[1;4r",
        b"\x1b[?6h",
        b"\x1b[?6l",
    ),
    *(b"\x1b[4h", b"\x1b[4l", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[J", b"\x1b[1J", b"\x1b[2J", b"\x1bc", b"\x1b#8"),
    *(b"\x1b[?1049hscreen\x1b[3;3H\x1b[?1049l", b"\x1b[?47hscreen\x1b[2;5H\x1b[?47l"),
]
_FINALS = b"ABCDEFGHJKLMPSTXZ@`dfb"
_PARAMETERS = [b"", b"1", b"2", b"3", b"5", b"12", b"99"]


class PrintedScreen(Struct, frozen=True):
    """Bytes that were printed at one size after the other, and the lines of tmux's history at the end."""

    parts: tuple[bytes, ...]
    sizes: tuple[tuple[int, int], ...]
    lines: list[str]


def print_in_panes(
    tmux: PrivateTmux, folder: str, programs: list[tuple[bytes, ...]], sizes: tuple[tuple[int, int], ...]
) -> list[PrintedScreen]:
    """Print the parts of each program in a pane of its own; the pane is resized before each part."""
    width, height = sizes[0]
    tmux.start_session("screens", "sleep 1000", width=width, height=height)
    tmux("set", "-g", "status", "off")
    panes = []
    for number, parts in enumerate(programs):
        commands = ["stty raw -echo -opost"]
        for index, part in enumerate(parts):
            path = f"{folder}/{number}-{index}"
            with open(path, "wb") as file:
                file.write(part + b"\x1b]2;printed-%d\x07" % index)
            commands.append(f"tmux -S {tmux.socket} wait-for go-{index}; cat {path}")
        panes.append(tmux.open_window("screens", "; ".join([*commands, "exec sleep 1000"])))
    for index, (columns, rows) in enumerate(sizes):
        for pane in panes:
            tmux("resize-window", "-t", pane, "-x", str(columns), "-y", str(rows))
        _print_part(tmux, panes, index)
    return [PrintedScreen(parts, sizes, _read_lines(tmux, pane)) for parts, pane in zip(programs, panes, strict=True)]


def _print_part(tmux: PrivateTmux, panes: list[str], index: int) -> None:
    """Let all panes print their next part. Panes that begin to wait late are woken again."""

    def is_printed() -> bool:
        tmux("wait-for", "-S", f"go-{index}")
        titles = tmux("list-panes", "-s", "-t", "=screens", "-F", "#{pane_title}").split("\n")
        return titles.count(f"printed-{index}") == len(panes)

    wait_until(is_printed)


def _read_lines(tmux: PrivateTmux, pane: str) -> list[str]:
    lines = [line.rstrip(" ") for line in tmux("capture-pane", "-pJ", "-S", "-", "-t", pane).split("\n")]
    return lines[: max((number + 1 for number, line in enumerate(lines) if line), default=0)]


def generate_output(random: Random) -> bytes:
    """Return random output. Left out is what differs from tmux on purpose.

    That is: equal screens cleared in succession, wide characters cut in half, and what mode 47 makes of the cursor of
    a screen entered by mode 1049.
    """
    return b"".join(_generate_piece(random) for _ in range(random.randint(3, 25)))


def _generate_piece(random: Random) -> bytes:
    kind = random.random()
    if kind < 0.45:
        return random.choice(_TEXTS)
    if kind < 0.75:
        return random.choice(_SEQUENCES)
    final = random.choice(_FINALS)
    if final in b"Hf":
        return b"\x1b[%d;%d%c" % (random.randint(1, 7), random.randint(1, 22), final)
    parameters = random.choice([b"", b"0", b"1"] if final in b"JK" else _PARAMETERS)
    return b"\x1b[%s%c" % (parameters, final)


def generate_lines(random: Random) -> bytes:
    """Return random lines and boxes that are painted again, as programs print them."""
    pieces = []
    for _ in range(random.randint(2, 12)):
        count = random.randint(1, 4)
        box = b"\r\n".join(b"row %d" % number for number in range(count)) + b"\r\n\x1b[%dA\x1b[2Knew\r\n" % count
        line = b"line %d " % random.randint(0, 99) + b"abcdefghij" * random.randint(0, 6) + b"\r\n"
        pieces.append(random.choice([line, line, line, box, b"partial text"]))
    return b"".join(pieces)
