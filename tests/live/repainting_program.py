"""A repainting program with a spinner, a transcript and an input box, controlled by lines in a file."""

import os
import sys
from pathlib import Path

_PROGRAM = r"""
import os, sys, time
instruction_file, name, screen, updates = sys.argv[1:]
is_main, is_synced = screen == "main", updates == "sync"
transcript, typed, frame, done, lines = [], "", 0, 0, 0
height = os.get_terminal_size().lines
def out(text): os.write(1, text.encode())
def read_instructions():
    try: return open(instruction_file, encoding="utf-8").read().split("\n")[:-1]
    except FileNotFoundError: return []
def rows():
    status = "⠋⠙⠹⠸⠼⠴"[frame % 6] + f" Thinking… {frame}s (esc to interrupt)"
    box = ["─" * 60, "❯ " + typed, "─" * 60]
    return [f"Agent {name} says hello"] + transcript[-(height - 8):] + [status] + box + ["  ? for shortcuts"]
def picture(shown):
    if is_main:
        return ("\x1b[%dA" % (lines - 1) if lines > 1 else "") + "\r\x1b[J" + "\r\n".join(shown)
    cursor = "\x1b[%d;%dH" % (len(shown) - 2, 3 + len(typed))
    return "\x1b[H" + "\r\n".join(row + "\x1b[K" for row in shown) + "\x1b[J" + cursor
if not is_main: out("\x1b[?1049h")
while True:
    for word, _, text in (line.partition(" ") for line in read_instructions()[done:]):
        done += 1
        if word == "say": transcript.append(text)
        elif word == "type": typed = text
        elif word == "quit":
            if not is_main: out("\x1b[?1049l")
            sys.exit()
    frame += 1
    shown = rows()
    out("\x1b[?2026h" + picture(shown) + "\x1b[?2026l" if is_synced else picture(shown))
    lines = len(shown)
    time.sleep(0.1)
"""


class RepaintingProgram:
    """A repainting program on the alternate or main screen, with or without synchronized updates."""

    def __init__(self, folder: str, name: str, *, screen: str = "alternate", sync: bool = False):
        self._folder, self.name = Path(folder), name
        self._options = (screen, "sync" if sync else "plain")

    @property
    def command_line(self) -> str:
        script = self._folder / "painter.py"
        if not script.exists():
            script.write_text(_PROGRAM)
        return f"{sys.executable} -S {script} {self._folder}/{self.name} {self.name} {' '.join(self._options)}"

    def add_row(self, text: str) -> None:
        """Add a row to its transcript."""
        self._send_instruction(f"say {text}")

    def set_input(self, text: str) -> None:
        """Set the text of its input box."""
        self._send_instruction(f"type {text}")

    def quit(self) -> None:
        self._send_instruction("quit")

    def _send_instruction(self, line: str) -> None:
        with open(self._folder / self.name, "a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
