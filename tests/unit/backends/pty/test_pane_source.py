"""PtyServer with a real host, a real recorder and the terminal model."""

import os
import signal
import sys

from termvisor.backends.pane_control import AppliedChange, PaneGuard
from termvisor.backends.pane_source import PanesChanged, ServerGone, StartedCapture
from termvisor.backends.pty import ghostty_library
from termvisor.backends.transports.local import LocalTransport
from termvisor.model.action.action import Spawn
from tests.unit.backends.pty.conftest import PaneScene
from tests.unit.wait_until import wait_until


async def test_a_pane_is_listed_with_what_the_kernel_and_its_screen_tell(scene, folder):
    pane = await scene.spawn("sh", "-c", r"printf '\033]2;my title\007\033[?1049hup'; cat", cwd=folder)
    await scene.wait_for_row(pane, "up")
    await wait_until(lambda: PanesChanged() in scene.news)
    [facts] = await scene.server.list_pane_facts()
    assert (facts.mux_id, facts.cwd, facts.title) == (pane, folder, "my title")
    assert (facts.width, facts.height, facts.alternate, facts.dead) == (120, 40, True, False)
    assert (facts.pid, facts.pid_started > 0, facts.tty.startswith("/dev/pts/")) == (scene.get_pid(pane), True, True)
    assert scene.server.detect_changes([facts]) == "none"


async def test_the_capture_of_a_new_pane_is_empty_and_its_first_byte_is_recorded(scene):
    pane, _ = await scene.control.open_pane(Spawn(where="session", command=("printf", "first")), None)
    started = await scene.capture(pane)
    assert isinstance(started, StartedCapture) and started.data_plane == "pty"
    assert (set(started.capture.rows), started.capture.cursor_x, started.capture.cursor_y) == ({""}, 0, 0)
    await wait_until(lambda: scene.sandbox.read_log("1/1") == b"first")


async def test_a_second_capture_continues_with_the_screen_of_the_first(scene):
    pane = await scene.spawn("sh", "-c", "echo before; read x; echo after; cat")
    await scene.wait_for_row(pane, "before")
    await scene.sandbox.restart_recorder()
    started = await scene.capture(pane)
    assert started.capture.rows[0] == "before"
    await scene.backend.client.write(1, b"\n")
    rows = await scene.wait_for_row(pane, "after")
    assert rows[:3] == ["before", "", "after"]


async def test_an_ended_pane_is_forgotten_once_all_is_recorded(scene):
    pane = await scene.spawn("sh", "-c", "echo last")
    await wait_until(lambda: scene.sandbox.read_log("1/1") == b"last\r\n")
    await scene.backend.client.wait_exit(1)
    await scene.sandbox.wait_for_end(1)
    assert await scene.server.list_pane_facts() == []
    assert os.listdir(scene.sandbox.paths.pty_result_dir) == []
    assert await scene.capture(pane) == "gone"


async def test_queries_of_programs_are_answered(scene):
    code = (
        "import os,sys,tty; tty.setraw(0); os.write(1, b'\\x1b[c\\x1b[18t\\x1b]7501;?\\x07')\n"
        "seen = b''\n"
        "while b'7501' not in seen or seen[-1:] != b'\\\\': seen += os.read(0, 100)\n"
        "print(ascii(seen), flush=True); os.read(0, 1)"
    )
    pane = await scene.spawn(sys.executable, "-ISc", code)
    rows = await scene.wait_for_row(pane, "7501")
    assert rows[0] == r"b'\x1b[?62;22c\x1b[8;40;120t\x1b]7501;?\x1b\\'"


async def test_the_screen_survives_a_restart_of_the_daemon(scene):
    pane = await scene.spawn("sh", "-c", r"printf '\033[?2004hone\ntwo'; cat")
    before = await scene.wait_for_row(pane, "two")
    await scene.server.close()
    scene.backend.client.close()
    await scene.open()
    assert [row.rstrip() for row in (await scene.server.capture_pane(pane)).rows] == before
    assert scene.server.get_screen(pane).model.is_mode_set(2004)
    await scene.backend.client.write(1, b"typed\n")
    await scene.wait_for_row(pane, "twotyped")


async def test_the_screen_is_read_from_the_log_after_a_crash_of_the_daemon(scene):
    pane = await scene.spawn("sh", "-c", "echo one; read x; echo two; cat")
    await scene.wait_for_row(pane, "one")
    await scene.sandbox.restart_recorder()
    await scene.capture(pane)
    await scene.backend.client.write(1, b"\n")
    before = await scene.wait_for_row(pane, "two")
    for screen in scene.server.screens.values():
        screen.save_checkpoint = lambda: None
    await scene.server.close()
    scene.backend.client.close()
    await scene.open()
    assert [row.rstrip() for row in (await scene.server.capture_pane(pane)).rows] == before


async def test_panes_stay_listed_after_their_host_died_until_they_end(scene):
    pane = await scene.spawn("sh", "-c", "echo up; sleep 600")
    await scene.wait_for_row(pane, "up")
    pid, instance = scene.get_pid(pane), scene.server.instance
    os.kill(instance.pid, signal.SIGKILL)
    await wait_until(lambda: not scene.backend.client.is_connected)
    facts = await scene.server.list_pane_facts()
    assert [each.mux_id for each in facts] == [pane]
    assert scene.backend.is_server_alive(LocalTransport(), instance)
    assert scene.server.choose_channel(pane, can_pipe=True) == "none"
    os.kill(pid, signal.SIGKILL)
    await wait_until(lambda: scene.server.detect_changes(facts) and ServerGone() in scene.news)
    assert await scene.server.list_pane_facts() == []


async def test_the_program_of_a_pane_inherits_no_foreign_terminal(scene):
    pane = await scene.spawn("sh", "-c", "echo $TERM $COLORTERM [$TMUX$TERM_PROGRAM] $MINE; cat", env={"MINE": "yes"})
    rows = await scene.wait_for_row(pane, "xterm")
    assert rows[0] == "xterm-256color truecolor [] yes"


async def test_without_the_terminal_model_a_private_tmux_shows_the_screen(sandbox, monkeypatch):
    monkeypatch.setattr(ghostty_library, "LIBRARY_VERSION", "none")
    scene = PaneScene(sandbox)
    await scene.open()
    pane = await scene.spawn("sh", "-c", r"printf 'one\n\033[31mtwo\033[0m\033]2;named\007'; cat")
    rows = await scene.wait_for_row(pane, "two")
    assert (rows[:2], scene.server.screens[1].model.title) == (["one", "two"], "named")
    guard = PaneGuard(pane=pane, pid=scene.get_pid(pane), shows="two", cursor=(3, 1))
    assert await scene.control.write(guard, "typed") == AppliedChange()
    assert await scene.wait_for_row(pane, "twotyped")
    await scene.server.close()


async def test_a_new_host_takes_the_place_of_one_that_died(scene):
    old = await scene.spawn("sh", "-c", "echo old; sleep 600")
    await scene.wait_for_row(old, "old")
    old_pid = scene.get_pid(old)
    os.kill(scene.server.instance.pid, signal.SIGKILL)
    await wait_until(lambda: not scene.backend.client.is_connected)
    assert await scene.backend.start_server(LocalTransport())
    new = await scene.spawn("sh", "-c", "echo new; cat")
    assert await scene.wait_for_row(new, "new") != await scene.wait_for_row(old, "old")
    facts = await scene.server.list_pane_facts()
    assert ({each.mux_id for each in facts}, scene.server.detect_changes(facts)) == ({old, new}, "possible")
    assert [scene.server.choose_channel(pane, can_pipe=True) for pane in (old, new)] == ["none", "pty"]
    os.kill(old_pid, signal.SIGKILL)
    await wait_until(lambda: not os.path.exists(f"/proc/{old_pid}/exe"))
    assert [each.mux_id for each in await scene.server.list_pane_facts()] == [new]
    assert scene.server.detect_changes([]) == "none"
