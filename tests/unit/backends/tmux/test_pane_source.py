"""TmuxServer with a real tmux: listings, captures and pipes of the right pane."""

import os
import shlex
from pathlib import Path

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.errors import MuxError
from termvisor.system.procfs import read_start_time
from tests.unit.wait_until import wait_until

COUNTING = "i=0; while :; do i=$((i+1)); echo $i; done"


@pytest.fixture
async def server(tmux, pane, native) -> TmuxServer:
    return await identify_server(native, tmux.socket)


async def dead_pane(tmux) -> str:
    """A pane that remains after its program exited."""
    tmux("set", "-g", "remain-on-exit", "on")
    mux_id = tmux.open_window("work", "exit 3")
    await wait_until(lambda: tmux.read_format(mux_id, "#{pane_dead}") == "1")
    return mux_id


def list_numbers(capture: PaneCapture, piped: bytes) -> list[int]:
    """Return the numbers of the capture and of the complete lines of the pipe after it."""
    shown = "\n".join(capture.rows).rstrip() + ("" if capture.cursor_x else "\n")
    return [int(word) for word in (shown + piped.decode().rpartition("\r\n")[0]).split()]


async def test_the_first_message_is_hello_with_the_pid(tmux, server):
    pid = int(tmux("display-message", "-p", "#{pid}"))
    assert (server.instance.socket, server.instance.pid) == (tmux.socket, pid)
    assert server.instance.started == read_start_time(pid) > 0
    assert tmux("-V").endswith(server.version)
    assert not server.exits_unattached


async def test_exit_unattached_is_read_from_the_server(tmux, server, control):
    await control().wait_until_attached()
    tmux("set", "-s", "exit-unattached", "on")
    assert (await identify_server(server.client, tmux.socket)).exits_unattached
    await server.list_pane_facts()
    assert server.exits_unattached


async def test_a_listing_yields_the_pane_changes(tmux, pane, server):
    dead = await dead_pane(tmux)
    tmux("pipe-pane", "-t", pane, "cat > /dev/null")
    thin = await server.list_pane_statuses()
    facts = {one.mux_id: one for one in await server.list_pane_facts()}
    assert (thin[pane].piped, thin[pane].dead, thin[dead].dead) == (True, False, True)
    assert (facts[dead].dead, facts[pane].dead, facts[pane].dead_status) == (True, False, None)
    assert facts[dead].dead_status in (3, None)  # tmux 3.3a forgets some (8 of 40)
    assert (facts[pane].pid, facts[pane].pid_started) == (thin[pane].pid, read_start_time(thin[pane].pid))
    assert (facts[pane].width, facts[pane].height, facts[pane].command) == (100, 30, "sleep")


async def test_destroy_unattached_is_in_the_facts(tmux, pane, server):
    tmux("new-session", "-d", "-s", "other", "sleep 1000")
    tmux("set", "-t", "=work:", "destroy-unattached", "on", ";", "set", "-t", "=work:", "@x", "1")
    ends = {facts.session_name: facts.session_ends_unattached for facts in await server.list_pane_facts()}
    assert ends.get("other") is False
    assert ends.get("work", True) is True


async def test_names_paths_and_titles_are_unchanged(tmux, pane, server, folder):
    weird = f"{folder}/a\x1fb\x1e\n%9\x1f1\x1f '\"#{{pid}}"
    os.mkdir(weird)
    name = 'we\'ird "na;me" #{pid} é日'
    other = tmux.start_session(name, f"cd {shlex.quote(weird)} && exec sleep 1000")
    tmux("select-pane", "-t", other, "-T", "t;it'l\"e $(x) 日本")
    await wait_until(lambda: tmux.read_format(other, "#{pane_current_command}") == "sleep")
    facts = {one.mux_id: one for one in await server.list_pane_facts()}
    assert set(facts) == {pane, other}
    assert facts[other].cwd == weird
    assert facts[other].session_name == tmux.read_format(other, "#{session_name}")
    assert facts[other].title == tmux.read_format(other, "#{pane_title}")


async def test_a_program_that_keeps_changing_its_name_breaks_no_listing(tmux, pane, server, folder):
    os.symlink("/bin/sh", f"{folder}/a-much-longer-name")
    other = tmux.open_window("work", f"n=0; while :; do {folder}/a-much-longer-name -c :; cd /tmp; cd {folder}; done")
    listings = [{facts.mux_id for facts in await server.list_pane_facts()} for _ in range(300)]
    assert all(listing == {pane, other} for listing in listings)


async def test_the_screen_is_captured_with_its_cursor(tmux, server):
    mux_id = tmux.open_window("work", r"printf 'one\n\033[31mred\033[0m two'; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(mux_id, "#{cursor_x}") == "7")
    capture = await server.capture_pane(mux_id)
    assert capture.rows[:3] == ("one", "red two", "")
    assert (capture.width, capture.height, len(capture.rows)) == (100, 30, 30)
    assert (capture.cursor_x, capture.cursor_y, capture.alternate) == (7, 1, False)
    assert "\x1b[31mred" in (await server.capture_pane(mux_id, escapes=True)).rows[1]
    assert "\x1b[31mred" in (await server.capture_pane(mux_id, lines=50, escapes=True)).rows[1]


async def test_scrollback_is_captured_before_the_screen_and_a_long_line_is_one_row(tmux, server):
    mux_id = tmux.open_window("work", f"seq 1 100; printf '{'x' * 250}\\nend'; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(mux_id, "#{cursor_x}") == "3")
    assert "60" not in (await server.capture_pane(mux_id)).rows
    rows = (await server.capture_pane(mux_id, lines=50)).rows
    assert rows.index("60") < rows.index("100") < rows.index("x" * 250) < rows.index("end")


async def test_the_rows_above_the_screen_are_captured_with_it(tmux, server):
    mux_id = tmux.open_window("work", f"printf '{'a' * 100}{'b' * 100}\\n'; seq 1 28; printf end; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(mux_id, "#{cursor_x}") == "3")
    capture = await server.capture_pane(mux_id)
    assert (capture.rows_above, capture.rows[:2]) == (("a" * 100,), ("b" * 100, "1"))
    assert (await server.capture_pane(mux_id, lines=5)).rows_above == ()


async def test_without_scrollback_or_on_the_alternate_screen_no_rows_are_above(tmux, pane, server):
    mux_id = tmux.open_window("work", r"seq 1 100; printf '\033[?1049hfull'; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(mux_id, "#{cursor_x}") == "4")
    assert [(await server.capture_pane(one)).rows_above for one in (pane, mux_id)] == [(), ()]


async def test_the_alternate_screen_is_reported(tmux, server):
    mux_id = tmux.open_window("work", r"printf '\033[?1049hfull'; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(mux_id, "#{cursor_x}") == "4")
    assert (await server.capture_pane(mux_id)).alternate


async def test_a_gone_pane_cannot_be_captured(server):
    with pytest.raises(MuxError, match="%99 is gone"):
        await server.capture_pane("%99")


async def test_a_pipe_carries_the_output_after_the_capture(tmux, server, folder):
    mux_id = tmux.open_window("work", "cat")
    tmux.type_line(mux_id, "before")
    await wait_until(lambda: tmux("capture-pane", "-p", "-t", mux_id).count("before") == 2)
    capture = await server.open_pipe(mux_id, f"exec cat > {folder}/log", lines=10)
    assert isinstance(capture, PaneCapture)
    assert capture.rows[:2] == ("before", "before")
    tmux.type_line(mux_id, "after")
    await wait_until(lambda: Path(folder, "log").read_text().count("after") == 2)
    assert "before" not in Path(folder, "log").read_text()


async def test_capture_and_pipe_join_without_a_missing_or_repeated_number(tmux, server, folder):
    mux_id = tmux.open_window("work", COUNTING)
    for turn in range(10):
        log = Path(folder, f"log{turn}")
        capture = await server.open_pipe(mux_id, f"exec cat > {log}", lines=100)
        await wait_until(lambda log=log: log.exists() and log.stat().st_size > 2000)
        await server.close_pipe(mux_id)
        found = list_numbers(capture, log.read_bytes())
        assert found == list(range(found[0], found[0] + len(found)))
        assert len(found) > len(capture.rows)


async def test_a_pane_with_a_pipe_keeps_it(tmux, pane, server, folder):
    tmux("pipe-pane", "-t", pane, f"exec cat > {folder}/theirs")
    assert await server.open_pipe(pane, f"touch {folder}/ours", lines=0) == "piped"
    assert tmux.read_format(pane, "#{pane_pipe}") == "1"
    assert not os.path.exists(f"{folder}/ours")


async def test_a_dead_termvisor_pipe_is_replaced_on_request(tmux, pane, server, folder):
    tmux("pipe-pane", "-t", pane, f"exec cat > {folder}/old")
    assert isinstance(await server.open_pipe(pane, f"touch {folder}/new; exec cat", lines=0, replace=True), PaneCapture)
    await wait_until(lambda: os.path.exists(f"{folder}/new"))


async def test_dead_and_gone_panes_are_refused_and_no_other_pane_is_piped(tmux, pane, server, folder):
    dead = await dead_pane(tmux)
    assert await server.open_pipe(dead, f"touch {folder}/ours", lines=0) == "dead"
    assert await server.open_pipe("%99", f"touch {folder}/ours", lines=0, replace=True) == "gone"
    assert not any(thin.piped for thin in (await server.list_pane_statuses()).values())
    assert not os.path.exists(f"{folder}/ours")


async def test_a_command_with_special_characters_reaches_the_shell_unchanged(tmux, pane, server, folder):
    sign = "a'b\"c\\d;e $HOME `x` {y}"
    quoted = sign.replace("'", "'\\''")
    await server.open_pipe(pane, f"printf %%s '{quoted}' > {folder}/said", lines=0)
    await wait_until(lambda: os.path.exists(f"{folder}/said") and Path(folder, "said").read_text() == sign)


async def test_closing_a_pipe_affects_that_pane_only(tmux, pane, server, folder):
    other = tmux.open_window("work", "cat")
    for mux_id in (pane, other):
        await server.open_pipe(mux_id, "exec cat > /dev/null", lines=0)
    await server.close_pipe("%99")
    await server.close_pipe(other)
    assert {name: thin.piped for name, thin in (await server.list_pane_statuses()).items()} == {
        pane: True,
        other: False,
    }


async def test_requests_to_a_gone_server_fail(tmux, server):
    tmux.kill_server()
    for call in (
        server.list_pane_statuses,
        server.list_pane_facts,
        lambda: server.capture_pane("%0"),
    ):
        with pytest.raises(MuxError):
            await call()


async def test_several_screens_are_captured_in_one_round_trip(tmux, server, pane):
    other = tmux.open_window("work", "printf '\\033[?1049h\\033[3;1Hpainted'; exec sleep 1000")
    await wait_until(lambda: tmux.read_format(other, "#{alternate_on}") == "1")
    first, gone, second = await server.capture_screens([pane, "%99", other])
    assert gone is None
    assert (first.rows[0].rstrip(), first.alternate) == ("ready", False)
    assert (second.rows[2].rstrip(), second.alternate, second.cursor_x, second.cursor_y) == ("painted", True, 7, 2)


async def test_more_screens_than_fit_into_a_request_are_captured(tmux, server, pane):
    first, *rest = await server.capture_screens([pane] + ["%99", pane] * 70)
    assert first.rows[0] == "ready"
    assert rest[0] is None
    assert sum(capture is not None for capture in rest) == 70


async def test_a_row_that_looks_like_the_head_of_a_screen_is_a_row(tmux, server, pane):
    other = tmux.open_window("work", "printf '80 24 0 0 0 1\\n%s' tv00; exec sleep 1000")
    await wait_until(lambda: "tv00" in tmux("capture-pane", "-p", "-t", other))
    captures = await server.capture_screens([other, pane])
    assert [capture.rows[:2] for capture in captures] == [("80 24 0 0 0 1", "tv00"), ("ready", "")]


async def test_a_listing_is_one_line_in_the_message_log(tmux, pane, server):
    tmux.open_window("work", f"exec env -u TMUX tmux -S {tmux.socket} attach -t =work")
    await wait_until(lambda: tmux("list-clients") != "")
    client = tmux("list-clients", "-F", "#{client_name}")
    before = tmux("show-messages", "-t", client).count("list-panes")
    await server.list_pane_facts()
    assert tmux("show-messages", "-t", client).count("list-panes") == before + 1
