"""Real processes as /proc shows them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import termvisor
from termvisor.system import procfs
from termvisor.system.procfs import ProcessUsageSampler, read_start_time
from termvisor.system.subprocesses import start_detached
from tests.unit.wait_until import wait_until

NOBODY = 65534


def test_a_process_has_its_parent_session_and_start():
    child = start_detached(["sleep", "60"])
    try:
        seen = next(entry for entry in procfs.list_processes() if entry.pid == child.pid)
        assert (seen.parent_pid, seen.session_id, seen.started) == (os.getpid(), child.pid, read_start_time(child.pid))
        assert procfs.read_process(child.pid).name in ("sleep", Path(sys.executable).name, "pytest")
    finally:
        child.kill()
        child.wait()


async def test_a_name_with_brackets_and_spaces_is_read_completely(tmp_path):
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/sleep")
    child = start_detached([str(program), "60"])
    try:
        await wait_until(lambda: procfs.read_process(child.pid).name == "a) b (c")
        assert procfs.read_process(child.pid).parent_pid == os.getpid()
        assert procfs.read_argv(child.pid) == (str(program), "60")
    finally:
        child.kill()
        child.wait()


async def test_a_zombie_is_not_alive():
    child = start_detached(["true"])
    await wait_until(lambda: procfs.read_process(child.pid) is None)
    assert os.path.exists(f"/proc/{child.pid}")
    assert child.pid not in [entry.pid for entry in procfs.list_processes()]
    child.wait()


async def test_a_process_that_becomes_another_program_has_another_image():
    with subprocess.Popen(["sh", "-c", "read line; exec sh -c 'sleep 60'"], stdin=subprocess.PIPE) as child:
        await wait_until(lambda: procfs.read_argv(child.pid)[-1:] == ("read line; exec sh -c 'sleep 60'",))
        before = procfs.read_process(child.pid)
        child.stdin.write(b"\n")
        child.stdin.flush()
        await wait_until(lambda: procfs.read_argv(child.pid)[-1:] in (("sleep 60",), ("60",)))
        after = procfs.read_process(child.pid)
        child.kill()
    assert (after.pid, after.started) == (before.pid, before.started)
    assert after.image != before.image


async def test_only_the_requested_environment_variables_are_read(tmp_path):
    env = {"AGENT_HOME": "/a=b", "SECRET": "hunter2", "EMPTY": ""}
    with subprocess.Popen(["/bin/sleep", "60"], env=env, cwd=tmp_path) as child:
        await wait_until(lambda: procfs.read_argv(child.pid) == ("/bin/sleep", "60"))
        found = procfs.read_environment(child.pid, ("AGENT_HOME", "EMPTY", "MISSING"))
        assert procfs.read_environment(child.pid, ()) == {}
        assert procfs.read_cwd(child.pid) == str(tmp_path)
        child.kill()
    assert found == {"AGENT_HOME": "/a=b", "EMPTY": ""}


def test_a_missing_process_has_no_values():
    assert procfs.read_process(4_200_000) is None
    assert (procfs.read_argv(4_200_000), procfs.read_cwd(4_200_000)) == ((), "")
    assert procfs.read_environment(4_200_000, ("HOME",)) == {}


def test_private_values_of_another_users_process_are_left_out():
    root = os.path.dirname(os.path.dirname(termvisor.__file__))
    code = (
        f"import sys, json; sys.path[:0] = {[root, *sys.path]!r}\n"
        "from termvisor.system import procfs\n"
        f"import os; os.getuid() or os.setuid({NOBODY})\n"
        "found = [procfs.read_process(1).pid, procfs.read_cwd(1), procfs.read_environment(1, ['PATH', 'HOME'])]\n"
        "print(json.dumps(found))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(out.stdout) == [1, "", {}]


def test_the_current_process_has_memory_and_cpu_time():
    found = ProcessUsageSampler().sample_usage(os.getpid(), 1.0)
    assert found is not None
    assert found.pid == os.getpid()
    assert found.rss_bytes > 1_000_000
    assert found.cpu_seconds > 0
    assert found.cpu_percent == 0.0


def test_the_percentage_is_that_of_the_last_minute(monkeypatch):
    spent = iter([(1000, 10.0), (1000, 10.5), (1000, 40.0), (1000, 40.0)])
    monkeypatch.setattr("termvisor.system.procfs._read_usage_from_proc", lambda _: next(spent))
    cost = ProcessUsageSampler()
    percents = [cost.sample_usage(7, at).cpu_percent for at in (0.0, 1.0, 100.0, 150.0)]
    assert percents[:2] == [0.0, 50.0]
    assert percents[3] == 0.0


def test_another_process_starts_with_no_percentage(monkeypatch):
    spent = iter([(1000, 10.0), (1000, 500.0)])
    monkeypatch.setattr("termvisor.system.procfs._read_usage_from_proc", lambda _: next(spent))
    cost = ProcessUsageSampler()
    cost.sample_usage(7, 0.0)
    assert cost.sample_usage(8, 1.0).cpu_percent == 0.0


def test_a_missing_process_has_no_usage():
    assert ProcessUsageSampler().sample_usage(2**22 + 1, 1.0) is None
