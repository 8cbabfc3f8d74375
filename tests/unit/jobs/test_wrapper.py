"""The process of a job's terminal, in a real terminal."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.jobs.job_terminal import open_job, run_job

PRINT_ARGUMENTS = "import os, sys; os.write(1, b'|'.join(os.fsencode(word) for word in sys.argv[1:]).hex().encode())"


@pytest.mark.parametrize(
    ("argv", "code", "number", "errno"),
    [
        (("true",), 0, 0, 0),
        (("sh", "-c", "exit 7"), 7, 0, 0),
        (("sh", "-c", "kill -TERM $$"), -1, signal.SIGTERM, 0),
        (("no-such-program",), 127, 0, 2),
        (("/",), 126, 0, 13),
    ],
)
def test_the_result_tells_how_the_command_ended(tmp_path, argv, code, number, errno) -> None:
    _, folder = run_job(tmp_path, *argv)
    end = folder.read_result().end
    assert (end.code, end.signal, end.errno) == (code, number, errno)
    assert end.started_at <= end.finished_at


def test_a_missing_working_directory_is_named(tmp_path) -> None:
    output, folder = run_job(tmp_path, "true", cwd="/no/such/folder")
    assert b"/no/such/folder: No such file or directory" in output
    assert folder.read_result().end.code == 126


def test_the_output_ends_at_the_mark_and_the_spec_is_gone(tmp_path) -> None:
    output, folder = run_job(tmp_path, "printf", "no newline")
    assert output == b"no newline"
    assert folder.has_started_reading()


@given(words=st.lists(st.binary(max_size=20).filter(lambda word: b"\0" not in word), max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_byte_of_every_argument_arrives(tmp_path, words) -> None:
    output, _ = run_job(tmp_path, sys.executable, "-ISc", PRINT_ARGUMENTS, *map(os.fsdecode, words))
    assert bytes.fromhex(output.decode()) == b"|".join(words)


def test_the_environment_is_exact_and_extends_that_of_the_terminal(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FROM_TERMINAL", "kept")
    output, _ = run_job(tmp_path, "sh", "-c", 'echo "$A|$FROM_TERMINAL"', env={"A": "x=y #{z} %s"})
    assert output == b"x=y #{z} %s|kept\r\n"


def test_nothing_is_printed_before_the_command_may_begin(tmp_path) -> None:
    with open_job(tmp_path, "echo", "begun") as job:
        os.set_blocking(job.master, False)
        while job.folder.read_result() is None:
            assert not job.is_reaped
        with pytest.raises(BlockingIOError):
            os.read(job.master, 1)
        assert job.folder.read_result().state == "ready"
        os.set_blocking(job.master, True)
        job.folder.begin()
        assert job.finish() == b"begun\r\n"


# Signals 32 and 33 belong to the C library, which lets no program change what it inherited for them.
RESERVED_SIGNALS = 0b11 << 31


def test_the_command_has_the_terminal_and_default_signals(tmp_path) -> None:
    script = "import os, signal; print(os.tcgetpgrp(0) == os.getpgrp(), signal.getsignal(signal.SIGINT).__name__)"
    output, _ = run_job(tmp_path, sys.executable, "-c", script)
    assert output == b"True default_int_handler\r\n"
    output, _ = run_job(tmp_path, "sh", "-c", "grep -E 'SigIgn' /proc/self/status")
    assert int(output.split()[1], 16) & ~RESERVED_SIGNALS == 0


def test_an_interrupt_key_reaches_the_command(tmp_path) -> None:
    with open_job(tmp_path, "sh", "-c", "echo up; exec sleep 100") as job:
        job.folder.begin()
        job.read_until(b"up")
        os.write(job.master, b"\x03")
        job.finish()
        assert job.folder.read_result().end.signal == signal.SIGINT


def test_a_hang_up_ends_the_command_and_is_recorded(tmp_path) -> None:
    with open_job(tmp_path, "sh", "-c", "echo up; exec sleep 100") as job:
        job.folder.begin()
        job.read_until(b"up")
        os.kill(job.pid, signal.SIGHUP)
        job.finish()
        assert job.folder.read_result().end.signal == signal.SIGHUP


def test_a_shell_stays_afterwards_with_usable_modes(tmp_path) -> None:
    env = {"PS1": "shell> ", "ENV": "", "HOME": str(tmp_path)}
    with open_job(tmp_path, "stty", "-echo", "raw", is_interactive=True, env=env, linger=0.1) as job:
        job.folder.begin()
        job.read_until(b"job;end")
        os.write(job.master, b"stty -a | tr ' ' '\\n' | grep -xE 'icanon|echo' | tr '\\n' +; exit\n")
        assert b"icanon+" in job.read_until(b"+echo+")
        job.finish()


def test_without_a_daemon_the_wrapper_leaves_after_a_while(tmp_path) -> None:
    with open_job(tmp_path, "true", linger=0.05) as job:
        job.folder.begin()
        job.folder.close()
        while b"job;end" not in job.output and job._read():
            pass
        assert not job._read()
        job.reap()
