"""A shell that reads the input of a pane is recognised by its processes."""

import os
import shutil

import pytest

from termvisor.system.foreground_shell import is_in_foreground, is_shell_reading
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.unit.wait_until import wait_until

READ = "import sys; print(6 * 7, flush=True); sys.stdin.read()"


@pytest.fixture(scope="module")
def tmux():
    with make_short_folder() as folder, run_private_tmux(folder) as server:
        server.start_session()
        shutil.copy(os.path.realpath("/bin/bash"), f"{folder}/lesser")
        with open(f"{folder}/wrapper", "w") as file:
            file.write("#!/bin/bash\npython3 -c '" + READ + "'\n:\n")
        os.chmod(f"{folder}/wrapper", 0o755)
        server.folder = folder
        yield server


async def start(tmux, command: str, shows: str) -> tuple[str, int]:
    """Run a command in a pane and return the pane and its process once the pane shows this text."""
    pane = tmux.open_window("work", command)
    await wait_until(lambda: shows in tmux("capture-pane", "-p", "-t", pane))
    return pane, int(tmux.read_format(pane, "#{pane_pid}"))


@pytest.mark.parametrize(
    "command",
    [
        "env PS1=ready: bash --norc -i",
        "env PS1=ready: bash --norc -ic 'env PS1=ready: bash --norc -i; :'",
        "env PS1=ready: {folder}/lesser --norc -i",
        "exec -a python3 env PS1=ready: {folder}/lesser --norc -i",
        "script -qc 'env PS1=ready: bash --norc -i' /dev/null",
        "bash -c 'echo ready:; read -r line; eval \"$line\"'",
    ],
)
async def test_a_shell_reads(tmux, command):
    _, pid = await start(tmux, f"bash -c {quote(command.format(folder=tmux.folder))}", "ready:")
    await wait_until(lambda: is_shell_reading(pid))


@pytest.mark.parametrize(
    "command", ["exec cat <(echo 42) -", "python3 -c '" + READ + "'", "{folder}/wrapper", "exec sleep 600"]
)
async def test_another_program_reads(tmux, command):
    shows = "" if "sleep" in command else "42"
    _, pid = await start(tmux, f"bash -c {quote(command.format(folder=tmux.folder))}", shows)
    await wait_until(lambda: not is_shell_reading(pid))


async def test_an_agents_shell_without_the_terminal_does_not_read(tmux):
    script = "import subprocess as s; print(42, flush=True); s.Popen(['bash', '-c', 'read x'], stdin=s.PIPE).wait()"
    _, pid = await start(tmux, f"exec python3 -c {quote(script)}", "42")
    assert not is_shell_reading(pid)


async def test_only_the_shell_in_front_is_in_the_foreground(tmux):
    pane, shell = await start(tmux, "exec env PS1=ready: bash --norc -i", "ready:")
    assert is_in_foreground(shell, shell)
    assert not is_in_foreground(os.getpid(), shell)
    tmux.type_line(pane, "sleep 600")
    await wait_until(lambda: not is_in_foreground(shell, shell))
    await wait_until(lambda: not is_shell_reading(shell))


def test_a_process_that_is_gone_reads_nothing():
    assert not is_shell_reading(2**22 + 1)


def quote(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
