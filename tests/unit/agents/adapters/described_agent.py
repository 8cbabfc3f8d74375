"""A described agent: a program with a composer, work and a permission dialog, and the file that describes it."""

from pathlib import Path

PROGRAM_NAME = "toy-coder"
AGENT = "toy_coder"
DESCRIPTION = """\
about = "A toy for tests"
proven = ["1.0"]
start = ["toy-coder"]
title = '^Toy Coder\\b'

[process]
programs = ["toy-coder"]
scripts = ['/toy-coder$']
excluded = ["login"]

[session]
resume = ["toy-coder", "--resume", "{}"]
pattern = 'toy-\\d+'
options = ["--resume"]

[composer]
placeholders = ['Ask the toy']

[keys]
interrupt = ["Escape"]
exit = ["C-d"]
"""
PROGRAM_SCRIPT = r"""
import os, sys, termios, tty

RULE = "─" * 60
text, shown, selected, log = "", "composer", 0, []
OPTIONS = ("Yes", "Yes, and don't ask again", "No")

def draw():
    out = ["\x1b[H\x1b[2J", *(f"{row}\r\n" for row in log[-6:])]
    if shown == "dialog":
        out += ["\r\n", RULE, "\r\n  Run this command?\r\n  touch made\r\n\r\n  Do you want to proceed?\r\n"]
        for number, label in enumerate(OPTIONS):
            out.append(f"  {'❯' if number == selected else ' '} {number + 1}. {label}\r\n")
        out.append("\r\n  Enter to select · Esc to cancel")
    else:
        if shown == "work":
            out.append("\r\n✻ Thinking… (3s · esc to interrupt)\r\n")
        out += ["\r\n", RULE, f"\r\n> {text or 'Ask the toy'}\r\n", RULE, "\r\n  toy model"]
        out.append(f"\x1b[2A\r\x1b[{2 + len(text)}C")
    sys.stdout.write("".join(out))
    sys.stdout.flush()

before = termios.tcgetattr(0)
tty.setraw(0)
try:
    draw()
    while (key := os.read(0, 1024)) != b"\x04":
        if shown == "dialog":
            step = {b"\x1b[B": 1, b"\x1bOB": 1, b"\x1b[A": -1, b"\x1bOA": -1}.get(key, 0)
            selected = max(0, min(2, selected + step))
            if key == b"\r":
                log.append(f"● {OPTIONS[selected]} was chosen")
                if selected == 0:
                    open("made", "w").close()
                shown, selected = "composer", 0
        elif key == b"\x1b":
            if shown == "work":
                log.append("● Interrupted by the user")
            shown = "composer"
        elif key.endswith(b"\r"):
            text += key[:-1].decode()
            log.append(f"> {text}")
            shown = {"work": "work", "ask": "dialog"}.get(text, "composer")
            selected = 2 if shown == "dialog" else 0
            if shown == "composer":
                log += ["", f"● You said {text}."]
            text = ""
        else:
            text += key.replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"").decode()
        draw()
finally:
    termios.tcsetattr(0, termios.TCSANOW, before)
"""


def write_program(folder: Path) -> str:
    """Write the program to a folder and return its path."""
    path = folder / PROGRAM_NAME
    path.write_text(PROGRAM_SCRIPT)
    return str(path)


def write_description(config_dir: str, text: str = DESCRIPTION) -> Path:
    """Write the description to the user's folder and return its path."""
    path = Path(config_dir) / "agents" / f"{AGENT}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
