"""Byte sequences and the lines that tmux shows for them in a pane of 6 rows, at 20, 40 and 80 columns.

A newline stands for CR LF, as a terminal in its normal mode prints it. Each sequence is followed by one more newline.
Lines are as of `capture-pane -pJ -S -`, without trailing blanks, trailing blank lines and U+FFFD.
"""

from msgspec import Struct

HEIGHT = 6
WIDTHS = (20, 40, 80)
DIGITS = "0123456789" * 5


class SeedSequence(Struct, frozen=True):
    """``narrow``, ``medium`` and ``wide`` are the lines at 20, 40 and 80 columns, separated by slashes."""

    data: bytes
    narrow: str
    medium: str
    wide: str
    is_raw: bool = False
    """True if a newline is a bare LF."""

    def encode(self) -> bytes:
        data = self.data + b"\n"
        return data if self.is_raw else data.replace(b"\n", b"\r\n")

    def list_lines(self, width: int) -> list[str]:
        return {20: self.narrow, 40: self.medium, 80: self.wide}[width].split("/")


def same(data: bytes, lines: str, *, is_raw: bool = False) -> SeedSequence:
    return SeedSequence(data, lines, lines, lines, is_raw)


SEEDS = [
    same(b"a\tb\n1234567\ty", "a       b/1234567 y"),
    same(b"abcdefghijk\x1b[ZX", "abcdefghXjk"),
    same(b"a long first text\rshort", "shortg first text"),
    same(b"a long first text\r\x1b[Kshort", "short"),
    SeedSequence(b"01234567890123456789abc\x1b[2Kx", "01234567890123456789/   x", " " * 23 + "x", " " * 23 + "x"),
    SeedSequence(
        b"01234567890123456789abc\rX", "01234567890123456789Xbc", "X1234567890123456789abc", "X1234567890123456789abc"
    ),
    same(b"01234567890123456789\bY", "0123456789012345678Y"),
    same(b"01234567890123456789\nnext", "01234567890123456789/next"),
    same(b"$ echo 0123456789abcdef\x1b[A\r\x1b[7CX\n", "$ echo X123456789abcdef"),
    same(b"0123456789012345678 \b:\x1b[K\r\x1b[Kabc", "abc"),
    same(b"one\ntwo", "one/   two", is_raw=True),
    same(b"page 1\fpage 2", "page 1/      page 2"),
    same(b"a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2", "a 2/b 2"),
    same(b"test one ...\n\x1b[A\x1b[12C ok", "test one ... ok"),
    same(b"l1\nl2\nl3\x1b[2FL1\x1b[EL2\n", "L1/L2/l3"),
    same(b"\x1b[2J\x1b[1;1Hrow1\x1b[3;1Hrow3\x1b[2;1Hrow2\x1b[5;1H", "row1/row2/row3"),
    same(b"one\ntwo\x1b[1LX\n", "one/   X/two"),
    same(b"one\ntwo\nthree\x1b[2A\x1b[M\x1b[2B", "two/three"),
    same(b"one\ntwo\n\x1bM\x1bMX\n", "Xne/two"),
    same(b"a\nb\n\x1b[H\x1b[Jc", "a/b/c"),
    same(b"a\nb\n\x1b[2J\x1b[Hc", "a/b/c"),
    same(b"top\n\x1b7\x1b[6;1fProgress 20%\x1b8mid", "top/mid////Progress 20%"),
    same(b"\x1b[2;4r\x1b[4;1Ha\nb\nc\nd\x1b[r\x1b[6;1H", "//a//b/c/d"),
    same(b"abcdef\x1b[3D\x1b[2@XY", "abcXYdef"),
    same(b"abcdef\x1b[4D\x1b[2P!", "ab!f"),
    same(b"abcdef\r\x1b[2Xgh", "ghcdef"),
    same(b"abcdef\x1b[3D\x1b[1KX", "   Xef"),
    same(b"echo wrld\x1b[3D\x1b[4ho\x1b[4l", "echo world"),
    same(b"=\x1b[9b", "=========="),
    SeedSequence(
        b"left\x1b[999C\x1b[4Dright",
        "left" + " " * 11 + "right",
        "left" + " " * 31 + "right",
        "left" + " " * 71 + "right",
    ),
    SeedSequence(
        b"\x1b[?7l0123456789012345678901234567890123456789012ABC\x1b[?7h",
        DIGITS[:19] + "C",
        DIGITS[:39] + "C",
        DIGITS[:43] + "ABC",
    ),
    same(b"prompt$ \x1b[?1049h\x1b[Hx\x1b[?1049lback", "prompt$ back"),
    same(b"before\n\x1bcafter", "before/after"),
    same(b"a\x1b[3\n1mb", "a/b"),
    same(b"a\x1b[31\x18mb", "amb"),
    same(b"\x1b]0;never\nend\x07then", "then"),
    same(b"caf\x90 one\ntwo", "caf one/two"),
    same(b"sm\x9brrebr\x9bd", "smrrebrd"),
    same(b"\x84Zitat\x85 Ende", "Zitat Ende"),
    same(b"abc\xe6\x97 def\xc3\nnext", "abc def/next"),
    same(b"\xc2\x9b1mx\xc2\x85y", "1mxy"),
    same("e\u0301e\u0301abc\rXY".encode(), "XYabc"),
    same("0123456789012345678漢y".encode(), "0123456789012345678漢y"),
    same("漢字\bY".encode(), "漢 Y"),
    same(b"\x1b[2K\x1b[1A\x1b[2K\x1b[Gbox 1\nrow\n\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[Gbox 2\nrow", "box 2/row"),
]
