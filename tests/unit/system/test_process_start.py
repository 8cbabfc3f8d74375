"""Start times, children and ancestors of real processes."""

import os
import subprocess
import sys

from termvisor.clock import NS, SystemClock
from termvisor.system import procfs
from termvisor.system.process_start import compute_start_instant, count_children, read_start_time
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


def test_a_process_name_with_parentheses_is_parsed(tmp_path):
    odd = tmp_path / "a) Z (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "100"]) as child:
        assert read_start_time(child.pid) > 0
        child.kill()


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


def test_a_process_began_before_now_and_after_the_machine_did():
    now, entry = SystemClock().now(), procfs.read_process(os.getpid())
    assert now - 3600 * NS < compute_start_instant(entry.started, now) < now
    assert compute_start_instant(1 << 50, now) == now
    assert sys.platform == "linux"
