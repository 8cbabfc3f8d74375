"""What the kernel tells of real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import termvisor
from termvisor.system import procfs as kernel
from termvisor.system.process_start import started
from termvisor.system.subprocesses import detached
from tests.unit.waiting import until

NOBODY = 65534


def test_a_process_is_seen_with_its_parent_its_session_and_its_start():
    child = detached(["sleep", "60"])
    try:
        seen = next(entry for entry in kernel.everyone() if entry.pid == child.pid)
        assert (seen.parent, seen.session, seen.started) == (os.getpid(), child.pid, started(child.pid))
        assert kernel.entry(child.pid).name in ("sleep", Path(sys.executable).name, "pytest")
    finally:
        child.kill()
        child.wait()


async def test_a_name_with_brackets_and_spaces_is_read_whole(tmp_path):
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/sleep")
    child = detached([str(program), "60"])
    try:
        await until(lambda: kernel.entry(child.pid).name == "a) b (c")
        assert kernel.entry(child.pid).parent == os.getpid()
        assert kernel.argv(child.pid) == (str(program), "60")
    finally:
        child.kill()
        child.wait()


async def test_a_zombie_does_not_live():
    child = detached(["true"])
    await until(lambda: kernel.entry(child.pid) is None)
    assert os.path.exists(f"/proc/{child.pid}")
    assert child.pid not in [entry.pid for entry in kernel.everyone()]
    child.wait()


async def test_a_process_that_becomes_another_program_has_another_image():
    with subprocess.Popen(["sh", "-c", "read line; exec sh -c 'sleep 60'"], stdin=subprocess.PIPE) as child:
        await until(lambda: kernel.argv(child.pid)[-1:] == ("read line; exec sh -c 'sleep 60'",))
        before = kernel.entry(child.pid)
        child.stdin.write(b"\n")
        child.stdin.flush()
        await until(lambda: kernel.argv(child.pid)[-1:] in (("sleep 60",), ("60",)))
        after = kernel.entry(child.pid)
        child.kill()
    assert (after.pid, after.started) == (before.pid, before.started)
    assert after.image != before.image


async def test_of_the_environment_only_what_is_asked_for_is_read(tmp_path):
    env = {"AGENT_HOME": "/a=b", "SECRET": "hunter2", "EMPTY": ""}
    with subprocess.Popen(["/bin/sleep", "60"], env=env, cwd=tmp_path) as child:
        await until(lambda: kernel.argv(child.pid) == ("/bin/sleep", "60"))
        found = kernel.variables(child.pid, ("AGENT_HOME", "EMPTY", "MISSING"))
        assert kernel.variables(child.pid, ()) == {}
        assert kernel.cwd(child.pid) == str(tmp_path)
        child.kill()
    assert found == {"AGENT_HOME": "/a=b", "EMPTY": ""}


def test_nothing_is_known_of_a_process_that_is_not_there():
    assert kernel.entry(4_200_000) is None
    assert (kernel.argv(4_200_000), kernel.cwd(4_200_000)) == ((), "")
    assert kernel.variables(4_200_000, ("HOME",)) == {}


def test_of_somebody_elses_process_what_is_not_ours_to_see_is_left_out():
    root = os.path.dirname(os.path.dirname(termvisor.__file__))
    code = (
        f"import sys, json; sys.path[:0] = {[root, *sys.path]!r}\n"
        "from termvisor.system import procfs as kernel\n"
        f"import os; os.getuid() or os.setuid({NOBODY})\n"
        "print(json.dumps([kernel.entry(1).pid, kernel.cwd(1), kernel.variables(1, ['PATH', 'HOME'])]))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(out.stdout) == [1, "", {}]
