"""PtyPaneControl: what is typed, and what refuses it, with a real host and real programs."""

import asyncio
import os
import signal
import sys

import pytest

from termvisor.backends.pane_control import AppliedChange, GuardMismatch, PaneGuard
from termvisor.errors import BadRequest, MuxError, Unsupported
from tests.unit.wait_until import wait_until

READ_PASTE = (
    "import os,sys,tty; tty.setraw(0); os.write(1, b'\\x1b[?2004hready')\n"
    "seen = b''\n"
    "while not seen.endswith(b'.'): seen += os.read(0, 1000)\n"
    "os.write(1, ascii(seen).encode()); os.read(0, 1)"
)


def guard(scene, pane, **conditions) -> PaneGuard:
    return PaneGuard(pane=pane, pid=scene.get_pid(pane), **conditions)


async def test_text_is_typed_if_the_screen_is_as_expected(scene):
    pane = await scene.spawn("cat")
    assert await scene.control.write(guard(scene, pane, command="cat", alternate=False), "hello") == AppliedChange()
    await scene.wait_for_row(pane, "hello")
    conditions = {"shows": "hello", "cursor": (5, 0), "rows": ("hel",)}
    assert await scene.control.press(guard(scene, pane, **conditions), ["Enter"]) == AppliedChange()
    rows = await scene.wait_for_row(pane, "hello")
    await wait_until(lambda: scene.sandbox.read_log("1/1") == b"hello\r\nhello\r\n")
    assert rows[0] == "hello"


async def test_each_condition_that_fails_is_named_and_nothing_is_typed(scene):
    pane = await scene.spawn("cat")
    await scene.control.write(guard(scene, pane), "x")
    await scene.wait_for_row(pane, "x")
    failures = {
        "command": {"command": "vim"},
        "alternate": {"alternate": True},
        "screen": {"shows": "y"},
        "cursor": {"cursor": (9, 9)},
        "title": {"title": "other"},
        "front": {"front": "%p9"},
    }
    for what, conditions in failures.items():
        mismatch = await scene.control.write(guard(scene, pane, **conditions), "typed")
        assert isinstance(mismatch, GuardMismatch) and mismatch.what == what
    wrong_pid = PaneGuard(pane=pane, pid=1)
    assert (await scene.control.write(wrong_pid, "typed")).what == "pid"
    for unknown in ("%p99", "%99", "%p", "%px"):
        assert (await scene.control.write(PaneGuard(pane=unknown, pid=1), "typed")).what == "pane"
    assert scene.sandbox.read_log("1/1") == b"x"


async def test_text_is_a_paste_where_the_program_asked_for_pastes(scene):
    pane = await scene.spawn(sys.executable, "-ISc", READ_PASTE)
    await scene.wait_for_row(pane, "ready")
    await scene.control.write(guard(scene, pane), "one\ntwo")
    await scene.control.press(guard(scene, pane), ["."])
    rows = await scene.wait_for_row(pane, "one")
    assert rows[0] == r"readyb'\x1b[200~one\ntwo\x1b[201~.'"


async def test_text_that_would_end_its_paste_is_rejected(scene):
    pane = await scene.spawn("cat")
    for text in ("a\x1b[201~b", "a\0b"):
        with pytest.raises(BadRequest):
            await scene.control.write(guard(scene, pane), text)
    with pytest.raises(BadRequest, match="unknown key"):
        await scene.control.press(guard(scene, pane), ["Enter", "Foo"])
    assert scene.sandbox.read_log("1/1") == b""


async def test_a_program_that_redraws_its_screen_is_typed_into_between_two_frames(scene):
    code = (
        "import os,select,time,tty; tty.setraw(0); n = 0; got = b''\n"
        "while b'q' not in got:\n"
        "    n += 1; os.write(1, b'\\rframe %d ' % n + got)\n"
        "    if select.select([0], [], [], 0.016)[0]: got += os.read(0, 100)\n"
        "os.write(1, b' quit'); os.read(0, 1)"
    )
    pane = await scene.spawn(sys.executable, "-ISc", code)
    await scene.wait_for_row(pane, "frame")
    assert await scene.control.write(guard(scene, pane, shows="frame"), "q") == AppliedChange()
    await scene.wait_for_row(pane, " quit")


async def test_a_guard_for_another_foreground_program_fails_in_the_host(scene):
    pane = await scene.spawn("bash", "--norc", "--noprofile", "-i")
    await scene.control.write(guard(scene, pane), "cat")
    await scene.control.press(guard(scene, pane), ["Enter"])
    await wait_until(lambda: os.path.basename(_read_foreground(scene, pane)) == "cat")
    mismatch = await scene.control.write(guard(scene, pane, command="bash"), "rm")
    assert mismatch == GuardMismatch("command", "bash", "cat")


def _read_foreground(scene, pane) -> str:
    from termvisor.system import procfs, tty

    return (procfs.read_argv(tty.find_foreground_group(scene.get_pid(pane))) or ("",))[0]


async def test_a_pane_is_closed_even_if_its_program_ignores_signals(scene):
    pane = await scene.spawn("sh", "-c", "trap '' HUP TERM; echo up; while :; do sleep 0.1; done")
    await scene.wait_for_row(pane, "up")
    pid = scene.get_pid(pane)
    await scene.control.change_pane(guard(scene, pane), "close")
    assert not os.path.exists(f"/proc/{pid}")


async def test_titles_and_activation_are_unsupported(scene):
    pane = await scene.spawn("cat")
    with pytest.raises(Unsupported):
        await scene.control.change_pane(guard(scene, pane), "title", "x")


async def test_the_state_of_a_pane_has_colours_and_no_viewers(scene):
    pane = await scene.spawn("sh", "-c", r"printf '\033[31mred\033[0m'; cat")
    await scene.wait_for_row(pane, "red")
    state = await scene.control.read_pane_state(pane)
    assert "\x1b[38;5;1mred" in state.rows[0]
    assert (state.cursor_x, state.cursor_y, state.viewers, state.dead) == (3, 0, (), False)
    assert await scene.control.list_clients() == []
    assert await scene.control.read_pane_state("%p77") is None


async def test_nothing_is_typed_once_the_host_is_dead(scene):
    pane = await scene.spawn("cat")
    condition = guard(scene, pane)
    os.kill(scene.server.instance.pid, signal.SIGKILL)
    await wait_until(lambda: not scene.backend.client.is_connected)
    with pytest.raises(MuxError):
        await asyncio.wait_for(scene.control.write(condition, "x"), 10)
    os.kill(condition.pid, signal.SIGKILL)
