"""Send requests to a real tmux server with hostile output and dying processes."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from termvisor.backends.tmux import client as module
from termvisor.backends.tmux.client import ControlClient, PlainClient, build_control_argv, build_output_argv
from termvisor.backends.tmux.control_mode import ControlNotice, ControlOutput
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.errors import MuxError
from termvisor.system.procfs import read_start_time
from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.wait_until import wait_until

OWNER = """
import asyncio, sys
from termvisor.backends.tmux.client import ControlClient, build_control_argv

async def main():
    client = ControlClient(build_control_argv("tmux", sys.argv[1]), on_notice=lambda notice: None)
    await client.wait_until_attached()
    print("here", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


@pytest.fixture(params=["control", "plain"])
async def client(request, pane, control, plain):
    """A control client or a plain client; their answers must not differ."""
    return {"control": control, "plain": lambda: plain}[request.param]()


def list_sessions(tmux: PrivateTmux) -> list[str]:
    return tmux("list-sessions", "-F", "#{session_name}").split("\n")


def list_reader_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "tmux-control"]


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_a_reply_has_what_was_printed_and_the_body(client, pane):
    reply = await client.request("display-message -p one ; display-message -p two", f"capture-pane -p -t {pane}")
    assert reply.output_lines == (b"one", b"two")
    assert reply.body[:2] == (b"ready", b"")
    assert len(reply.body) == 30
    assert reply.error == ""


async def test_the_body_may_be_inside_a_guarded_list(client, pane):
    guarded = f"if-shell -F -t {pane} '1' {{ display-message -p before ; {{body}} }}"
    reply = await client.request(guarded, f"display-message -p -t {pane} 'inside'")
    assert (reply.output_lines, reply.body) == ((b"before",), (b"inside",))


async def test_a_refused_command_returns_the_reason(client):
    reply = await client.request("kill-session -t =nobody")
    assert "nobody" in reply.error


async def test_an_unknown_command_is_an_error_and_the_next_one_works(pane, control):
    client = control()
    assert "unknown command" in (await client.request("make-coffee")).error
    assert (await client.request("display-message -p still-here")).output_lines == (b"still-here",)


async def test_concurrent_requests_get_their_own_answers(client):
    replies = await asyncio.gather(*(client.request(f"display-message -p n{number}") for number in range(8)))
    assert [reply.output_lines for reply in replies] == [(b"n%d" % number,) for number in range(8)]


async def test_a_row_that_imitates_the_end_of_a_reply_is_part_of_the_body(tmux, control):
    first, last = int(time.time()), 300
    script = f"for t in range({first}, {first} + 4):\\n for n in range({last}): print('%end', t, n, 1)"
    evil = tmux.start_session(command=f"{sys.executable} -c \"exec('''{script}''')\"; exec sleep 1000")
    client = control()
    expected = {f"%end {second} {number} 1".encode() for second in range(first, first + 4) for number in range(last)}
    await wait_until(lambda: f"%end {first + 3} {last - 1} 1" in tmux("capture-pane", "-p", "-t", evil))
    replies = [await client.request("display-message -p x", f"capture-pane -p -S - -t {evil}") for _ in range(20)]
    assert all(expected <= set(reply.body) and reply.output_lines == (b"x",) for reply in replies)


async def test_a_request_larger_than_a_pipe_arrives_whole(pane, control):
    client, text = control(), "abcdefghij" * 30_000
    reply = await client.request(f'set-buffer -b large "{text}"', "show-buffer -b large")
    assert reply.body == (text.encode(),)


async def test_server_changes_are_reported_as_notices(tmux, pane, control, notices):
    await control().request("display-message -p hello")
    tmux("new-session", "-d", "-s", "second", "sleep 1000")
    await wait_until(lambda: ControlNotice("sessions-changed") in notices)


async def test_the_exit_of_a_client_fails_pending_requests_and_is_reported_once(pane, control, notices):
    client = control()
    await client.request("display-message -p hello")
    waiting = [asyncio.ensure_future(client.request(f"wait-for never-{number}")) for number in range(2)]
    await asyncio.sleep(0)
    os.kill(client.pid, signal.SIGKILL)
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [MuxError, MuxError]
    assert not client.is_open
    client.close()
    assert notices.count(ControlNotice("exit")) == 1
    with pytest.raises(MuxError):
        await client.request("display-message -p too-late")


async def test_the_exit_of_the_server_is_reported_once(tmux, pane, control, notices):
    client = control()
    await client.request("display-message -p hello")
    tmux.kill_server()
    await wait_until(lambda: not client.is_open)
    assert [notice for notice in notices if notice.name == "exit"] == [ControlNotice("exit")]


async def test_a_killed_owner_leaves_neither_client_nor_session(tmux, pane):
    with subprocess.Popen([sys.executable, "-c", OWNER, tmux.socket], stdout=subprocess.PIPE) as owner:
        output = owner.stdout.readline(), list_sessions(tmux)
        owner.kill()
    assert output == (b"here\n", ["_visor", "work"])
    await wait_until(lambda: list_sessions(tmux) == ["work"])
    assert tmux("list-clients") == ""


async def test_the_private_session_ends_with_its_last_client_only(tmux, pane, control):
    main, guest = control(), control(build_output_argv("tmux", tmux.socket, tmux.read_format(pane, "#{session_id}")))
    await main.wait_until_attached()
    await guest.wait_until_attached()
    await guest.request("switch-client -t =_visor")
    guest.close()
    await wait_until(lambda: len(tmux("list-clients").split("\n")) == 1)
    assert (await main.request("display-message -p still-here")).output_lines == (b"still-here",)
    main.close()
    await wait_until(lambda: list_sessions(tmux) == ["work"])


async def test_wait_until_attached_returns_once_the_client_is_in_its_session(tmux, pane, control):
    client = control(build_output_argv("tmux", tmux.socket, tmux.read_format(pane, "#{session_id}")))
    await client.wait_until_attached()
    assert "work" in tmux("list-clients", "-F", "#{session_name}")


async def test_a_client_that_cannot_attach_raises_an_error(tmux, pane, control):
    with pytest.raises(MuxError):
        await control(build_output_argv("tmux", tmux.socket, "$99")).wait_until_attached()


async def test_an_output_client_gets_its_session_output_in_order_with_replies(tmux, control):
    items = []
    pane = tmux.start_session(command="cat")
    client = control(build_output_argv("tmux", tmux.socket, tmux.read_format(pane, "#{session_id}")), tap=items.append)
    await client.wait_until_attached()
    await client.request("display-message -p before")
    tmux.type_line(pane, "a-word")
    await wait_until(
        lambda: b"".join(item.data for item in items if isinstance(item, ControlOutput)).count(b"a-word\r\n") == 2
    )
    await client.request("display-message -p after")
    kinds = [type(item).__name__ for item in items if not isinstance(item, ControlNotice)]
    assert (kinds[0], kinds[-1]) == ("ControlReply", "ControlReply")
    assert set(kinds[1:-1]) == {"ControlOutput"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_client_whose_reader_fails_exits_instead_of_blocking_its_server(pane, control, notices):
    def raise_error(item: object) -> None:
        raise ZeroDivisionError

    client = control(tap=raise_error)
    with pytest.raises(MuxError):
        await client.request("display-message -p hello")
    assert notices == [ControlNotice("exit")]
    await wait_until(lambda: not list_reader_threads())


async def test_a_stopped_server_raises_after_the_timeout(tmux, client, monkeypatch):
    await client.request("display-message -p hello")
    monkeypatch.setattr(module, "_REPLY_TIMEOUT_S", 0.2)
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(MuxError):
            await client.request("display-message -p anybody")
    finally:
        os.kill(server, signal.SIGCONT)


async def test_a_missing_server_is_an_error(folder):
    nowhere = PlainClient("tmux", f"{folder}/nowhere", count_fork=lambda: None)
    client = ControlClient(build_control_argv("tmux", f"{folder}/nowhere"), on_notice=lambda notice: None)
    for one in (nowhere, client):
        with pytest.raises(MuxError):
            await one.request("display-message -p hello")
    assert not os.path.exists(f"{folder}/nowhere")


async def test_a_missing_program_is_an_error(folder):
    for one in (
        PlainClient("no-such-tmux", f"{folder}/t", count_fork=lambda: None),
        ControlClient(build_control_argv("no-such-tmux", f"{folder}/t"), on_notice=lambda notice: None),
    ):
        with pytest.raises(MuxError):
            await one.request("display-message -p hello")


async def test_a_plain_client_detects_another_server_on_its_socket(tmux, pane, plain):
    plain.server_pid = int(tmux("display-message", "-p", "#{pid}"))
    assert (await plain.request("display-message -p same")).output_lines == (b"same",)
    tmux.kill_server()
    await wait_until(lambda: read_start_time(plain.server_pid) == 0)
    tmux.start_session()
    with pytest.raises(MuxError, match="another tmux server"):
        await plain.request("display-message -p same")


async def test_every_plain_request_is_counted_as_a_process(tmux, pane):
    forks = []
    one = PlainClient("tmux", tmux.socket, count_fork=lambda: forks.append(1))
    await one.request("display-message -p one")
    await one.request("display-message -p two")
    assert len(forks) == 2


async def test_both_clients_report_the_same_server(tmux, pane, control, plain):
    other = tmux.open_window("work", "exec sleep 1000")
    tmux("pipe-pane", "-t", other, "exec cat > /dev/null")
    tmux("set", "-gw", "automatic-rename", "off")
    await wait_until(lambda: tmux.read_format(other, "#{pane_current_command}") == "sleep")
    await (controlled := control()).wait_until_attached()
    answers = []
    for one in (controlled, plain):
        server: TmuxServer = await identify_server(one, tmux.socket)
        facts = await server.list_pane_facts()
        answers.append(
            (
                server.instance,
                server.version,
                facts,
                await server.list_pane_statuses(),
                await server.capture_pane(pane, lines=50),
            )
        )
    assert answers[0] == answers[1]
    assert [facts.mux_id for facts in answers[0][2]] == [pane, other]


async def test_both_clients_open_pipes_and_are_refused_alike(tmux, pane, control, plain, folder):
    seen = []
    for number, one in enumerate((control(), plain)):
        server = await identify_server(one, tmux.socket)
        seen.append([await server.open_pipe(pane, f"cat > {folder}/{number}", lines=10) for _ in range(2)])
        await server.close_pipe(pane)
    assert seen[0] == seen[1]
    assert seen[0][1] == "piped"


async def test_twenty_connections_leave_no_open_descriptor(pane, control):
    await control().request("display-message -p hello")
    before = count_descriptors()
    for _ in range(20):
        client = control()
        client.close()
        client.close()
    await wait_until(lambda: len(list_reader_threads()) == 1)
    assert count_descriptors() == before


async def test_a_closed_client_never_closes_a_reused_descriptor(pane, control):
    client = control()
    await client.request("display-message -p hello")
    client.close()
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(8)]
    await wait_until(lambda: not list_reader_threads())
    await asyncio.sleep(0)
    client.close()
    for fd in opened:
        os.close(fd)
