"""Agent processes anywhere on this machine, outside watched panes."""

import os
import shutil
import subprocess

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.sources.process_scanner import UnwatchedAgentFinder
from termvisor.clock import SystemClock
from tests.unit.wait_until import wait_until


@pytest.fixture
def program(tmp_path):
    """Copy a shell to another name, so that it can start further processes of the same name."""
    shutil.copy(shutil.which("bash"), tmp_path / "toy-agent")
    return str(tmp_path / "toy-agent")


@pytest.fixture
def start(program, tmp_path):
    running = []

    # The shell waits in its own `read`: before `exec`, a forked child would be a second process of the same name.
    def one(cwd=tmp_path, script="read", **env) -> int:
        child = subprocess.Popen(
            [program, "-c", script], cwd=cwd, stdin=subprocess.PIPE, start_new_session=True, env=os.environ | env
        )
        running.append(child)
        return child.pid

    yield one
    for child in running:
        os.killpg(child.pid, 9)
        child.communicate()


@pytest.fixture
def build_finder(program):
    """Return a function that builds a new finder; a finder caches its counts for a moment."""

    def find_toy(agent: str, processes) -> ProcessInfo | None:
        return next((one for one in processes if agent == "toy" and one.argv[0] == program), None)

    return lambda: UnwatchedAgentFinder(find_toy, SystemClock(), lambda: ("TOY_HOME",))


async def test_processes_are_counted_per_folder(start, build_finder, tmp_path):
    start()
    other = tmp_path / "other"
    other.mkdir()
    start(other)
    start(other)
    await wait_until(lambda: len(build_finder().find_process_groups("toy")) == 3)
    assert await build_finder().count_in_folder("toy", str(tmp_path)) == 1
    assert await build_finder().count_in_folder("toy", str(other)) == 2
    assert await build_finder().count_in_folder("other", str(other)) == 0


async def test_a_wrapper_and_its_program_are_one_agent(start, build_finder, program, tmp_path):
    pid = start(script=f"{program} -c read; true")
    await wait_until(lambda: [len(group) for group in build_finder().find_process_groups("toy")] == [2])
    assert build_finder().find_process_groups("toy")[0][0].pid == pid
    assert await build_finder().count_in_folder("toy", str(tmp_path)) == 1


async def test_watched_processes_are_left_out_with_their_children(start, build_finder):
    watched, other = start(), start(TOY_HOME="/home/ada/.toy", SECRET="x")
    await wait_until(lambda: len(build_finder().find_process_groups("toy")) == 2)
    (found,) = await build_finder().find_unwatched("toy", [watched])
    assert (found.pid, found.env) == (other, {"TOY_HOME": "/home/ada/.toy"})
