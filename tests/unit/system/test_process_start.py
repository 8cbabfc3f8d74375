"""A pid and its start name one life of a process."""

import os
import subprocess

from termvisor.system import process_start as process
from termvisor.system.process_start import children, started
from tests.unit.waiting import until


def test_a_process_has_one_start_as_long_as_it_lives():
    assert started(os.getpid()) == started(os.getpid()) > 0


def test_a_child_starts_no_earlier_than_its_parent():
    with subprocess.Popen(["sleep", "100"]) as child:
        assert started(child.pid) >= started(os.getpid())
        child.kill()


async def test_a_process_that_ended_has_no_start_even_before_it_is_reaped():
    child = subprocess.Popen(["true"])
    await until(lambda: started(child.pid) == 0)
    child.wait()
    assert started(child.pid) == 0


def test_a_name_with_brackets_and_blanks_confuses_nobody(tmp_path):
    odd = tmp_path / "a) Z (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "100"]) as child:
        assert started(child.pid) > 0
        child.kill()


def test_where_there_is_no_proc_ps_is_asked():
    assert process._from_ps(os.getpid()) > 1_600_000_000
    assert process._from_ps(2**22 + 1) == 0


async def test_what_a_process_has_started_is_counted_while_it_runs():
    with subprocess.Popen(
        ["sh", "-c", "sleep 100 & echo begun; wait; exec sleep 100"], stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout.readline() == b"begun\n"
        assert children(shell.pid) == 1
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children") as file:
            os.kill(int(file.read()), 15)
        await until(lambda: children(shell.pid) == 0)
        shell.kill()
    assert children(2**22 + 1) is None
