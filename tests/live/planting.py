"""Made-up secrets of many kinds, put together at run time, and a program that shows them in several ways.

Whether one came out is judged by telling pieces of it: a mask keeps the provider's prefix, and a cut row may keep a
few characters behind it.
"""

import random
import re
import string
import sys
from pathlib import Path

from termvisor.redaction.provider_prefixes import PROVIDERS
from termvisor.redaction.secret_kind import Kind

_MEMBERS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_PIECE, _STRIDE = 9, 5

_PROGRAM = r"""
import os, subprocess, sys, time
way, rows = sys.argv[1], open(sys.argv[2]).read().split("\n")[:-1]
def say(text): os.write(1, text.encode())
def box(text, width=40):
    parts = [text[at:at + width] for at in range(0, len(text), width)]
    return "".join("│ " + part.ljust(width) + " │\r\n" for part in parts)
def paint(width=50):
    # Eight at a time, each eight over the last, without a blank screen between: what the shorter ones leave stays.
    say("\x1b[?1049h\x1b[H\x1b[2J")
    for at in range(0, len(rows), 8):
        shown = [row[start:start + width] for row in rows[at:at + 8] for start in range(0, len(row), width)]
        say("".join(f"\x1b[{n + 2};3H{part}" for n, part in enumerate(shown)))
        time.sleep(0.6)
    say("\x1b[?1049l")
def smear(together=6):
    # The terminal wraps them; then words are painted over the beginning of each, before anybody looks or after.
    say("\x1b[?1049h\x1b[H\x1b[2J")
    for at in range(0, len(rows), together):
        some = rows[at:at + together]
        say("".join(f"\x1b[{n * 5 + 1};1H\x1b[J{row}" for n, row in enumerate(some)))
        time.sleep(0.7 * (at // together % 2))
        say("".join(f"\x1b[{n * 5 + 1};1Hworking on it" for n, _ in enumerate(some)))
        time.sleep(0.7)
    say("\x1b[?1049l")
def rewrite():
    # On the main screen: over the beginning, the end, the middle, or what follows the head; then rows are repainted.
    over = ["\rworking on it", "\x1b[9D and so on", "\x1b[15D no \x1b[15C", "\x1b[6D\x1b[6P ok"]
    for n, row in enumerate(rows):
        say(f"{row}{over[n % 4]}\r\n")
        say(f"{row}\r\n\x1b[Aabove\x1b[B\r{row[20:45]}\r\n{row[-12:]} was its end\r\n")
WAYS = {
    "print": lambda: [say(f"the key is {row} end\r\n") for row in rows],
    "halves": lambda: [
        (say(f"a {row[:len(row) // 2]}"), time.sleep(0.02), say(f"{row[len(row) // 2:]} z\r\n")) for row in rows
    ],
    "colours": lambda: subprocess.run(["grep", "--color=always", "-E", "[a-m3-7]+", sys.argv[2]]),
    "fold": lambda: subprocess.run(["fold", "-w", "37", sys.argv[2]]),
    "box": lambda: [say(box(row)) for row in rows],
    "paint": paint,
    "smear": smear,
    "rewrite": rewrite,
}
WAYS[way]()
say(f"\r\nway-{way}-is-done\r\n")
"""
WAYS = ("print", "halves", "colours", "fold", "box", "paint", "smear", "rewrite")


class Planted:
    """``text`` is the secret as it is shown, ``hidden`` the part of it that must not be seen."""

    def __init__(self, kind: str, text: str, hidden: str):
        self.kind, self.text = kind, text
        body = hidden.lower()
        last = len(body) - _PIECE
        self.pieces = {body[at : at + _PIECE].encode() for at in (*range(0, last, _STRIDE), last)}


def planted(seed: int = 7) -> list[Planted]:
    """One of every provider's kind, and some that are recognised by what stands around them."""
    draw = random.Random(seed)
    found = [_of(kind, draw) for kind in PROVIDERS]
    head, claims, sign = (_body("A-Za-z0-9", 40, draw) for _ in range(3))
    found.append(Planted("jwt", f"eyJhbGciOi{head}.eyJ{claims}.{sign}", f"{claims}.{sign}"))
    return found


def in_forms(seed: int = 8) -> list[Planted]:
    """Those that only their surroundings give away; they are looked for within one row."""
    draw = random.Random(seed)

    def form(kind: str, text: str) -> Planted:
        hidden = _body("A-Za-z0-9", 24, draw)
        return Planted(kind, text.format(hidden), hidden)

    return [
        form("bearer_token", "Authorization: Bearer {}"),
        form("password_assignment", 'password = "{}"'),
        form("secret_assignment", "export API_TOKEN={}"),
        form("url_password", "postgres://me:{}@db.example/x"),
        form("cookie", "Set-Cookie: session={}; Path=/"),
        form("secret_flag", "deploy --token {} now"),
        form("curl_user", "curl -u me:{} https://x.example"),
    ]


def _of(kind: Kind, draw: random.Random) -> Planted:
    hidden = _body(kind.charset, kind.high or kind.low + 20, draw)
    return Planted(kind.id, draw.choice(kind.prefixes) + hidden, hidden)


def _body(charset: str, length: int, draw: random.Random) -> str:
    """Looks random: digits, lower and upper case in turn, where the kind has them."""
    classes = [found for members in _MEMBERS if (found := re.findall(f"[{charset}]", members))]
    return "".join(draw.choice(classes[at % len(classes)]) for at in range(length))


def show(folder: str, way: str, secrets: list[Planted]) -> str:
    """The command line that shows them."""
    script, rows = Path(folder) / "plant.py", Path(folder) / f"{way}.rows"
    if not script.exists():  # another pane may be reading it just now
        script.write_text(_PROGRAM)
    rows.write_text("".join(f"{one.text}\n" for one in secrets))
    return f"{sys.executable} -S {script} {way} {rows}"


def leaked(data: bytes, secrets: list[Planted]) -> list[str]:
    """The kinds of which a telling piece stands there, in any case: the index keeps words in lower case."""
    lower = data.lower()
    return [one.kind for one in secrets if any(piece in lower for piece in one.pieces)]
