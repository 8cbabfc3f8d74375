"""What runs in a pane, found below the pane's first process."""

import os
import subprocess

import pytest

from termvisor.agents.sources.pane_processes import PaneProcessScanner, ProcessTree
from termvisor.system.procfs import ProcessEntry, read_argv, read_process
from tests.unit.wait_until import wait_until


def one(pid: int, parent: int, session: int = 0, started: int | None = None) -> ProcessEntry:
    return ProcessEntry(pid, parent, session, pid if started is None else started, f"p{pid}")


def below(pid: int, *entries: ProcessEntry) -> list[int]:
    return [found.pid for found in ProcessTree(entries).list_descendants(pid)]


@pytest.fixture
def shell():
    """A pane's first process: a shell in a session of its own that does what it is told."""
    with subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, start_new_session=True) as process:
        yield process
        os.killpg(process.pid, 9)


def say(shell: subprocess.Popen, text: str) -> None:
    shell.stdin.write(f"{text}\n".encode())
    shell.stdin.flush()


def test_parents_come_before_children_and_older_ones_before_younger():
    tree = [one(1, 0), one(10, 1, 10), one(13, 11, 10), one(12, 10, 10), one(11, 10, 10, started=90), one(20, 1)]
    assert below(10, *tree) == [10, 12, 11, 13]


def test_a_process_whose_parent_is_gone_is_found_by_its_session_with_all_below_it():
    assert below(10, one(1, 0), one(10, 1, 10), one(50, 1, 10), one(51, 50, 51), one(60, 1, 60)) == [10, 50, 51]


def test_a_pane_without_a_process_is_empty():
    assert below(10, one(1, 0)) == []
    assert below(0, one(1, 0), one(2, 0)) == []


def test_what_is_below_another_pane_belongs_to_that_one():
    tree = ProcessTree([one(1, 0), one(10, 1, 10), one(11, 10, 10), one(20, 11, 20), one(21, 20, 20)])
    roots = frozenset({10, 20})
    assert [found.pid for found in tree.list_descendants(10, roots)] == [10, 11]
    assert [found.pid for found in tree.list_descendants(20, roots)] == [20, 21]


def test_a_ring_of_parents_as_a_torn_pass_may_show_it_does_no_harm():
    assert below(10, one(10, 11, 10), one(11, 10, 10)) == [10, 11]


async def test_children_are_found_also_in_a_session_of_their_own_and_as_orphans(shell):
    say(shell, "sleep 61 & setsid sleep 62 & (sleep 63 &)")
    processes = PaneProcessScanner()

    async def sleeping() -> dict[str, int]:
        found = await processes.scan({"pane": shell.pid})
        return {process.argv[1]: process.pid for process in found["pane"] if process.program == "sleep"}

    found: dict[str, int] = {}
    while found.keys() != {"61", "62", "63"}:
        found = await sleeping()
    assert found.keys() == {"61", "62", "63"}
    assert read_process(found["63"]).parent_pid != shell.pid
    os.kill(found["62"], 9)


async def test_all_panes_are_answered_with_identity_argv_folder_and_the_variables_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOME", "/somewhere")
    monkeypatch.setenv("SECRET", "hunter2")
    with subprocess.Popen(["/bin/sleep", "60"], cwd=tmp_path) as first, subprocess.Popen(["/bin/cat"], stdin=-1) as cat:
        await wait_until(lambda: read_argv(first.pid) == ("/bin/sleep", "60") and read_argv(cat.pid) == ("/bin/cat",))
        found = await PaneProcessScanner(("AGENT_HOME",)).scan({"a": first.pid, "b": cat.pid, "c": 4_200_000})
        first.kill()
        started = read_process(cat.pid).started
        cat.kill()
    (sleep,), (other,) = found["a"], found["b"]
    assert (sleep.argv, sleep.cwd, sleep.env) == (("/bin/sleep", "60"), str(tmp_path), {"AGENT_HOME": "/somewhere"})
    assert (other.pid, other.pid_started, other.program) == (cat.pid, started, "cat")
    assert found["c"] == ()


async def test_a_program_that_becomes_another_is_described_anew_and_its_folder_is_always_fresh(shell, tmp_path):
    processes = PaneProcessScanner()
    (before,) = processes.scan_sync({1: shell.pid})[1]
    assert before.argv == ("bash", "--norc")
    say(shell, f"cd {tmp_path}")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].cwd == str(tmp_path))
    say(shell, "exec bash --norc --noprofile")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].argv == ("bash", "--norc", "--noprofile"))
    (after,) = processes.scan_sync({1: shell.pid})[1]
    assert (after.pid, after.pid_started) == (before.pid, before.pid_started)


def test_another_life_of_a_pid_is_not_taken_for_the_one_that_was_seen(shell):
    real = read_process(shell.pid)
    stale = ProcessEntry(real.pid, real.parent_pid, real.session_id, real.started - 1, "gone", real.image)
    described = PaneProcessScanner()._read_process(stale)
    assert (described.program, described.pid_started, described.argv) == ("gone", stale.started, ())
