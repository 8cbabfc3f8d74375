"""Attach control clients to a real tmux server: requests, output, hostile text and dying processes."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from termvisor.backends.tmux import control_client
from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.backends.tmux.control_client import ControlClient, build_output_argv
from termvisor.backends.tmux.control_mode import ControlNotice, ControlOutput
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.errors import MuxError
from tests.unit.wait_until import wait_until

OWNER = """
import asyncio, sys
from termvisor.backends.tmux.control_client import ControlClient, build_output_argv

async def main():
    client = ControlClient(build_output_argv("tmux", sys.argv[1], "=work:"), on_notice=lambda notice: None)
    await client.wait_until_attached()
    print("here", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


def build_echo(text: str) -> TmuxCommand:
    return TmuxCommand("display-message", "-p", text)


def list_reader_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "tmux-control"]


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_a_row_that_imitates_the_end_of_a_reply_is_part_of_the_body(tmux, control):
    first, last = int(time.time()), 300
    script = f"for t in range({first}, {first} + 4):\\n for n in range({last}): print('%end', t, n, 1)"
    evil = tmux.start_session(command=f"{sys.executable} -c \"exec('''{script}''')\"; exec sleep 1000")
    client = control()
    expected = {f"%end {second} {number} 1".encode() for second in range(first, first + 4) for number in range(last)}
    await wait_until(lambda: f"%end {first + 3} {last - 1} 1" in tmux("capture-pane", "-p", "-t", evil))
    capturing = TmuxCommand("capture-pane", "-p", "-S", "-", "-t", evil)
    replies = [await client.request(build_echo("x"), capturing) for _ in range(20)]
    assert all(expected <= set(reply.lines[1:]) and reply.lines[0] == b"x" for reply in replies)


async def test_server_changes_are_reported_as_notices(tmux, pane, control, notices):
    await control().request(build_echo("hello"))
    tmux("new-session", "-d", "-s", "second", "sleep 1000")
    await wait_until(lambda: ControlNotice("sessions-changed") in notices)


async def test_the_exit_of_a_client_fails_pending_requests_and_is_reported_once(tmux, pane, control, notices):
    client = control()
    await client.request(build_echo("hello"))
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        waiting = [asyncio.ensure_future(client.request(build_echo("never"))) for _ in range(2)]
        await asyncio.sleep(0)
        client.close()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        os.kill(server, signal.SIGCONT)
    assert [type(outcome) for outcome in outcomes] == [MuxError, MuxError]
    assert not client.is_open
    client.close()
    assert notices.count(ControlNotice("exit")) == 1
    with pytest.raises(MuxError):
        await client.request(build_echo("too-late"))


async def test_the_exit_of_the_server_is_reported_once(tmux, pane, control, notices):
    client = control()
    await client.request(build_echo("hello"))
    tmux.kill_server()
    await wait_until(lambda: not client.is_open)
    assert [notice for notice in notices if notice.name == "exit"] == [ControlNotice("exit")]


async def test_wait_until_attached_returns_once_the_client_is_in_its_session(tmux, pane, control):
    client = control(tmux.read_format(pane, "#{session_id}"))
    await client.wait_until_attached()
    assert "work" in tmux("list-clients", "-F", "#{session_name}")


async def test_a_client_that_cannot_attach_raises_an_error(tmux, pane, control):
    with pytest.raises(MuxError):
        await control("$99").wait_until_attached()


async def test_an_output_client_gets_its_session_output_in_order_with_replies(tmux, control):
    items = []
    pane = tmux.start_session(command="cat")
    client = control(tmux.read_format(pane, "#{session_id}"), tap=items.append)
    await client.wait_until_attached()
    await client.request(build_echo("before"))
    tmux.type_line(pane, "a-word")
    await wait_until(
        lambda: b"".join(item.data for item in items if isinstance(item, ControlOutput)).count(b"a-word\r\n") == 2
    )
    await client.request(build_echo("after"))
    kinds = [type(item).__name__ for item in items if not isinstance(item, ControlNotice)]
    assert (kinds[0], kinds[-1]) == ("ControlReply", "ControlReply")
    assert set(kinds[1:-1]) == {"ControlOutput"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_client_whose_reader_fails_exits_instead_of_blocking_its_server(pane, control, notices):
    def raise_error(item: object) -> None:
        raise ZeroDivisionError

    client = control(tap=raise_error)
    with pytest.raises(MuxError):
        await client.request(build_echo("hello"))
    assert notices == [ControlNotice("exit")]
    await wait_until(lambda: not list_reader_threads())


async def test_all_clients_open_pipes_and_are_refused_alike(tmux, pane, control, native, plain, folder):
    seen = []
    for number, one in enumerate((control(), native, plain)):
        server = await identify_server(one, tmux.socket)
        seen.append([await server.open_pipe(pane, f"cat > {folder}/{number}", lines=10) for _ in range(2)])
        await server.close_pipe(pane)
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][1] == "piped"


async def test_twenty_connections_leave_no_open_descriptor(pane, control):
    await control().request(build_echo("hello"))
    before = count_descriptors()
    for _ in range(20):
        client = control()
        client.close()
        client.close()
    await wait_until(lambda: len(list_reader_threads()) == 1)
    assert count_descriptors() == before


async def test_a_closed_client_never_closes_a_reused_descriptor(pane, control):
    client = control()
    await client.request(build_echo("hello"))
    client.close()
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(8)]
    await wait_until(lambda: not list_reader_threads())
    await asyncio.sleep(0)
    client.close()
    for fd in opened:
        os.close(fd)


async def test_a_killed_owner_leaves_no_client(tmux, pane):
    with subprocess.Popen([sys.executable, "-c", OWNER, tmux.socket], stdout=subprocess.PIPE) as owner:
        output = owner.stdout.readline(), tmux("list-clients", "-F", "#{session_name}")
        owner.kill()
    assert output == (b"here\n", "work")
    await wait_until(lambda: tmux("list-clients") == "")
    assert tmux("list-sessions", "-F", "#{session_name}") == "work"


async def test_a_stopped_server_raises_after_the_timeout(tmux, pane, control, monkeypatch):
    client = control()
    await client.request(build_echo("hello"))
    monkeypatch.setattr(control_client, "_REPLY_TIMEOUT_S", 0.2)
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(MuxError):
            await client.request(build_echo("anybody"))
    finally:
        os.kill(server, signal.SIGCONT)


async def test_a_missing_server_or_program_is_an_error(folder):
    for program in ("tmux", "no-such-tmux"):
        argv = build_output_argv(program, f"{folder}/none", "=work:")
        with pytest.raises(MuxError):
            await ControlClient(argv, on_notice=lambda notice: None).request(build_echo("hello"))
    assert not os.path.exists(f"{folder}/none")
