"""The processes of a pane, found below its first process."""

import os
import subprocess

import pytest
from msgspec.structs import replace

from termvisor.agents.sources.process_scanner import PaneProcessScanner, ProcessTree
from termvisor.system import procfs
from termvisor.system.procfs import ProcessEntry, read_argv, read_process
from tests.unit.wait_until import wait_until


def build_entry(pid: int, parent: int, session: int = 0, started: int | None = None) -> ProcessEntry:
    return ProcessEntry(pid, parent, session, pid if started is None else started, f"p{pid}")


def list_descendants(pid: int, *entries: ProcessEntry) -> list[int]:
    return [found.pid for found in ProcessTree(entries).list_descendants(pid)]


@pytest.fixture
def shell():
    """The first process of a pane: a shell in its own session that reads commands from stdin."""
    with subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, start_new_session=True) as process:
        yield process
        os.killpg(process.pid, 9)


def send_command(shell: subprocess.Popen, text: str) -> None:
    shell.stdin.write(f"{text}\n".encode())
    shell.stdin.flush()


def test_parents_come_before_children_and_older_before_younger():
    tree = [
        build_entry(1, 0),
        build_entry(10, 1, 10),
        build_entry(13, 11, 10),
        build_entry(12, 10, 10),
        build_entry(11, 10, 10, started=90),
        build_entry(20, 1),
    ]
    assert list_descendants(10, *tree) == [10, 12, 11, 13]


def test_an_orphan_is_found_by_its_session_with_its_descendants():
    assert list_descendants(
        10,
        build_entry(1, 0),
        build_entry(10, 1, 10),
        build_entry(50, 1, 10),
        build_entry(51, 50, 51),
        build_entry(60, 1, 60),
    ) == [10, 50, 51]


def test_a_pane_without_a_process_is_empty():
    assert list_descendants(10, build_entry(1, 0)) == []
    assert list_descendants(0, build_entry(1, 0), build_entry(2, 0)) == []


def test_processes_below_another_pane_belong_to_that_pane():
    tree = ProcessTree(
        [
            build_entry(1, 0),
            build_entry(10, 1, 10),
            build_entry(11, 10, 10),
            build_entry(20, 11, 20),
            build_entry(21, 20, 20),
        ]
    )
    roots = frozenset({10, 20})
    assert [found.pid for found in tree.list_descendants(10, roots)] == [10, 11]
    assert [found.pid for found in tree.list_descendants(20, roots)] == [20, 21]


def test_a_cycle_of_parents_ends():
    assert list_descendants(10, build_entry(10, 11, 10), build_entry(11, 10, 10)) == [10, 11]


async def test_children_in_their_own_session_and_orphans_are_found(shell):
    send_command(shell, "sleep 61 & setsid sleep 62 & (sleep 63 &)")
    processes = PaneProcessScanner()

    async def find_sleeps() -> dict[str, int]:
        found = await processes.scan({"pane": shell.pid})
        return {process.argv[1]: process.pid for process in found["pane"] if process.program == "sleep"}

    found: dict[str, int] = {}
    while found.keys() != {"61", "62", "63"}:
        found = await find_sleeps()
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
    send_command(shell, f"cd {tmp_path}")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].cwd == str(tmp_path))
    send_command(shell, "exec bash --norc --noprofile")
    await wait_until(lambda: processes.scan_sync({1: shell.pid})[1][0].argv == ("bash", "--norc", "--noprofile"))
    (after,) = processes.scan_sync({1: shell.pid})[1]
    assert (after.pid, after.pid_started) == (before.pid, before.pid_started)


def test_a_reused_pid_is_another_process(shell):
    real = read_process(shell.pid)
    stale = ProcessEntry(real.pid, real.parent_pid, real.session_id, real.started - 1, "gone", real.image)
    described = PaneProcessScanner()._read_process(stale)
    assert (described.program, described.pid_started, described.argv) == ("gone", stale.started, ())


@pytest.mark.parametrize(
    ("change", "is_read"),
    [({"name": "renamed"}, True), ({"parent_pid": 1}, True), ({"image": 9}, False), ({"started": 1}, False)],
    ids=["renamed", "another parent", "another program", "another process"],
)
def test_a_process_that_changes_while_it_is_read(monkeypatch, change, is_read):
    entry = read_process(os.getpid())
    monkeypatch.setattr(procfs, "read_process", lambda _pid: replace(entry, **change))
    assert bool(PaneProcessScanner()._read_process(entry).argv) is is_read
