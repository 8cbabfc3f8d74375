"""A pid and its start name one life of a process."""

import os
import subprocess

from termvisor.system import process_start
from termvisor.system.process_start import count_children, read_start_time
from tests.unit.wait_until import wait_until


def test_a_process_has_one_start_as_long_as_it_lives():
    assert read_start_time(os.getpid()) == read_start_time(os.getpid()) > 0


def test_a_child_starts_no_earlier_than_its_parent():
    with subprocess.Popen(["sleep", "100"]) as child:
        assert read_start_time(child.pid) >= read_start_time(os.getpid())
        child.kill()


async def test_a_process_that_ended_has_no_start_even_before_it_is_reaped():
    child = subprocess.Popen(["true"])
    await wait_until(lambda: read_start_time(child.pid) == 0)
    child.wait()
    assert read_start_time(child.pid) == 0


def test_a_name_with_brackets_and_blanks_confuses_nobody(tmp_path):
    odd = tmp_path / "a) Z (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "100"]) as child:
        assert read_start_time(child.pid) > 0
        child.kill()


def test_where_there_is_no_proc_ps_is_asked():
    assert process_start._read_from_ps(os.getpid()) > 1_600_000_000
    assert process_start._read_from_ps(2**22 + 1) == 0


async def test_what_a_process_has_started_is_counted_while_it_runs():
    with subprocess.Popen(
        ["sh", "-c", "sleep 100 & echo begun; wait; exec sleep 100"], stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout.readline() == b"begun\n"
        assert count_children(shell.pid) == 1
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children") as file:
            os.kill(int(file.read()), 15)
        await wait_until(lambda: count_children(shell.pid) == 0)
        shell.kill()
    assert count_children(2**22 + 1) is None
