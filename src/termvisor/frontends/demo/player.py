"""Plays one scene in its pane, over and over: `python -m termvisor.frontends.demo.player build`."""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

from termvisor.frontends.demo.scenes import SCENES, Beat


def play(beats: Iterator[Beat], rest: Callable[[float], None]) -> None:
    for text, seconds in beats:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        rest(seconds)


def main() -> None:
    scene = SCENES[sys.argv[1]]
    for number in count():
        play(scene(number), time.sleep)  # noqa: TID251 - a scripted program in a pane, not part of the product


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
