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

ASKING = {"method": "item/commandExecution/requestApproval", "id": 3, "params": {"threadId": THREAD, "itemId": "i"}}
OWN = ProcessHint(pid=7, pid_started=77)


class Ear:
    """Who gets the records."""

    def __init__(self) -> None:
        self.records: list = []
        self.failures = 0
        self.news = asyncio.Condition()

    async def heard(self, records: list) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("no room")
        async with self.news:
            self.records += records
            self.news.notify_all()

    async def until(self, is_it: Callable[[list], bool]) -> None:
        async with asyncio.timeout(20), self.news:
            await self.news.wait_for(lambda: is_it(self.records))

    def methods(self) -> list[str]:
        return [json.loads(record.text)["method"] for record in self.records]


@pytest.fixture
def ear():
    return Ear()


@pytest.fixture
def home():
    with make_short_folder() as folder:
        yield folder


def listening(home: str, ear: Ear, *faces: ServedAgent) -> AgentServerConnection:
    async def nobody() -> list:
        return []

    return AgentServerConnection(
        "codex",
        home,
        server_client,
        list_agents=lambda: faces,
        list_unwatched_agents=nobody,
        on_records=ear.heard,
        clock=SystemClock(),
    )


@pytest.fixture
def whole(home, ear):
    """With one Codex, in /src."""
    return listening(home, ear, build_agent())


@pytest.fixture
def ours(whole):
    return whole.server


@asynccontextmanager
async def running(one: AgentServerConnection):
    task = asyncio.ensure_future(one.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_it_introduces_itself_and_asks_which_threads_there_are(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(len)
        methods = [one["method"] for one in server.received_messages]
        assert methods == ["initialize", "initialized", "thread/list", "thread/loaded/list"]
        assert server.received_messages[0]["params"]["clientInfo"]["name"] == "termvisor"
    assert (ear.records[0].source, ear.records[0].hint) == ("app_server", OWN)
    assert whole.health.status == "well"


async def test_threads_that_are_in_no_list_yet_are_read(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers |= {"thread/loaded/list": {"data": [THREAD]}, "thread/read": {"thread": build_thread()}}
        await ear.until(len)
    assert ear.methods()[:1] == ["thread/list"]


async def test_one_that_may_not_be_read_is_left_alone(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/loaded/list"] = {"data": ["hidden"]}
        await server.wait_for_request("thread/read")
        server.send_message(build_started_message())
        await ear.until(len)
        ours.refresh()
        await server.wait_for_request("thread/loaded/list", times=2)
        assert len([one for one in server.received_messages if one.get("method") == "thread/read"]) == 1


async def test_notifications_become_records_and_ended_turns_are_fetched(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/turns/list"] = {"data": [{"status": "completed", "items": []}]}
        await server.wait_for_request("thread/loaded/list")
        for message in (
            build_started_message(),
            build_status_message(ACTIVE_STATUS),
            build_status_message(IDLE_STATUS),
        ):
            server.send_message(message)
        await ear.until(lambda records: len(records) == 4)
    changes = ["thread/status/changed"] * 2
    assert ear.methods()[:4] == ["thread/started", *changes, "thread/turns/list"]
    assert {record.hint for record in ear.records} == {OWN}


async def test_it_follows_nothing_and_answers_nothing_by_itself(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message())
        server.send_message(
            {"method": "item/commandExecution/requestApproval", "id": 3, "params": {"threadId": THREAD}}
        )
        await ear.until(lambda records: len(records) == 2)
        assert {one.get("method") for one in server.received_messages} <= {
            "initialize", "initialized", "thread/list", "thread/loaded/list",
        }  # fmt: skip


async def test_a_request_is_answered_through_the_server(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers |= {"thread/resume": {}, "thread/unsubscribe": {}, "turn/start": {"turn": {"id": "u"}}}
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(len)
        line = ours.find_session_control(build_agent().process)
        assert line.session == THREAD
        server.send_message(ASKING)
        async with line.wait_for_request() as plea:
            assert plea.id == "3:i"
            assert await line.answer_request(plea, "allow")
            assert not await line.answer_request(plea, "allow")
            server.send_message({"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 3}})
            assert await line.wait_until_answered(plea)
        assert await line.send_prompt("go on", "")
        assert server.received_messages.count({"id": 3, "result": {"decision": "accept"}}) == 1
        assert ours.find_session_control(build_agent(9).process) is None


async def test_another_request_of_the_same_number_is_not_answered(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message())
        server.send_message(ASKING)
        request = await ours.wait_for_request(THREAD)
        other = {**request, "params": {**request["params"], "command": "rm -rf build"}}
        assert not await ours.send_reply(other, {"decision": "accept"})
        assert [one for one in server.received_messages if "result" in one] == []


async def test_a_request_of_a_lost_connection_is_not_answered_on_the_next(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(len)
        assert ours.find_thread(7) == THREAD
        server.send_message(ASKING)
        request = await ours.wait_for_request(THREAD)
        server.close_connections()
        assert not await ours.wait_until_resolved(request)
        await ear.until(lambda records: len(records) >= 4)
        assert not await ours.send_reply(request, {"decision": "accept"})


async def test_a_missing_request_or_connection_is_reported(home, ear, ours, whole):
    with pytest.raises(Unavailable, match="not connected"):
        await ours.send_request("thread/resume", {"threadId": THREAD})
    assert ours.find_thread(7) == ""
    with pytest.raises(TimedOut, match="no request is pending"):
        await ours.wait_for_request(THREAD, seconds=0.01)


async def test_a_lost_server_is_reported_and_reconnected(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(len)
        server.close_connections()
        await ear.until(lambda records: len(records) == 3)
    assert ear.methods()[:3] == ["thread/list", "connection/lost", "thread/list"]


async def test_it_is_never_the_first_to_speak_with_a_fresh_server(home, ear, ours, whole):
    async with run_fake_app_server(home, is_settled=False) as server, running(whole):
        while whole.health.status != "absent":
            await asyncio.sleep(0)
        assert server.writers == server.received_messages == []


async def test_records_that_cannot_be_stored_end_only_this_talk(home, ear, ours, whole):
    ear.failures = 1
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(lambda records: len(records) == 2)
        assert ear.methods() == ["connection/lost", "thread/list"]


async def test_a_server_that_rejects_us_is_down_with_the_reason(home, ear, ours, whole):
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["initialize"] = ValueError("who are you")
        await server.wait_for_request("initialize")
        await server.wait_for_request("initialize", times=2)
        assert (whole.health.status, "who are you" in whole.health.detail) == ("down", True)


async def test_two_processes_in_one_folder_are_reported_in_health(home, ear):
    whole = listening(home, ear, build_agent(), build_agent(8))
    async with run_fake_app_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [build_thread()]}
        await ear.until(len)
    assert ear.records[0].hint == ProcessHint(cwd="/src", is_doubtful=True)
    assert "several Codex processes run in /src" in whole.health.detail


async def test_secrets_are_masked_before_they_leave(home, ear, ours, whole):
    token = "ghp_" + "a1B2" * 9
    async with run_fake_app_server(home) as server, running(whole):
        await server.wait_for_request("thread/loaded/list")
        server.send_message(build_started_message(name=f"push with {token}"))
        await ear.until(len)
    assert token not in ear.records[0].text
