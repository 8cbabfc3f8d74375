"""PtyHostClient with a real host process and a real recorder."""

import asyncio
import hashlib
import os
import random
import signal
import sys

import pytest

from termvisor.backends.pty.host_messages import HostGuard, HostRefusal
from termvisor.errors import Unavailable
from termvisor.pty_host.result_file import read_result_file
from tests.unit.wait_until import wait_until


def is_alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


async def test_a_program_is_held_until_the_recorder_holds_its_terminal(sandbox, host):
    program = await sandbox.start_held(host, "printf", "hello")
    assert (program.state, program.stream) == ("held", "")
    assert await host.read_facts(program.number) is not None
    assert os.path.basename(os.readlink(f"/proc/{program.pid}/exe")).startswith("python")
    await sandbox.hold(host, program)
    ended = await host.wait_exit(program.number)
    await sandbox.wait_for_end(1)
    assert (ended.state, ended.exit.code, ended.stream) == ("exited", 0, "1/1")
    assert sandbox.read_log("1/1") == b"hello"


async def test_exit_codes_and_signals_are_exact(sandbox, host):
    failing = await sandbox.start(host, "sh", "-c", "exit 77")
    killed = await sandbox.start(host, "sh", "-c", "kill -9 $$")
    first, second = await host.wait_exit(failing.number), await host.wait_exit(killed.number)
    assert (first.exit.code, first.exit.signal) == (77, 0)
    assert (second.exit.code, second.exit.signal) == (-1, 9)
    assert first.exit.ended_at > first.created_at


async def test_the_end_is_kept_until_it_is_forgotten_also_on_disk(sandbox, host):
    program = await sandbox.start(host, "sh", "-c", "exit 3")
    await host.wait_exit(program.number)
    path = f"{sandbox.paths.pty_result_dir}/{program.pid}.{program.started_ticks}"
    row = read_result_file(path)
    assert (row["state"], row["code"], row["signal"], os.stat(path).st_size) == ("exited", "3", "0", 512)
    host.close()
    other = sandbox.make_client()
    assert (await other.start())[program.number].exit.code == 3
    assert await other.forget_program(program.number) is None
    await wait_until(lambda: not other.programs)
    assert not os.path.exists(path)


async def test_a_running_program_cannot_be_forgotten(sandbox, host):
    program = await sandbox.start(host, "sleep", "600")
    assert await host.forget_program(program.number) == HostRefusal("state", "running")


async def test_a_missing_program_is_reported_with_its_errno(sandbox, host):
    program = await sandbox.start(host, "/no/such/program")
    ended = await host.wait_exit(program.number)
    await wait_until(lambda: host.programs[program.number].exit.errno)
    assert (host.programs[program.number].exit.errno, ended.exit.code) == (2, 127)


async def test_arguments_environment_and_folder_arrive_exactly(sandbox, host):
    words = ["", " ", "a\nb", "'\"`$(x)", "#{pane_id}", "%%", ";", "-x", b"\xff\xfe"]
    code = "import os,sys; print([os.fsencode(a) for a in sys.argv[1:]], dict(os.environb), os.getcwd())"
    program = await sandbox.start(
        host, sys.executable, "-ISc", code, *words, cwd="/usr", env={"A": "1\n2", "LC_ALL": "C.UTF-8"}, columns=500
    )
    await host.wait_exit(program.number)
    await sandbox.wait_for_end(1)
    expected = [word if isinstance(word, bytes) else word.encode() for word in words]
    assert sandbox.read_log("1/1").decode().strip() == f"{expected} {{b'A': b'1\\n2', b'LC_ALL': b'C.UTF-8'}} /usr"


async def test_the_program_has_a_terminal_of_the_given_size_and_default_signals(sandbox, host):
    code = (
        "import os,signal,sys; print(os.get_terminal_size(), os.tcgetpgrp(0) == os.getpid() == os.getsid(0),"
        "[n for n in range(1, 32) if signal.getsignal(n) == signal.SIG_IGN],"
        "sorted(map(int, os.listdir('/proc/self/fd')))[:4])"
    )
    program = await sandbox.start_python(host, code, rows=33, columns=111)
    await host.wait_exit(program.number)
    await sandbox.wait_for_end(1)
    shown = sandbox.read_log("1/1").decode().replace("\r\n", "")
    # The fourth descriptor is that of the listing itself.
    assert shown == "os.terminal_size(columns=111, lines=33) True [25] [0, 1, 2, 3]".replace("[25]", _get_ignored())


def _get_ignored() -> str:
    """Return the signals that Python itself ignores, as the program prints them."""
    return str([int(signal.SIGPIPE), int(signal.SIGXFSZ)])


async def test_text_is_typed_if_the_guard_holds(sandbox, host):
    program = await sandbox.start(host, "cat")
    assert os.readlink(f"/proc/{program.pid}/exe").endswith("cat")
    guard = HostGuard(pid=program.pid, group=program.pid, canonical=True, echo=True)
    assert await host.write(program.number, b"one\n", guard) is None
    await sandbox.wait_for_text("1/1", b"one\r\none\r\n")
    assert await host.write(program.number, b"two\n", HostGuard(pid=1)) == HostRefusal("pid", str(program.pid))
    assert await host.write(program.number, b"two\n", HostGuard(echo=False)) == HostRefusal("echo", "1")
    size = len(sandbox.read_log("1/1"))
    assert await host.write(program.number, b"two\n", HostGuard(output=0, log=size - 1)) == HostRefusal(
        "log", str(size)
    )
    assert await host.write(program.number, b"end\n", HostGuard(output=0, log=size)) is None
    shown = await sandbox.wait_for_text("1/1", b"end\r\nend\r\n")
    assert b"two" not in shown


async def test_the_foreground_group_is_the_one_of_the_terminal(sandbox, host):
    program = await sandbox.start(host, "sh", "-c", "set -m; sleep 600; echo over")
    facts = await _wait_for_other_group(host, program)
    assert await host.write(program.number, b"x", HostGuard(group=program.pid)) == HostRefusal(
        "group", str(facts.group)
    )
    assert await host.send_signal(program.number, signal.SIGINT, "foreground", HostGuard(group=facts.group)) is None
    ended = await host.wait_exit(program.number)
    assert ended.exit.code in (0, 130) or ended.exit.signal == 2


async def _wait_for_other_group(host, program):
    while (facts := await host.read_facts(program.number)).group in (0, program.pid):
        await asyncio.sleep(0.01)
    return facts


async def test_a_signal_reaches_every_process_of_the_session(sandbox, host):
    code = "set -m; sleep 601 & sleep 602 & echo up $!; wait"
    program = await sandbox.start(host, "bash", "-c", code)
    shown = await sandbox.wait_for_text("1/1", b"\n")
    background = int(shown.split()[1])
    assert await host.send_signal(program.number, signal.SIGKILL, "session") is None
    await host.wait_exit(program.number)
    await wait_until(lambda: not is_alive(background))
    await wait_until(lambda: not is_alive(program.pid))
    assert await host.send_signal(program.number, signal.SIGKILL, "session") == HostRefusal("process", "gone")


async def test_a_terminal_is_resized(sandbox, host):
    code = (
        "import os,signal\n"
        "signal.signal(28, lambda *a: os.write(1, str(os.get_terminal_size()).encode()))\n"
        "os.write(1, b'up'); os.read(0, 1)"
    )
    program = await sandbox.start_python(host, code)
    await sandbox.wait_for_text("1/1", b"up")
    assert await host.resize(program.number, 40, 123) is None
    await sandbox.wait_for_text("1/1", b"os.terminal_size(columns=123, lines=40)")
    await wait_until(lambda: (host.programs[program.number].rows, host.programs[program.number].columns) == (40, 123))
    with pytest.raises(ValueError, match="invalid"):
        await host.resize(program.number, 0, 123)


async def test_long_text_is_typed_completely_as_the_program_reads_it(sandbox, host):
    code = (
        "import hashlib,sys,tty,time; tty.setraw(0); print('up', flush=True); digest = hashlib.sha256(); n = 0\n"
        "while n < 300_000: data = sys.stdin.buffer.raw.read(5000); digest.update(data); n += len(data)\n"
        "print(digest.hexdigest(), flush=True)"
    )
    program = await sandbox.start_python(host, code)
    await sandbox.wait_for_text("1/1", b"up")
    text = random.Random(1).randbytes(300_000)
    assert await host.write(program.number, text, HostGuard(pid=program.pid)) is None
    await sandbox.wait_for_text("1/1", hashlib.sha256(text).hexdigest().encode())


async def test_nothing_is_lost_while_no_recorder_reads(sandbox, host):
    code = (
        "import sys,random; write = sys.stdout.buffer.write; source = random.Random(5)\n"
        "print('up', flush=True); input()\n"
        "for _ in range(3000): write(source.randbytes(1000).hex().encode())"
    )
    program = await sandbox.start_python(host, code)
    await sandbox.wait_for_text("1/1", b"up\r\n")
    # Stopped while it waits: a recorder that is killed between reading and writing loses what it has read.
    os.kill(sandbox.recorder.pid, signal.SIGSTOP)
    assert await host.write(program.number, b"\n") is None
    await wait_until(lambda: _is_blocked(program.pid))
    await sandbox.restart_recorder()
    await sandbox.hold(host, program)
    assert (await host.wait_exit(program.number)).exit.code == 0
    await sandbox.wait_for_end(2)
    source = random.Random(5)
    expected = b"".join(source.randbytes(1000).hex().encode() for _ in range(3000))
    assert sandbox.read_log("1/2") == b"\r\n" + expected


def _is_blocked(pid: int) -> bool:
    """Return True if the process waits until its terminal takes more output."""
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().startswith("1 ")


async def test_a_program_that_ended_without_a_recorder_keeps_its_last_output(sandbox, host):
    program = await sandbox.start(host, "sh", "-c", "echo first; read x; echo last")
    await sandbox.wait_for_text("1/1", b"first")
    await sandbox.restart_recorder()
    assert await host.write(program.number, b"\n") is None
    assert (await host.wait_exit(program.number)).exit.code == 0
    await sandbox.hold(host, program)
    await sandbox.wait_for_end(2)
    assert sandbox.read_log("1/2") == b"\r\nlast\r\n"


async def test_a_hold_without_a_recorder_is_refused_and_can_be_repeated(sandbox, host):
    await sandbox.recorder.quit()
    program = await sandbox.start_held(host, "printf", "x")
    refusal = await host.hold(program.number, 1, 1)
    assert (refusal.what, host.programs[program.number].state) == ("recorder", "held")
    await sandbox.recorder.start()
    await sandbox.hold(host, program)
    assert (await host.wait_exit(program.number)).exit.code == 0


async def test_an_epoch_that_is_in_use_is_refused(sandbox, host):
    first, second = await sandbox.start(host, "cat"), await sandbox.start_held(host, "cat")
    assert await host.hold(second.number, first.number, 1) == HostRefusal("recorder", "epoch")


async def test_the_host_upgrades_itself_and_keeps_programs_and_terminals(sandbox, host):
    running, held = await sandbox.start(host, "cat"), await sandbox.start_held(host, "printf", "late", tag=b"held one")
    ended = await sandbox.start(host, "sh", "-c", "exit 9")
    await host.wait_exit(ended.number)
    before, pid = dict(host.programs), host.pid
    await host.reexec()
    assert (host.pid, host.programs) == (pid, before)
    assert await host.write(running.number, b"same\n") is None
    await sandbox.wait_for_text("1/1", b"same\r\nsame")
    await sandbox.hold(host, held)
    assert (await host.wait_exit(held.number)).exit.code == 0
    assert await host.forget_program(ended.number) is None


async def test_a_failed_upgrade_leaves_the_host_as_it_was(sandbox, host):
    program = await sandbox.start(host, "cat")
    with pytest.raises(Exception, match="cannot run the PTY host"):
        await host.reexec(root="/nowhere")
    assert await host.write(program.number, b"x\n") is None


async def test_programs_outlive_the_host_and_are_recorded(sandbox, host):
    program = await sandbox.start(host, "sh", "-c", "echo up; sleep 0.3; echo after; sleep 600")
    await sandbox.wait_for_text("1/1", b"up")
    os.kill(host.pid, signal.SIGKILL)
    await wait_until(lambda: not host.is_connected)
    await sandbox.wait_for_text("1/1", b"after")
    path = f"{sandbox.paths.pty_result_dir}/{program.pid}.{program.started_ticks}"
    assert (read_result_file(path)["state"], is_alive(program.pid)) == ("running", True)
    os.kill(program.pid, signal.SIGKILL)
    assert await host.start() == {}


async def test_a_held_program_never_runs_once_the_host_is_dead(sandbox, host, folder):
    program = await sandbox.start_held(host, "touch", f"{folder}/ran")
    os.kill(host.pid, signal.SIGKILL)
    await wait_until(lambda: not is_alive(program.pid))
    assert not os.path.exists(f"{folder}/ran")


async def test_a_host_with_programs_does_not_quit(sandbox, host):
    program = await sandbox.start(host, "cat")
    assert await host.quit() == HostRefusal("running", "1")
    assert await host.write(program.number, b"\4") is None
    await host.wait_exit(program.number)
    assert await host.quit() is None
    assert not os.path.exists(sandbox.paths.pty_host_socket)


async def test_two_clients_reach_the_same_host(sandbox):
    first, second = sandbox.make_client(), sandbox.make_client()
    await asyncio.gather(first.start(), second.start())
    program = await sandbox.start(first, "cat", tag=b"mine")
    await wait_until(lambda: program.number in second.programs)
    assert (first.pid, second.programs[program.number].tag) == (second.pid, b"mine")


async def test_without_a_host_none_is_started_unless_wanted(sandbox):
    with pytest.raises(Unavailable, match="no PTY host"):
        await sandbox.make_client().start(may_spawn=False)
    assert not os.path.exists(sandbox.paths.pty_host_socket)
