"""Send requests with the native and the plain client: their answers must not differ."""

import asyncio
import os
import signal

import pytest

from termvisor.backends.tmux import native_client, plain_client
from termvisor.backends.tmux.commands import TmuxCommand, build_guard, parse_refusal, render_argv
from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.errors import BadRequest, MuxError
from termvisor.system.procfs import read_start_time
from tests.unit.wait_until import wait_until

WORDS = ["plain", "end;", "end\\;", ";", "\\", "a\\;b;", "-x", "'q' \"q\" {b} $HOME ~ %if", "é日本", "", " ", "a\nb"]


def build_echo(text: str) -> TmuxCommand:
    return TmuxCommand("display-message", "-p", text)


@pytest.fixture(params=["native", "plain"])
async def client(request, pane, native, plain):
    return {"native": native, "plain": plain}[request.param]


async def test_a_reply_has_everything_that_was_printed_in_order(client, pane):
    reply = await client.request(build_echo("one"), build_echo("two"), TmuxCommand("capture-pane", "-p", "-t", pane))
    assert reply.lines[:4] == (b"one", b"two", b"ready", b"")
    assert (len(reply.lines), reply.error) == (32, "")


@pytest.mark.parametrize("word", WORDS)
async def test_a_word_reaches_the_server_unchanged(client, word):
    await client.request(TmuxCommand("set-option", "-g", "@word", "x" + word))
    reply = await client.request(TmuxCommand("show-options", "-gv", "@word"))
    assert b"\n".join(reply.lines).decode() == "x" + word


@pytest.mark.parametrize("word", WORDS)
async def test_a_word_in_a_long_list_reaches_the_server_unchanged(client, word):
    padding = [build_echo("x" * 200)] * 100
    reply = await client.request(*padding, TmuxCommand("set-option", "-g", "@word", "x" + word))
    assert (len(reply.lines), reply.error) == (100, "")
    reply = await client.request(TmuxCommand("show-options", "-gv", "@word"))
    assert b"\n".join(reply.lines).decode() == "x" + word


async def test_commands_after_a_guard_run_only_if_it_holds(client, pane):
    for condition, ran in ((f"#{{==:#{{pane_id}},{pane}}}", True), ("#{==:#{pane_id},%9}", False)):
        reply = await client.request(build_guard(pane, condition, "#{pane_id} #{pane_dead}"), build_echo("ran"))
        assert (reply.lines[1:] == (b"ran",), parse_refusal(reply)) == (ran, None if ran else f"{pane} 0")


async def test_a_guard_of_a_pane_that_is_gone_refuses(client, pane):
    reply = await client.request(build_guard("%99", "#{==:#{pane_id},%99}", "#{pane_id}"), build_echo("ran"))
    assert reply.lines == ()
    assert parse_refusal(reply) in ("", pane)


async def test_another_failure_is_no_refusal(client, pane):
    guard = build_guard(pane, f"#{{==:#{{pane_id}},{pane}}}")
    reply = await client.request(guard, TmuxCommand("kill-session", "-t", "=nobody"))
    assert (parse_refusal(reply), "nobody" in reply.error) == (None, True)


async def test_a_failed_command_ends_its_list_and_returns_the_reason(client):
    reply = await client.request(build_echo("before"), TmuxCommand("kill-session", "-t", "=nobody"), build_echo("no"))
    assert reply.lines == (b"before",)
    assert "nobody" in reply.error


async def test_concurrent_requests_get_their_own_answers(client):
    replies = await asyncio.gather(*(client.request(build_echo(f"n{number}")) for number in range(20)))
    assert [reply.lines for reply in replies] == [(b"n%d" % number,) for number in range(20)]


async def test_a_command_reads_any_bytes_from_its_standard_input(tmux, client, folder):
    data = bytes(range(1, 256)) * 4112
    loading = TmuxCommand("load-buffer", "-b", "large", "-")
    reply = await client.request(loading, TmuxCommand("display-message", "-p", "loaded"), stdin=data)
    assert reply.lines == (b"loaded",)
    tmux("save-buffer", "-b", "large", f"{folder}/saved")
    with open(f"{folder}/saved", "rb") as file:
        assert file.read() == data


async def test_a_list_longer_than_a_message_runs_as_one_unit(client):
    text = "x" * 100
    reply = await client.request(*(build_echo(f"{number} {text};") for number in range(400)))
    assert reply.lines == tuple(f"{number} {text};".encode() for number in range(400))


async def test_an_answer_longer_than_a_message_is_complete(tmux, client):
    mux_id = tmux.open_window("work", "seq -f '%040g' 1 2000; exec sleep 1000")
    await wait_until(lambda: "2000" in tmux("capture-pane", "-p", "-t", mux_id))
    reply = await client.request(TmuxCommand("capture-pane", "-p", "-S", "-", "-t", mux_id))
    assert [int(line) for line in reply.lines if line] == list(range(1, 2001))


async def test_a_client_is_attached_to_nothing(tmux, client):
    sessions = tmux("list-sessions")
    await asyncio.gather(*(client.request(build_echo("x")) for _ in range(5)))
    reply = await client.request(TmuxCommand("list-clients"))
    assert (reply.lines, tmux("list-sessions")) == ((), sessions)


async def test_a_stopped_server_is_an_error_after_the_timeout(tmux, client, monkeypatch):
    await client.request(build_echo("hello"))
    for module in (native_client, plain_client):
        monkeypatch.setattr(module, "REPLY_TIMEOUT_S", 0.2)
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(MuxError):
            await client.request(build_echo("anybody"))
    finally:
        os.kill(server, signal.SIGCONT)


async def test_a_server_that_dies_during_a_request_is_an_error(tmux, client):
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    waiting = [asyncio.ensure_future(client.request(build_echo("anybody"))) for _ in range(3)]
    await asyncio.sleep(0.05)
    os.kill(server, signal.SIGKILL)
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
    assert [type(outcome) for outcome in outcomes] == [MuxError] * 3


async def test_a_missing_server_is_an_error_and_none_is_started(folder):
    for one in (PlainClient("tmux", f"{folder}/none", count_fork=lambda: None), NativeClient(f"{folder}/none")):
        with pytest.raises(MuxError):
            await one.request(build_echo("hello"))
    assert not os.path.exists(f"{folder}/none")


async def test_a_missing_program_is_an_error(folder):
    with pytest.raises(MuxError, match="no-such-tmux"):
        await PlainClient("no-such-tmux", f"{folder}/t", count_fork=lambda: None).request(build_echo("hello"))


async def test_another_server_on_the_socket_is_detected(tmux, client, plain):
    plain.server_pid = pid = int(tmux("display-message", "-p", "#{pid}"))
    assert (await client.request(build_echo("same"))).lines == (b"same",)
    tmux.kill_server()
    await wait_until(lambda: read_start_time(pid) == 0)
    tmux.start_session()
    with pytest.raises(MuxError, match="another tmux server"):
        await client.request(build_echo("same"))


async def test_every_plain_request_is_counted_as_a_process(tmux, pane):
    forks = []
    one = PlainClient("tmux", tmux.socket, count_fork=lambda: forks.append(1))
    await one.request(build_echo("one"))
    await one.request(build_echo("two"))
    assert len(forks) == 2


async def test_all_clients_report_the_same_server(tmux, pane, native, plain, control):
    other = tmux.open_window("work", "exec sleep 1000")
    tmux("pipe-pane", "-t", other, "exec cat > /dev/null")
    tmux("set", "-gw", "automatic-rename", "off")
    await wait_until(lambda: tmux.read_format(other, "#{pane_current_command}") == "sleep")
    await (controlled := control()).wait_until_attached()
    answers = []
    for one in (native, plain, controlled):
        server: TmuxServer = await identify_server(one, tmux.socket)
        facts = await server.list_pane_facts()
        capture = await server.capture_history(pane, 50)
        answers.append((server.instance, server.version, facts, await server.list_pane_statuses(), capture))
    assert answers[0] == answers[1] == answers[2]
    assert [facts.mux_id for facts in answers[0][2]] == [pane, other]


def test_a_word_with_a_nul_character_is_refused():
    with pytest.raises(BadRequest):
        render_argv([build_echo("a\0b")])


def test_a_command_outside_the_table_cannot_be_built():
    with pytest.raises(ValueError, match="suspend-client"):
        TmuxCommand("suspend-client")
