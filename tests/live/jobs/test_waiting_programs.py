"""Which real programs count as waiting for input: proven by the kernel, never guessed."""

import os
import pty
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.jobs.status import JobObservation, find_wait_evidence
from termvisor.system.terminal_wait import TerminalWait, probe_terminal
from tests.live.polling import wait_until

pytestmark = pytest.mark.live
WAITING = {
    "bash read": ("bash", "-c", "read x"),
    "bash read -s": ("bash", "-c", "read -s x"),
    "bash read -n1": ("bash", "-c", "read -n1 x"),
    "dash read": ("dash", "-c", "read x"),
    "zsh read": ("zsh", "-fc", "read x"),
    "zsh prompt": ("zsh", "-fi"),
    "python input": ("/usr/bin/env", "python3", "-c", "input('? ')"),
    "python getpass": ("/usr/bin/env", "python3", "-c", "import getpass; getpass.getpass()"),
    "less": ("less", "/etc/services"),
    "cat": ("cat",),
    "rm -i": ("sh", "-c", "f=$(mktemp); exec rm -i $f"),
    "passwd": ("passwd",),
    "tee": ("tee", "/dev/null"),
    "head": ("head", "-n1"),
}
WORKING = {
    "sleep": ("sleep", "1000"),
    "pipe": ("sh", "-c", "sleep 1000 | cat"),
    "python loop": ("/usr/bin/env", "python3", "-c", "while True: pass"),
    "python sleep": ("/usr/bin/env", "python3", "-c", "import time; time.sleep(1000)"),
    "python socket": ("/usr/bin/env", "python3", "-c", "import socket as s; a, b = s.socketpair(); a.recv(1)"),
    "tail -f": ("tail", "-f", "/dev/null"),
    "process tree": ("sh", "-c", "sh -c 'sh -c \"sleep 1000\"; true'; true"),
    "background reader": ("bash", "-ic", "cat & sleep 1000"),
    "node timer": ("node", "-e", "setInterval(() => {}, 50)"),
    "node loop": ("node", "-e", "for (;;) {}"),
    "node spinner": ("node", "-e", "process.stdin.setRawMode(true); process.stdin.resume(); setInterval(() => {}, 80)"),
    "find": ("sh", "-c", "while :; do find /usr/share > /dev/null; done"),
    "top": ("top",),
}
POLLING = {
    "bash prompt": ("bash", "--norc", "-i"),
    "fish prompt": ("fish", "--no-config", "-i"),
    "bash read -t": ("bash", "-c", "read -t 1000 x"),
    "python prompt": ("/usr/bin/env", "python3", "-i", "-c", ""),
    "node prompt": ("node", "-i"),
    "node readline": (
        "node",
        "-e",
        "require('readline').createInterface({input: process.stdin}).question('? ', () => {})",
    ),
    "vim": ("vim", "-u", "NONE", "-N"),
    "gdb": ("gdb", "-q", "-nx"),
    "script": ("script", "-qc", "cat", "/dev/null"),
}
SAMPLES, SAMPLE_INTERVAL_S = 8, 0.05


@contextmanager
def run_in_terminal(argv: tuple[str, ...]) -> Iterator[int]:
    assert shutil.which(argv[0]), f"{argv[0]} is missing: .ci/setup live installs it"
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(argv[0], argv)
    os.set_blocking(master, False)
    try:
        # It must be drained, or a program that prints much stops at it.
        wait_until(lambda: drain(master) and probe_terminal(pid).group != 0)
        time.sleep(0.3)
        drain(master)
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


def drain(master: int) -> bool:
    try:
        while os.read(master, 65536):
            continue
    except OSError:  # nothing more now
        return True
    return True


def find_evidence(pid: int) -> str | None:
    return find_wait_evidence(JobObservation(wait=probe_terminal(pid), quiet_s=1.0))


def sample_evidence(pid: int) -> set[str | None]:
    found = set()
    for _ in range(SAMPLES):
        found.add(find_evidence(pid))
        time.sleep(SAMPLE_INTERVAL_S)
    return found


@pytest.mark.parametrize("name", WAITING)
def test_a_program_that_reads_its_terminal_waits(name):
    with run_in_terminal(WAITING[name]) as pid:
        assert wait_until(lambda: find_evidence(pid)) in ("reads_terminal", "secret_prompt")


@pytest.mark.parametrize("name", WORKING)
def test_a_program_that_works_never_waits(name):
    with run_in_terminal(WORKING[name]) as pid:
        assert sample_evidence(pid) == {None}


@pytest.mark.parametrize("name", POLLING)
def test_a_program_that_polls_waits_only_if_its_prompt_is_known(name):
    with run_in_terminal(POLLING[name]) as pid:
        wait: TerminalWait = wait_until(lambda: seen if (seen := probe_terminal(pid)).level == "polls" else None)
        assert sample_evidence(pid) == {None}
        assert find_wait_evidence(JobObservation(wait=wait, quiet_s=1.0, has_prompt=True)) == "detector"
