"""Starting programs: tied ones die with us, detached ones go on, short ones answer or are said to be missing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from termvisor import spawn

OWNER = """
import os, sys
from termvisor import spawn
child = spawn.tied(["sleep", "60"], stdin=0, stdout=2)
print(child.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def ends() -> Iterator[tuple[int, int]]:
    """A pipe; the reader sees the end when the last program that holds the writer's side is gone."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as held:
        yield held.fileno(), writer


def test_a_short_program_answers_with_status_output_and_errors() -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert spawn.ask([sys.executable, "-c", script]) == (3, b"out\n", b"err\n")


def test_a_short_program_hears_what_it_is_given() -> None:
    assert spawn.ask(["cat"], stdin=b"hello") == (0, b"hello", b"")


def test_a_missing_program_is_status_127() -> None:
    assert spawn.ask(["/nowhere/tmux", "-V"]) == (127, b"", b"/nowhere/tmux: not found")


def test_a_program_that_does_not_answer_is_status_124() -> None:
    status, _, errors = spawn.ask(["sleep", "60"], timeout=0.05)
    assert (status, b"no answer within" in errors) == (124, True)


def test_a_program_that_is_given_an_environment_sees_only_that() -> None:
    assert spawn.ask(["/usr/bin/env"], env={"ONLY": "this"}) == (0, b"ONLY=this\n", b"")


def test_a_tied_program_reads_and_writes_through_its_pipes() -> None:
    with ends() as (reader, writer):
        source = os.open("/dev/null", os.O_RDONLY)
        child = spawn.tied(["echo", "hello"], stdin=source, stdout=writer)
        os.close(writer)
        os.close(source)
        assert (os.read(reader, 100), child.wait()) == (b"hello\n", 0)


def test_a_tied_program_dies_when_its_owner_is_killed() -> None:
    with ends() as (reader, writer):
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writer
        )
        os.close(writer)
        assert owner.stdin and owner.stdout
        with owner.stdin, owner.stdout:
            pid = int(owner.stdout.readline())
            assert os.getpgid(pid) == pid
            owner.kill()
            owner.wait()
            assert os.read(reader, 1) == b""


def test_a_detached_program_has_a_session_of_its_own_and_writes_to_the_log(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        child = spawn.detached(
            [sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid(), os.getcwd())"], log=log
        )
    assert child.wait() == 0
    assert (tmp_path / "log").read_text() == "True /\n"


def test_a_child_is_polled_killed_and_reaped() -> None:
    child = spawn.detached(["sleep", "60"])
    assert (child.poll(), child.wait(timeout=0.01)) == (None, None)
    child.kill(signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    child.kill()
    assert child.poll() == -signal.SIGTERM
