"""Play one demo scene in its pane: `python -m termvisor.frontends.demo.player build`.

A scene prints its output repeatedly. A fake agent has the real agent's process name, reacts to keys and exits on its
exit command.
"""

import contextlib
import os
import select
import signal
import sys
import time
import tty
from collections.abc import Callable, Iterator
from itertools import count

from termvisor.frontends.demo.fake_agents import DEMO_AGENTS, REDRAW_KEY, AgentScript
from termvisor.frontends.demo.scenes import DEMO_SCENES, SceneBeat

_PROCESS_NAME_FILE = "/proc/self/comm"


def play_scene(beats: Iterator[SceneBeat], sleep: Callable[[float], None]) -> None:
    for text, seconds in beats:
        _write_stdout(text)
        sleep(seconds)


def play_agent(script: AgentScript, read_keys: Callable[[float | None], bytes]) -> None:
    """Run a script. ``read_keys`` returns the keys typed within a timeout."""
    with contextlib.suppress(StopIteration):
        text, seconds = next(script)
        while True:
            _write_stdout(text)
            # A beat without time is followed by another screen, which the keys are for.
            text, seconds = script.send(b"" if seconds == 0 else read_keys(seconds))


def _write_stdout(text: str) -> None:
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


class KeyReader:
    """Reads keys from a terminal. A resize counts as `REDRAW_KEY`, so that the script paints its screen again."""

    def __init__(self, source: int = 0):
        self._source = source
        self._resized, wake = os.pipe()
        os.set_blocking(wake, False)
        # Without a handler the signal would not write to the wakeup descriptor.
        signal.signal(signal.SIGWINCH, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def read(self, seconds: float | None) -> bytes:
        ready, _, _ = select.select([self._source, self._resized], [], [], seconds)
        if self._resized in ready:
            os.read(self._resized, 4096)
            return REDRAW_KEY
        return os.read(self._source, 4096) if ready else b""


def _set_process_name(name: str) -> None:
    """Set the name in argv[0] (by re-executing) and in the kernel's process name."""
    if sys.orig_argv[0] != name:
        # Python finds its prefix through argv[0]. Under another name it needs these variables.
        path = os.pathsep.join(filter(None, sys.path))
        variables = {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": path}
        os.execve(sys.executable, [name, *sys.orig_argv[1:]], os.environ | variables)  # noqa: S606, TID251 - not the product
    # Agents are recognized by their process name. Without /proc the demo still plays.
    with contextlib.suppress(OSError), open(_PROCESS_NAME_FILE, "w") as file:
        file.write(name)


def play_program(name: str) -> None:
    """Play the scene or agent of this name until it ends or Ctrl-C is pressed."""
    with contextlib.suppress(KeyboardInterrupt):
        if name not in DEMO_AGENTS:
            for number in count():
                play_scene(DEMO_SCENES[name](number), time.sleep)  # noqa: TID251 - a scripted program in a pane, not part of the product
        _set_process_name(name)
        tty.setraw(0)
        play_agent(DEMO_AGENTS[name](), KeyReader().read)
        return
    raise SystemExit(130)


if __name__ == "__main__":
    play_program(sys.argv[1])
