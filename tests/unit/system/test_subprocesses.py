"""Child processes: tied, detached, short, isolated and bounded."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.system import subprocesses
from tests.unit.wait_until import wait_until

OWNER = """
import os, sys
from termvisor.system import subprocesses
child = subprocesses.start_tied(["sleep", "60"], stdin=0, stdout=2)
print(child.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def ends() -> Iterator[tuple[int, int]]:
    """A pipe whose reader sees the end when the last process with the writing end exits."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as held:
        yield held.fileno(), writer


def test_a_short_program_returns_status_output_and_errors() -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert subprocesses.run_and_capture([sys.executable, "-c", script]) == (3, b"out\n", b"err\n")


@pytest.mark.parametrize("name", ["sh", "/bin/sh", "/bin", "nothing-of-this-name", "/nothing/sh", ""])
def test_a_program_is_installed_if_shutil_finds_it(name: str) -> None:
    assert subprocesses.is_installed(name) == (shutil.which(name) is not None)


def test_a_short_program_reads_its_stdin() -> None:
    assert subprocesses.run_and_capture(["cat"], stdin=b"hello") == (0, b"hello", b"")


def test_a_missing_program_is_status_127() -> None:
    assert subprocesses.run_and_capture(["/nowhere/tmux", "-V"]) == (127, b"", b"/nowhere/tmux: not found")


def test_a_program_that_does_not_answer_is_status_124() -> None:
    status, _, errors = subprocesses.run_and_capture(["sleep", "60"], timeout_s=0.05)
    assert (status, b"timed out after" in errors) == (124, True)


def test_the_output_until_the_timeout_is_kept() -> None:
    assert subprocesses.run_and_capture(["sh", "-c", "echo soon; exec sleep 60"], timeout_s=0.3)[:2] == (124, b"soon\n")


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_short_program_that_prints_too_much_is_killed_as_status_125(stream: str) -> None:
    argv = ["sh", "-c", f"exec yes >&{stream}"]
    status, out, errors = subprocesses.run_and_capture(argv, timeout_s=60, max_bytes=1 << 20)
    assert (status, out, errors) == (subprocesses.TOO_MUCH_OUTPUT, b"", b"sh: printed more than 1048576 bytes")


def test_a_program_that_prints_without_end_is_killed_at_the_timeout() -> None:
    argv = ["sh", "-c", "while :; do echo on; done"]
    status, out, _ = subprocesses.run_and_capture(argv, timeout_s=0.3, max_bytes=1 << 30)
    assert (status, out[:3]) == (124, b"on\n")


def test_background_processes_of_a_short_program_are_not_waited_for() -> None:
    status, out, errors = subprocesses.run_and_capture(["sh", "-c", "sleep 20 & echo $!; echo said >&2; exit 3"])
    os.kill(int(out), signal.SIGKILL)
    assert (status, errors) == (3, b"said\n")


def test_output_up_to_the_limit_is_complete() -> None:
    data = b"x" * 200_000
    assert subprocesses.run_and_capture(["cat"], stdin=data, max_bytes=len(data)) == (0, data, b"")


def test_a_program_with_a_given_environment_sees_only_that() -> None:
    assert subprocesses.run_and_capture(["/usr/bin/env"], env={"ONLY": "this"}) == (0, b"ONLY=this\n", b"")


def test_a_tied_program_reads_and_writes_through_its_pipes() -> None:
    with ends() as (reader, writer):
        source = os.open("/dev/null", os.O_RDONLY)
        child = subprocesses.start_tied(["echo", "hello"], stdin=source, stdout=writer)
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
        child = subprocesses.start_detached(
            [sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid(), os.getcwd())"], log=log
        )
    assert child.wait() == 0
    assert (tmp_path / "log").read_text() == "True /\n"


def test_a_child_is_polled_killed_and_reaped() -> None:
    child = subprocesses.start_detached(["sleep", "60"])
    assert (child.poll(), child.wait(timeout_s=0.01)) == (None, None)
    child.kill(signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    child.kill()
    assert child.poll() == -signal.SIGTERM


async def test_an_isolated_program_reads_stdin_and_returns_its_output() -> None:
    answer = await subprocesses.run_isolated(
        ["sh", "-c", "read line; echo got $line; echo oh >&2; exit 3"], stdin=b"this\n"
    )
    assert answer == (3, b"got this\n", b"oh\n")


async def test_an_isolated_program_may_ignore_its_stdin() -> None:
    assert await subprocesses.run_isolated(["true"], stdin=b"x" * 1_000_000) == (0, b"", b"")


async def test_background_processes_of_an_isolated_program_keep_running() -> None:
    status, out, _ = await subprocesses.run_isolated(["sh", "-c", "sleep 600 & echo $!"], timeout_s=60)
    os.kill(int(out), signal.SIGKILL)  # raises if the process does not exist
    assert status == 0


@pytest.mark.parametrize("end", ["timeout", "cancel"])
async def test_an_isolated_program_is_killed_with_all_its_children(tmp_path: Path, end: str) -> None:
    os.mkfifo(tmp_path / "held")
    with open(os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as held:
        argv = ["sh", "-c", f"exec 3>{tmp_path}/held; echo on >&3; sleep 600 & wait"]
        task = asyncio.ensure_future(subprocesses.run_isolated(argv, timeout_s=1.0 if end == "timeout" else 60.0))
        await wait_until(lambda: held.read(100) == b"on\n")
        if end == "cancel":
            task.cancel()
        (answer,) = await asyncio.gather(task, return_exceptions=True)
        assert answer == (124, b"", b"") if end == "timeout" else isinstance(answer, asyncio.CancelledError)
        await wait_until(lambda: held.read(1) == b"")


async def test_an_isolated_program_that_cannot_be_started_reports_why(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("no program")
    assert await subprocesses.run_isolated(["/nowhere/beep"]) == (127, b"", b"/nowhere/beep: No such file or directory")
    denied = await subprocesses.run_isolated([str(tmp_path / "page")])
    assert denied == (126, b"", f"{tmp_path}/page: Permission denied".encode())


async def test_only_the_end_of_the_output_is_kept() -> None:
    _, out, errors = await subprocesses.run_isolated(["sh", "-c", "yes | head -c 100000 >&2; echo last >&2"])
    assert (out, len(errors), errors.endswith(b"last\n")) == (b"", 4096, True)


BOUNDED = {"timeout_s": 60.0, "max_bytes": 10_000, "env": {"PATH": "/usr/bin:/bin", "KEPT": "yes"}}


async def test_a_bounded_program_has_no_input_and_only_its_environment(monkeypatch) -> None:
    monkeypatch.setenv("HUSH", "secret")
    result = await subprocesses.run_bounded(["sh", "-c", "cat; pwd; env; echo oh >&2; exit 3"], **BOUNDED)
    names = {line.partition("=")[0] for line in result.out.decode().splitlines()[1:]}
    assert (result.status, result.out.split()[0], result.errors, result.failure) == (3, b"/", b"oh\n", "")
    assert "KEPT" in names
    assert "HUSH" not in names


async def test_all_output_of_a_bounded_program_is_read() -> None:
    result = await subprocesses.run_bounded(["sh", "-c", "yes | head -c 9990; echo last"], **BOUNDED)
    assert (len(result.out), result.out.endswith(b"last\n"), result.failure) == (9995, True, "")


@pytest.mark.parametrize("flood", ["yes", "yes >&2"])
async def test_a_bounded_program_above_the_output_limit_is_killed(flood: str) -> None:
    result = await subprocesses.run_bounded(["sh", "-c", f"{flood} & wait"], **BOUNDED)
    assert result.failure == "too_much"
    assert len(result.out) + len(result.errors) < 200_000


@pytest.mark.parametrize("end", ["itself", "timeout", "cancel"])
async def test_children_of_a_bounded_program_are_killed(tmp_path: Path, end: str) -> None:
    os.mkfifo(tmp_path / "held")
    with open(os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as held:
        rest = "exit 0" if end == "itself" else "wait"
        argv = ["sh", "-c", f"exec 3>{tmp_path}/held; echo on >&3; sleep 600 & {rest}"]
        bounds = BOUNDED | {"timeout_s": 1.0 if end == "timeout" else 60.0}
        task = asyncio.ensure_future(subprocesses.run_bounded(argv, **bounds))
        await wait_until(lambda: held.read(100) == b"on\n")
        if end == "cancel":
            task.cancel()
        (answer,) = await asyncio.gather(task, return_exceptions=True)
        assert getattr(answer, "failure", "cancelled") == {"itself": "", "timeout": "timed_out"}.get(end, "cancelled")
        await wait_until(lambda: held.read(1) == b"")


async def test_a_bounded_program_that_cannot_be_started_reports_why(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("no program")
    assert (await subprocesses.run_bounded(["no-such-beep"], **BOUNDED)).failure == "missing"
    assert (await subprocesses.run_bounded([str(tmp_path / "page")], **BOUNDED)).failure == "cannot_start"


def test_a_program_at_the_terminal_ends_with_its_status() -> None:
    assert subprocesses.run_in_terminal(["sh", "-c", "exit 3"]) == 3
    assert subprocesses.run_in_terminal(["/nowhere/vi"]) == 127


async def test_a_program_that_prints_too_much_is_killed():
    status, out, errors = await subprocesses.run_isolated(["yes"], timeout_s=60.0)
    assert (status, out, errors) == (subprocesses.TOO_MUCH_OUTPUT, b"", b"yes: printed more than 1048576 bytes")


async def test_output_up_to_the_limit_is_returned():
    argv = ["sh", "-c", "head -c 2000000 /dev/zero; echo end >/dev/stderr"]
    status, out, errors = await subprocesses.run_isolated(argv, timeout_s=60.0, max_kept_bytes=2_000_000)
    assert (status, len(out), errors) == (0, 2_000_000, b"end\n")


def test_output_is_read_through_descriptors_above_the_limit_of_select():
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(open(os.devnull)) for _ in range(1100)]
        assert held[-1].fileno() > 1023
        assert subprocesses.run_and_capture(["echo", "hello"]) == (0, b"hello\n", b"")
