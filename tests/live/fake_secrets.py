"""Fake secrets of many kinds, built at run time, and a program that prints them in several modes.

A leak is detected by pieces of the secret: a mask keeps the provider's prefix, and a cut row may keep a few characters
after it.
"""

import random
import re
import string
import sys
from pathlib import Path

from termvisor.redaction.provider_prefixes import PROVIDER_KINDS
from termvisor.redaction.secret_kind import SecretKind

_CHARACTER_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_PIECE_CHARS, _STRIDE_CHARS = 9, 5

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
def smear(together=8):
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
def mark(row):
    # In a title, a folder, a command line and a notification.
    say(f"\x1b]2;{row}\x07\x1b]7;file://host/tmp/{row}/x\x07\x1b]133;A\x07$ \x1b]133;B\x07")
    say(f"\x1b]133;E;deploy {row} now\x07\x1b]133;C\x07out\r\n\x1b]133;D;1\x07\x1b]9;note {row}\x07")
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
    "smear_rest": smear,
    "rewrite": rewrite,
    "marks": lambda: [mark(row) for row in rows],
    "invisible": lambda: [say("\u200b".join(row) + "\r\n") for row in rows],
    "cells": lambda: [say("".join(f"\x1b[3{n % 7 + 1}m{cell}" for n, cell in enumerate(row)) + "\r\n") for row in rows],
}
WAYS[way]()
say(f"\r\nway-{way}-is-done\r\n")
"""
SHOW_MODES = (
    "print", "halves", "colours", "fold", "box", "paint", "smear", "smear_rest", "rewrite", "marks", "invisible",
    "cells",
)  # fmt: skip


class FakeSecret:
    """``text`` is the secret as printed, ``hidden`` the part that must be masked."""

    def __init__(self, kind: str, text: str, hidden: str):
        self.kind, self.text = kind, text
        body = hidden.lower()
        last = len(body) - _PIECE_CHARS
        self.pieces = {body[at : at + _PIECE_CHARS].encode() for at in (*range(0, last, _STRIDE_CHARS), last)}


def build_provider_secrets(seed: int = 7) -> list[FakeSecret]:
    """Build one secret of every provider kind, and a JWT."""
    rng = random.Random(seed)
    found = [_build_provider_secret(kind, rng) for kind in PROVIDER_KINDS]
    head, claims, sign = (_draw_characters("A-Za-z0-9", 40, rng) for _ in range(3))
    found.append(FakeSecret("jwt", f"eyJhbGciOi{head}.eyJ{claims}.{sign}", f"{claims}.{sign}"))
    return found


def build_context_secrets(seed: int = 8) -> list[FakeSecret]:
    """Build secrets that are only recognized by their context within one row."""
    rng = random.Random(seed)

    def build_secret(kind: str, text: str) -> FakeSecret:
        hidden = _draw_characters("A-Za-z0-9", 24, rng)
        return FakeSecret(kind, text.format(hidden), hidden)

    return [
        build_secret("bearer_token", "Authorization: Bearer {}"),
        build_secret("password_assignment", 'password = "{}"'),
        build_secret("secret_assignment", "export API_TOKEN={}"),
        build_secret("url_password", "postgres://me:{}@db.example/x"),
        build_secret("cookie", "Set-Cookie: session={}; Path=/"),
        build_secret("secret_flag", "deploy --token {} now"),
        build_secret("curl_user", "curl -u me:{} https://x.example"),
    ]


def _build_provider_secret(kind: SecretKind, rng: random.Random) -> FakeSecret:
    hidden = _draw_characters(kind.charset, kind.max_length or kind.min_length + 20, rng)
    return FakeSecret(kind.id, rng.choice(kind.prefixes) + hidden, hidden)


def _draw_characters(charset: str, length: int, rng: random.Random) -> str:
    """Return random characters that alternate between digits, lower and upper case, as far as the charset allows."""
    classes = [found for members in _CHARACTER_CLASSES if (found := re.findall(f"[{charset}]", members))]
    return "".join(rng.choice(classes[at % len(classes)]) for at in range(length))


def build_show_command(folder: str, show_mode: str, secrets: list[FakeSecret]) -> str:
    """Return the command line that prints the secrets."""
    script, rows = Path(folder) / "plant.py", Path(folder) / f"{show_mode}.rows"
    if not script.exists():  # another pane may be reading it
        script.write_text(_PROGRAM)
    rows.write_text("".join(f"{one.text}\n" for one in secrets))
    return f"{sys.executable} -S {script} {show_mode} {rows}"


def find_leaked_kinds(data: bytes, secrets: list[FakeSecret]) -> list[str]:
    """Return the kinds with a piece in the data, ignoring case: the index stores lower case."""
    lower = data.lower()
    return [one.kind for one in secrets if any(piece in lower for piece in one.pieces)]
