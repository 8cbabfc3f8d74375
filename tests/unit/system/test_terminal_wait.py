"""Which programs wait for input, told by the kernel. The table of all programs is in tests/live."""

import os
import pty
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.system.terminal_wait import TerminalWait, probe_terminal
from tests.unit.wait_until import wait_until

PYTHON = (sys.executable, "-IS", "-c")


@contextmanager
def run_in_terminal(*argv: str) -> Iterator[int]:
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


async def wait_for(pid: int, level: str) -> TerminalWait:
    await wait_until(lambda: probe_terminal(pid).level == level)
    return probe_terminal(pid)


@pytest.mark.parametrize(
    ("argv", "level"),
    [
        (("bash", "-c", "read x"), "reads"),
        (("cat",), "reads"),
        ((*PYTHON, "import select; select.select([0], [], [])"), "polls"),
        ((*PYTHON, "import select; p = select.poll(); p.register(0, 1); p.poll()"), "polls"),
        ((*PYTHON, "import select; p = select.epoll(); p.register(0, 1); p.poll()"), "polls"),
        (("sleep", "100"), "no"),
        (("sh", "-c", "sleep 100 | cat"), "no"),
        ((*PYTHON, "while True: pass"), "no"),
    ],
)
async def test_the_kernel_tells_what_a_program_does_with_its_input(argv, level) -> None:
    with run_in_terminal(*argv) as pid:
        assert (await wait_for(pid, level)).unread == 0


async def test_a_secret_is_asked_for_where_a_line_is_not_shown() -> None:
    with run_in_terminal("bash", "-c", "read -s x") as pid:
        assert (await wait_for(pid, "reads")).asks_secret
    with run_in_terminal("cat") as pid:
        assert not (await wait_for(pid, "reads")).asks_secret


def test_a_process_without_a_terminal_is_unknown() -> None:
    assert probe_terminal(2**22 + 1).level == "unknown"
