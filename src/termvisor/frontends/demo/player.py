"""Plays one scene in its pane: `python -m termvisor.frontends.demo.player build`.

A program of the demo prints its beats over and over. An agent of the demo is called like its program, heeds keys, and
ends when it is told to.
"""

import contextlib
import os
import select
import sys
import time
import tty
from collections.abc import Callable, Iterator
from itertools import count

from termvisor.frontends.demo.fake_agents import AGENTS, Play
from termvisor.frontends.demo.scenes import SCENES, Beat

_COMM = "/proc/self/comm"
"""What the kernel calls this process."""


def play(beats: Iterator[Beat], rest: Callable[[float], None]) -> None:
    for text, seconds in beats:
        _print(text)
        rest(seconds)


def act(part: Play, listen: Callable[[float | None], bytes]) -> None:
    """``listen`` answers with the keys that came within so many seconds."""
    with contextlib.suppress(StopIteration):
        text, seconds = next(part)
        while True:
            _print(text)
            text, seconds = part.send(listen(seconds))


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _listen(seconds: float | None) -> bytes:
    ready, _, _ = select.select([0], [], [], seconds)
    return os.read(0, 4096) if ready else b""


def _be_called(name: str) -> None:
    """By the kernel and on the command line; Python finds its own things by the environment then."""
    if sys.orig_argv[0] != name:
        path = os.pathsep.join(filter(None, sys.path))
        found = {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": path}
        os.execve(sys.executable, [name, *sys.orig_argv[1:]], os.environ | found)  # noqa: S606, TID251 - not the product
    with contextlib.suppress(OSError), open(_COMM, "w") as file:
        file.write(name)


def main() -> None:
    name = sys.argv[1]
    if name in AGENTS:
        _be_called(name)
        tty.setraw(0)
        act(AGENTS[name](), _listen)
        return
    for number in count():
        play(SCENES[name](number), time.sleep)  # noqa: TID251 - a scripted program in a pane, not part of the product


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
