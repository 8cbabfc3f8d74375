"""A program that floods a pane with hostile output and then prints an end marker."""

import sys
from pathlib import Path

_PROGRAM = r"""
import os, random, sys, termios, time, tty
KEY_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
kind, amount = sys.argv[1], int(float(sys.argv[2]))
cooked = termios.tcgetattr(0)
tty.setraw(0)
def say(data):
    while data: data = data[os.write(1, data):]
def much(unit):
    piece = unit * (65536 // len(unit))
    for _ in range(amount // len(piece)): say(piece)
def key(length):
    return bytes(random.choices(KEY_CHARACTERS, k=length))
def paced(data):
    # Ten times a second, until about ``amount`` bytes are printed.
    for _ in range(max(1, amount // len(data))):
        began = time.monotonic()
        say(data)
        time.sleep(max(0, 0.1 - (time.monotonic() - began)))
FLOODS = {
    "osc": lambda: (say(b"\x1b]0;"), much(b"never ended "), say(b"\x07")),
    "dcs": lambda: (say(b"\x1bP"), much(b"\x07never\nended "), say(b"\x1b\\")),
    "line": lambda: much(b"without a newline "),
    "digits": lambda: (say(b"\x1b["), much(b"1;"), say(b"m")),
    "nuls": lambda: much(b"\x00"),
    "c1": lambda: much(b"\x80\x85\x9b31m\x9d0;t\x9c\x9f\xc2\x9b\xff\xfe"),
    "broken": lambda: much(b"\xe2\x82\xf0\x9f\xc3(\xed\xa0\x80\xf8\x88 "),
    "bells": lambda: much(b"\x07"),
    "tabs": lambda: much(b"\t"),
    "returns": lambda: much(b"\r"),
    "marks": lambda: much(b"\x1b]133;A\x07\x1b]133;D;0\x07"),
    "titles": lambda: much(b"\x1b]2;a title\x07"),
    "variables": lambda: much(b"\x1b]1337;SetUserVar=visor-event=e30=\x07"),
    "screens": lambda: much(b"\x1b[?1049hx\x1b[?1049l"),
    "moves": lambda: much(b"\x1b[5;9Hx\x1b[A"),
    "passthrough": lambda: much(b"\x1bPtmux;\x1b\x1b]133;A\x07\x1b\\"),
    "keys": lambda: paced(b"".join(b"TOKEN=ghp_%s api_key: %s\r\n" % (key(36), key(24)) for _ in range(900))),
    "noise": lambda: paced(random.Random(7).randbytes(200_000)),
    "tiny": lambda: [os.write(1, b"x") for _ in range(amount)],
}
FLOODS[kind]()
termios.tcsetattr(0, termios.TCSAFLUSH, cooked)  # with it goes what the terminal answered
say(b"\x18\x1b\\\x07\r\n\x1b[K" + kind.encode() + b"-flood-is-over\r\n")  # in a row without older text
"""


FLOOD_KINDS = tuple(line.split('"')[1] for line in _PROGRAM.splitlines() if line.startswith('    "'))


def build_flood_command(folder: str, kind: str, amount: float) -> str:
    """Return the command line that prints about ``amount`` bytes; for `tiny`, ``amount`` writes."""
    script = Path(folder) / "flood.py"
    if not script.exists():
        script.write_text(_PROGRAM)
    return f"{sys.executable} -S {script} {kind} {amount:g}"
