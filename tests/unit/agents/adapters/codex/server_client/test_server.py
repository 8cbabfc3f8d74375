"""The app-server client against a fake server on a real socket."""

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import pytest

from termvisor.agents.adapters.codex import server_client
from termvisor.agents.adapters.server_contract import ServedAgent
from termvisor.agents.sources.agent_servers import AgentServerConnection
from termvisor.clock import SystemClock
from termvisor.errors import TimedOut, Unavailable
from termvisor.model.agent.signal import ProcessHint
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.agents.adapters.codex.app_server_messages import (
    ACTIVE_STATUS,
    IDLE_STATUS,
    THREAD,
    build_agent,
    build_started_message,
    build_status_message,
    build_thread,
)
from tests.unit.agents.adapters.codex.server_client.fake_app_server import run_fake_app_server

PERMISSION_REQUEST = {
    "method": "item/commandExecution/requestApproval",
    "id": 3,
    "params": {"threadId": THREAD, "itemId": "i"},
}
OWN = ProcessHint(pid=7, pid_started=77)


class RecordCollector:
    """Stores records in memory; fails `failures` times first."""

    def __init__(self) -> None:
        self.records: list = []
        self.failures = 0
        self.records_changed = asyncio.Condition()

    async def store_records(self, records: list) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("no room")
        async with self.records_changed:
            self.records += records
            self.records_changed.notify_all()

    async def wait_until(self, condition: Callable[[list], bool]) -> None:
        async with asyncio.timeout(20), self.records_changed:
            await self.records_changed.wait_for(lambda: condition(self.records))

    def list_methods(self) -> list[str]:
        return [json.loads(record.text)["method"] for record in self.records]


@pytest.fixture
def collector():
    return RecordCollector()


@pytest.fixture
def home():
    with make_short_folder() as folder:
        yield folder


def build_connection(home: str, collector: RecordCollector, *agents: ServedAgent) -> AgentServerConnection:
    async def list_no_agents() -> list:
        return []

    return AgentServerConnection(
        "codex",
        home,
        server_client,
        list_agents=lambda: agents,
        list_unwatched_agents=list_no_agents,
        on_records=collector.store_records,
        clock=SystemClock(),
    )


@pytest.fixture
def connection(home, collector):
    """Return a connection with one Codex, in /src."""
    return build_connection(home, collector, build_agent())


@pytest.fixture
def codex_client(connection):
    return connection.server


@asynccontextmanager
async def run_connection(one: AgentServerConnection):
    task = asyncio.ensure_future(one.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_the_client_initializes_and_lists_threads(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(len)
        methods = [one["method"] for one in server.received_messages]
        assert methods == ["initialize", "initialized", "thread/list", "thread/loaded/list"]
        assert server.received_messages[0]["params"]["clientInfo"]["name"] == "termvisor"
    assert (collector.records[0].source, collector.records[0].hint) == ("app_server", OWN)
    assert connection.health.status == "well"


async def test_loaded_threads_that_are_not_listed_are_read(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers |= {"thread/loaded/list": {"data": [THREAD]}, "thread/read": {"thread": build_thread()}}
        await collector.wait_until(len)
    assert collector.list_methods()[:1] == ["thread/list"]


async def test_a_thread_that_cannot_be_read_is_tried_once(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/loaded/list"] = {"data": ["hidden"]}
        await server.wait_for_request("thread/read")
        server.send_message(build_started_message())
        await collector.wait_until(len)
        codex_client.refresh()
        await server.wait_for_request("thread/loaded/list", times=2)
        assert len([one for one in server.received_messages if one.get("method") == "thread/read"]) == 1


async def test_notifications_become_records_and_ended_turns_are_fetched(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/turns/list"] = {"data": [{"status": "completed", "items": []}]}
        await server.wait_for_request("thread/loaded/list")
        for message in (
            build_started_message(),
            build_status_message(ACTIVE_STATUS),
            build_status_message(IDLE_STATUS),
        ):
            server.send_message(message)
        await collector.wait_until(lambda records: len(records) == 4)
    changes = ["thread/status/changed"] * 2
    assert collector.list_methods()[:4] == ["thread/started", *changes, "thread/turns/list"]
    assert {record.hint for record in collector.records} == {OWN}


async def test_the_client_does_not_follow_threads_or_answer_requests_by_itself(
    home, collector, codex_client, connection
):
    async with run_fake_app_server(home) as server, run_connection(connection):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message())
        server.send_message(
            {"method": "item/commandExecution/requestApproval", "id": 3, "params": {"threadId": THREAD}}
        )
        await collector.wait_until(lambda records: len(records) == 2)
        assert {one.get("method") for one in server.received_messages} <= {
            "initialize", "initialized", "thread/list", "thread/loaded/list",
        }  # fmt: skip


async def test_a_permission_request_is_answered_through_the_server(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers |= {"thread/resume": {}, "thread/unsubscribe": {}, "turn/start": {"turn": {"id": "u"}}}
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(len)
        control = codex_client.find_session_control(build_agent().process)
        assert control.session == THREAD
        server.send_message(PERMISSION_REQUEST)
        async with control.wait_for_request() as request:
            assert request.id == "3:i"
            assert await control.answer_request(request, "allow")
            assert not await control.answer_request(request, "allow")
            server.send_message({"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 3}})
            assert await control.wait_until_answered(request)
        assert await control.send_prompt("go on", "")
        assert server.received_messages.count({"id": 3, "result": {"decision": "accept"}}) == 1
        assert codex_client.find_session_control(build_agent(9).process) is None


async def test_another_request_with_the_same_id_is_not_answered(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message())
        server.send_message(PERMISSION_REQUEST)
        request = await codex_client.wait_for_request(THREAD)
        other = {**request, "params": {**request["params"], "command": "rm -rf build"}}
        assert not await codex_client.send_reply(other, {"decision": "accept"})
        assert [one for one in server.received_messages if "result" in one] == []


async def test_a_request_of_a_lost_connection_is_not_answered_after_reconnecting(
    home, collector, codex_client, connection
):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(len)
        assert codex_client.find_thread(7) == THREAD
        server.send_message(PERMISSION_REQUEST)
        request = await codex_client.wait_for_request(THREAD)
        server.close_connections()
        assert not await codex_client.wait_until_resolved(request)
        await collector.wait_until(lambda records: len(records) >= 4)
        assert not await codex_client.send_reply(request, {"decision": "accept"})


async def test_a_missing_request_or_connection_is_reported(home, collector, codex_client, connection):
    with pytest.raises(Unavailable, match="not connected"):
        await codex_client.send_request("thread/resume", {"threadId": THREAD})
    assert codex_client.find_thread(7) == ""
    with pytest.raises(TimedOut, match="no request is pending"):
        await codex_client.wait_for_request(THREAD, seconds=0.01)


async def test_a_lost_server_is_reported_and_reconnected(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(len)
        server.close_connections()
        await collector.wait_until(lambda records: len(records) == 3)
    assert collector.list_methods()[:3] == ["thread/list", "connection/lost", "thread/list"]


async def test_the_client_does_not_connect_to_a_server_that_has_just_started(home, collector, codex_client, connection):
    async with run_fake_app_server(home, is_settled=False) as server, run_connection(connection):
        while connection.health.status != "absent":
            await asyncio.sleep(0)
        assert server.writers == server.received_messages == []


async def test_a_storage_error_ends_the_connection_and_it_reconnects(home, collector, codex_client, connection):
    collector.failures = 1
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(lambda records: len(records) == 2)
        assert collector.list_methods() == ["connection/lost", "thread/list"]


async def test_a_server_that_rejects_the_client_is_down_with_the_reason(home, collector, codex_client, connection):
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["initialize"] = ValueError("who are you")
        await server.wait_for_request("initialize")
        await server.wait_for_request("initialize", times=2)
        assert (connection.health.status, "who are you" in connection.health.detail) == ("down", True)


async def test_two_processes_in_one_folder_are_reported_in_health(home, collector):
    connection = build_connection(home, collector, build_agent(), build_agent(8))
    async with run_fake_app_server(home) as server, run_connection(connection):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await collector.wait_until(len)
    assert collector.records[0].hint == ProcessHint(cwd="/src", is_doubtful=True)
    assert "several Codex processes run in /src" in connection.health.detail


async def test_records_are_redacted(home, collector, codex_client, connection):
    token = "ghp_" + "a1B2" * 9
    async with run_fake_app_server(home) as server, run_connection(connection):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message(name=f"push with {token}"))
        await collector.wait_until(len)
    assert token not in collector.records[0].text
