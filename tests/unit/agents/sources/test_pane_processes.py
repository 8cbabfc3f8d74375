"""The processes of a pane, found below its first process."""

import os
import subprocess

import pytest

from termvisor.agents.sources.process_scanner import PaneProcessScanner, ProcessTree
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


def test_parents_come_before_children_and_older_before_younger():
    tree = [one(1, 0), one(10, 1, 10), one(13, 11, 10), one(12, 10, 10), one(11, 10, 10, started=90), one(20, 1)]
    assert below(10, *tree) == [10, 12, 11, 13]


def test_an_orphan_is_found_by_its_session_with_its_descendants():
    assert below(10, one(1, 0), one(10, 1, 10), one(50, 1, 10), one(51, 50, 51), one(60, 1, 60)) == [10, 50, 51]


def test_a_pane_without_a_process_is_empty():
    assert below(10, one(1, 0)) == []
    assert below(0, one(1, 0), one(2, 0)) == []


def test_processes_below_another_pane_belong_to_that_pane():
    tree = ProcessTree([one(1, 0), one(10, 1, 10), one(11, 10, 10), one(20, 11, 20), one(21, 20, 20)])
    roots = frozenset({10, 20})
    assert [found.pid for found in tree.list_descendants(10, roots)] == [10, 11]
    assert [found.pid for found in tree.list_descendants(20, roots)] == [20, 21]


def test_a_cycle_of_parents_is_harmless():
    assert below(10, one(10, 11, 10), one(11, 10, 10)) == [10, 11]


async def test_children_in_their_own_session_and_orphans_are_found(shell):
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


async def test_processes_have_argv_cwd_and_requested_variables(tmp_path, monkeypatch):
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


async def test_an_exec_is_described_again_and_the_cwd_is_always_current(shell, tmp_path):
    processes = PaneProcessScanner()
    (before,) = processes.scan_sync({1: shell.pid})[1]
    assert before.argv == ("bash", "--norc")
    say(shell, f"cd {tmp_path}")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].cwd == str(tmp_path))
    say(shell, "exec bash --norc --noprofile")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].argv == ("bash", "--norc", "--noprofile"))
    (after,) = processes.scan_sync({1: shell.pid})[1]
    assert (after.pid, after.pid_started) == (before.pid, before.pid_started)


def test_a_reused_pid_is_another_process(shell):
    real = read_process(shell.pid)
    stale = ProcessEntry(real.pid, real.parent_pid, real.session_id, real.started - 1, "gone", real.image)
    described = PaneProcessScanner()._read_process(stale)
    assert (described.program, described.pid_started, described.argv) == ("gone", stale.started, ())
