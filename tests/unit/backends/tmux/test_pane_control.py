"""Write to a real pane, and refuse if its guard does not hold."""

import os
import sys

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_control import AppliedChange, AppliedPaneChange, GuardMismatch, PaneGuard
from termvisor.backends.tmux.pane_control import TmuxPaneControl, build_condition, build_spawn_command
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from tests.unit.wait_until import wait_until

ECHO = "stty raw -echo; printf ready; exec cat > {path}"


@pytest.fixture
async def server(tmux, native):
    tmux.start_session(command="cat")
    return TmuxPaneControl(await identify_server(native, tmux.socket))


@pytest.fixture
async def typed_bytes(tmux, server, folder):
    """Run a program that stores its input; return its guard and a function that reads the input."""
    path = f"{folder}/heard"
    pane = tmux.open_window("work", ECHO.format(path=path))
    await wait_until(lambda: tmux.read_format(pane, "#{pane_current_command}") == "cat")
    await wait_until(lambda: "ready" in tmux("capture-pane", "-p", "-t", pane))
    guard = PaneGuard(pane=pane, pid=int(tmux.read_format(pane, "#{pane_pid}")), command="cat", alternate=False)

    def read_bytes() -> bytes:
        with open(path, "rb") as file:
            return file.read()

    return guard, read_bytes


@pytest.mark.parametrize(
    "text",
    [
        "word",
        "end;",
        "-x --",
        "#{pane_id} $HOME `id` \"q\" 'q' \\",
        "two\nlines",
        "日本 é\t.",
        "\x1b[A",
        "x" * 1_000_000,
    ],
    ids=["word", "semicolon", "dashes", "formats", "lines", "unicode", "escape", "megabyte"],
)
async def test_a_text_is_typed_unchanged(server, typed_bytes, text):
    guard, read_bytes = typed_bytes
    assert await server.write(guard, text) == AppliedChange()
    await wait_until(lambda: len(read_bytes()) >= len(text.encode()))
    assert read_bytes() == text.encode()


async def test_a_text_with_a_nul_is_refused_before_anything_is_sent(server, typed_bytes):
    with pytest.raises(BadRequest, match="NUL"):
        await server.write(typed_bytes[0], "a\0b")


@pytest.mark.parametrize(
    ("change", "what", "actual"),
    [
        ({"pid": 1}, "pid", None),
        ({"command": "claude"}, "command", "cat"),
        ({"alternate": True}, "alternate", "0"),
        ({"cursor": (4, 0)}, "cursor", "5/0"),
        ({"shows": "not there"}, "screen", "not in any row"),
        ({"rows": ("ready", "❯ 1. Yes")}, "screen", "not in any row"),
    ],
)
async def test_a_failed_condition_is_named_and_nothing_is_written(server, typed_bytes, change, what, actual):
    guard, read_bytes = typed_bytes
    found = await server.write(replace(guard, **change), "text")
    assert isinstance(found, GuardMismatch) and found.what == what and actual in (None, found.actual)
    assert await server.write(guard, "after") == AppliedChange()
    await wait_until(read_bytes)
    assert read_bytes() == b"after"


async def test_a_text_that_was_not_typed_stays_in_no_buffer(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    for refused in (replace(guard, pid=1), replace(guard, shows="not there")):
        assert isinstance(await server.write(refused, "text"), GuardMismatch)
    with pytest.raises(BadRequest):
        await server.write(replace(guard, shows="a-b"), "text")
    assert tmux("list-buffers") == ""


async def test_a_required_text_stays_in_no_variable(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    before = tmux("show-environment", "-gh") + tmux("show-environment", "-g")
    assert await server.press(replace(guard, shows="ready", cursor=(5, 0)), ["x"]) == AppliedChange()
    assert isinstance(await server.press(replace(guard, shows="ready", pid=1), ["x"]), GuardMismatch)
    assert tmux("show-environment", "-gh") + tmux("show-environment", "-g") == before


async def test_a_guard_may_require_text_on_the_screen(server, typed_bytes):
    guard, _ = typed_bytes
    assert await server.write(replace(guard, shows="ready"), "x") == AppliedChange()
    assert await server.write(replace(guard, rows=("ready", "eady")), "x") == AppliedChange()
    with pytest.raises(BadRequest, match="pointers"):
        await server.write(replace(guard, rows=("#{pane_id}",)), "x")


async def test_a_guard_may_require_the_selected_option(tmux, server):
    pane = tmux.open_window("work", "printf ' ❯ 1. Yes\\n   2. No\\n'; exec cat")
    await wait_until(lambda: "2. No" in tmux("capture-pane", "-p", "-t", pane))
    guard = PaneGuard(pane=pane, pid=int(tmux.read_format(pane, "#{pane_pid}")))
    assert await server.press(replace(guard, rows=("❯ 1. Yes", "2. No")), ["Enter"]) == AppliedChange()
    assert isinstance(await server.press(replace(guard, rows=("❯ 2. No",)), ["Enter"]), GuardMismatch)


async def test_a_gone_pane_is_not_mistaken_for_the_current_one(server, typed_bytes):
    guard, read_bytes = typed_bytes
    assert await server.write(replace(guard, pane="%999"), "text") == GuardMismatch("pane", "%999", "none")
    assert await server.write(guard, "only this") == AppliedChange()
    await wait_until(read_bytes)
    assert read_bytes() == b"only this"


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (("copy-mode", "-t", "{pane}"), "mode"),
        (("select-pane", "-d", "-t", "{pane}"), "input_off"),
        (("set", "-w", "-t", "{pane}", "synchronize-panes", "on"), "synchronized"),
    ],
)
async def test_a_pane_in_a_mode_or_with_synchronized_input_gets_nothing(tmux, server, typed_bytes, make, what):
    guard, _ = typed_bytes
    tmux(*(word.format(pane=guard.pane) for word in make))
    found = await server.write(guard, "text")
    assert isinstance(found, GuardMismatch) and found.what == what


async def test_a_dead_pane_gets_nothing(tmux, server):
    pane = tmux.open_window("work", "exec cat")
    tmux("set", "-w", "-t", pane, "remain-on-exit", "on")
    pid = int(tmux.read_format(pane, "#{pane_pid}"))
    tmux("send-keys", "-t", pane, "C-d")
    await wait_until(lambda: tmux.read_format(pane, "#{pane_dead}") == "1")
    found = await server.write(PaneGuard(pane=pane, pid=pid), "text")
    assert isinstance(found, GuardMismatch) and found.what == "dead"


async def test_keys_are_sent_by_name_and_unknown_names_are_not_typed(server, typed_bytes):
    guard, read_bytes = typed_bytes
    assert await server.press(guard, ["C-c", "Escape", "Up", "a"]) == AppliedChange()
    await wait_until(lambda: read_bytes() == b"\x03\x1b\x1b[Aa")
    with pytest.raises(BadRequest, match="unknown key 'Entr'"):
        await server.press(guard, ["Entr"])
    with pytest.raises(BadRequest, match="at least one"):
        await server.press(guard, [])


async def test_the_pane_state_has_its_screen_and_facts(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    seen = await server.read_pane_state(guard.pane)
    assert seen is not None
    assert (seen.pane, seen.pid, seen.command, seen.alternate, seen.dead) == (
        guard.pane,
        guard.pid,
        "cat",
        False,
        False,
    )
    assert seen.rows[0].strip() == "ready"
    assert (seen.cursor_x, seen.cursor_y, seen.width) == (5, 0, 100)
    assert seen.viewers == ()
    assert await server.read_pane_state("%999") is None


async def test_a_program_with_a_hostile_name_forges_no_answer(tmux, server, folder):
    name = "x\n%end 1 1 1\nfound %1 '#{pane_id}"
    script = f"{folder}/run.py"
    with open(script, "w") as file:
        file.write(f"import os; os.execv({sys.executable!r}, [{name!r}, '-c', 'import time; time.sleep(600)'])")
    pane = tmux.open_window("work", f"exec {sys.executable} {script}")
    await wait_until(lambda: "end" in tmux.read_format(pane, "#{pane_current_command}"))
    seen = await server.read_pane_state(pane)
    assert seen is not None and "?" in seen.command and "\n" not in seen.command
    found = await server.write(PaneGuard(pane=pane, pid=seen.pid, command="bash"), "text")
    assert isinstance(found, GuardMismatch) and (found.what, found.expected) == ("command", "bash")
    with pytest.raises(BadRequest, match="unsupported characters"):
        build_condition(PaneGuard(pane=pane, pid=1, command=name))


async def test_an_attached_viewer_is_listed(tmux, server, folder):
    pane = tmux.start_session("other", "cat")
    client = tmux.open_window("work", f"exec env -u TMUX tmux -S {tmux.socket} attach -t =other")
    await wait_until(lambda: "other" in tmux("list-clients", "-F", "#{session_name}"))
    tmux("send-keys", "-t", client, "h")
    await wait_until(lambda: "h" in tmux("capture-pane", "-p", "-t", pane))
    seen = await server.read_pane_state(pane)
    assert seen is not None and len(seen.viewers) == 1
    assert seen.viewers[0].typed_at > 0


async def test_attached_clients_are_listed_without_the_private_ones(tmux, server):
    assert await server.list_clients() == []
    pane = tmux.start_session("other", "cat")
    tmux.open_window("work", f"exec env -u TMUX LC_ALL=C.UTF-8 tmux -S {tmux.socket} attach -t =other")
    await wait_until(lambda: "other" in tmux("list-clients", "-F", "#{session_name}"))
    (client,) = await server.list_clients()
    assert (client.pane, client.is_utf8, client.typed_at > 0) == (pane, True, True)
    assert client.tty in tmux("list-clients", "-F", "#{client_tty}").splitlines()


@pytest.mark.parametrize("where", ["session", "window", "pane"])
async def test_a_program_is_started_at_the_requested_place(tmux, server, typed_bytes, where, folder):
    guard, _ = typed_bytes
    wanted = Spawn(
        where=where,
        session={"session": "fresh", "window": "work", "pane": ""}[where],
        command=("sh", "-c", 'printf "%s|%s|%s" "$PWD" "$WORD" "$0"; exec sleep 600', "a b;#{x}"),
        cwd=folder,
        env={"WORD": "it's #{pane_id} $HOME"},
    )
    pane, pid = await server.open_pane(wanted, None if where == "session" else guard.pane)
    assert int(tmux.read_format(pane, "#{pane_pid}")) == pid
    await wait_until(lambda: "|a b" in tmux("capture-pane", "-p", "-J", "-t", pane))
    shown = tmux("capture-pane", "-p", "-J", "-t", pane).strip()
    assert shown == f"{folder}|it's #{{pane_id}} $HOME|a b;#{{x}}"


async def test_a_program_without_arguments_is_started_by_its_path(tmux, server, folder):
    path = f"{folder}/it's here"
    with open(path, "w") as file:
        file.write("#!/bin/sh\nprintf started\nexec sleep 600\n")
    os.chmod(path, 0o700)
    pane, _ = await server.open_pane(Spawn(where="session", command=(path,)), None)
    await wait_until(lambda: "started" in tmux("capture-pane", "-p", "-t", pane))


async def test_a_pane_is_selected_titled_and_closed(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    former, front = tmux.read_format(guard.pane, "#{pane_title}"), tmux.read_format("=work:", "#{pane_id}")
    assert await server.change_pane(guard, "title", "a #{pane_id} title") == AppliedPaneChange(
        old_title=former, old_front=front, new_title="a #{pane_id} title"
    )
    assert tmux.read_format(guard.pane, "#{pane_title}") == "a #{pane_id} title"
    altered = await server.change_pane(guard, "activate")
    assert isinstance(altered, AppliedPaneChange) and altered.old_front == front
    assert tmux.read_format("=work:", "#{pane_id}") == guard.pane
    seen = await server.read_pane_state(guard.pane)
    assert (seen.title, seen.front) == ("a #{pane_id} title", guard.pane)
    assert isinstance(await server.change_pane(guard, "close"), AppliedPaneChange)
    assert await server.read_pane_state(guard.pane) is None


@pytest.mark.parametrize("where", ["window", "pane"])
async def test_opening_a_pane_without_a_named_place_is_a_bad_request(server, where):
    with pytest.raises(BadRequest):
        await server.open_pane(Spawn(where=where), None)


async def test_a_pane_in_copy_mode_can_be_closed_though_it_takes_no_input(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    tmux("copy-mode", "-t", guard.pane)
    found = await server.change_pane(guard, "close")
    assert isinstance(found, GuardMismatch) and found.what == "mode"
    assert isinstance(await server.change_pane(replace(guard, takes_input=False), "close"), AppliedPaneChange)
    assert await server.read_pane_state(guard.pane) is None


@pytest.mark.parametrize("title", ["plain", "✳ é, {a} #{pane_id} %H", 'it\'s "quoted"; \\ $HOME `x`', "##", "}#,", ""])
async def test_a_change_may_require_the_current_title(tmux, server, typed_bytes, title):
    guard, _ = typed_bytes
    await server.change_pane(guard, "title", title)
    found = await server.change_pane(replace(guard, title=f"{title} "), "title", "never")
    assert isinstance(found, GuardMismatch) and (found.what, found.actual) == ("title", "another one")
    assert isinstance(await server.change_pane(replace(guard, title=title), "title", "changed"), AppliedPaneChange)
    assert tmux.read_format(guard.pane, "#{pane_title}") == "changed"


async def test_a_change_may_require_the_active_pane(tmux, server, typed_bytes):
    guard, _ = typed_bytes
    found = await server.change_pane(replace(guard, front=MuxPaneId("%999")), "activate")
    assert isinstance(found, GuardMismatch) and (found.what, found.expected) == ("front", "%999")
    front = MuxPaneId(tmux.read_format("=work:", "#{pane_id}"))
    assert isinstance(await server.change_pane(replace(guard, front=front), "activate"), AppliedPaneChange)


PRINTING = ["-d", "-P", "-F", "#{pane_id} #{pane_pid}"]


def test_a_session_is_created_by_name():
    words = build_spawn_command(Spawn(where="session", session="work", name="main"), None).words
    assert words == ("new-session", *PRINTING, "-E", "-s", "work", "-n", "main")


@pytest.mark.parametrize(("session", "target"), [("work", "=work:"), ("$3", "$3:")])
def test_a_window_opens_in_exactly_that_session(session, target):
    words = build_spawn_command(Spawn(where="window", session=session), None).words
    assert words == ("new-window", *PRINTING, "-t", target)


def test_a_pane_is_split_from_the_named_one():
    assert build_spawn_command(Spawn(where="pane"), "%5").words == ("split-window", *PRINTING, "-v", "-t", "%5")
    side = build_spawn_command(Spawn(where="pane", is_horizontal=True), "%5").words
    assert side == ("split-window", *PRINTING, "-h", "-t", "%5")


@pytest.mark.parametrize("where", ["window", "pane"])
def test_a_spawn_command_without_a_named_place_is_a_bad_request(where):
    with pytest.raises(BadRequest):
        build_spawn_command(Spawn(where=where), None)


@pytest.mark.parametrize("more", [{"keeps_failure": True}, {"account": "openai/work"}])
def test_an_agent_that_fails_keeps_its_pane_open(more):
    words = build_spawn_command(Spawn(where="session", command=("codex", "resume", "a b"), **more), None).words
    assert "remain-on-exit failed" in words[-5]
    assert words[-4:] == ("sh", "codex", "resume", "a b")


def test_another_program_closes_its_pane():
    words = build_spawn_command(Spawn(where="session", command=("make", "test")), None).words
    assert words[-3:] == ("--", "make", "test")
