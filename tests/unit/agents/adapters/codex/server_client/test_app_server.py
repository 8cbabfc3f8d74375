"""Our end of an app-server's socket, with a real socket and the server's words at the other end."""

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import pytest

from termvisor.agents.adapters.codex import server_client as served
from termvisor.agents.adapters.server_contract import Face
from termvisor.agents.sources.server_connection import ServerEar, Surroundings
from termvisor.clock import SystemClock
from termvisor.errors import TimedOut, Unavailable
from termvisor.model.agent.signal import Hint
from termvisor.testing.tmux import short_folder
from tests.unit.agents.adapters.codex.server_client.codex_server import codex_server
from tests.unit.agents.adapters.codex.server_words import ACTIVE, IDLE, THREAD, changed, face, started, thread

ASKING = {"method": "item/commandExecution/requestApproval", "id": 3, "params": {"threadId": THREAD, "itemId": "i"}}
OWN = Hint(pid=7, pid_started=77)


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
    with short_folder() as folder:
        yield folder


def listening(home: str, ear: Ear, *faces: Face) -> ServerEar:
    async def nobody() -> list:
        return []

    around = Surroundings(faces=lambda: faces, others=nobody, heard=ear.heard, clock=SystemClock())
    return ServerEar("codex", home, served, around)


@pytest.fixture
def whole(home, ear):
    """With one Codex, in /src."""
    return listening(home, ear, face())


@pytest.fixture
def ours(whole):
    return whole.server


@asynccontextmanager
async def running(one: ServerEar):
    task = asyncio.ensure_future(one.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_it_introduces_itself_and_asks_which_threads_there_are(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(len)
        methods = [one["method"] for one in server.asked]
        assert methods == ["initialize", "initialized", "thread/list", "thread/loaded/list"]
        assert server.asked[0]["params"]["clientInfo"]["name"] == "termvisor"
    assert (ear.records[0].source, ear.records[0].hint) == ("app_server", OWN)
    assert whole.health.status == "well"


async def test_threads_that_are_in_no_list_yet_are_read(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers |= {"thread/loaded/list": {"data": [THREAD]}, "thread/read": {"thread": thread()}}
        await ear.until(len)
    assert ear.methods()[:1] == ["thread/list"]


async def test_one_that_may_not_be_read_is_left_alone(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["thread/loaded/list"] = {"data": ["hidden"]}
        await server.was_asked("thread/read")
        server.say(started())
        await ear.until(len)
        ours.look_again()
        await server.was_asked("thread/loaded/list", times=2)
        assert len([one for one in server.asked if one.get("method") == "thread/read"]) == 1


async def test_what_is_told_to_everybody_is_handed_on_and_the_end_of_a_turn_asked_for(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["thread/turns/list"] = {"data": [{"status": "completed", "items": []}]}
        await server.was_asked("thread/loaded/list")
        for message in (started(), changed(ACTIVE), changed(IDLE)):
            server.say(message)
        await ear.until(lambda records: len(records) == 4)
    changes = ["thread/status/changed"] * 2
    assert ear.methods()[:4] == ["thread/started", *changes, "thread/turns/list"]
    assert {record.hint for record in ear.records} == {OWN}


async def test_it_follows_nothing_and_answers_nothing_by_itself(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        await server.was_asked("thread/loaded/list")
        server.say(started())
        server.say({"method": "item/commandExecution/requestApproval", "id": 3, "params": {"threadId": THREAD}})
        await ear.until(lambda records: len(records) == 2)
        assert {one.get("method") for one in server.asked} <= {
            "initialize", "initialized", "thread/list", "thread/loaded/list",
        }  # fmt: skip


async def test_a_person_may_answer_through_it(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers |= {"thread/resume": {}, "thread/unsubscribe": {}, "turn/start": {"turn": {"id": "u"}}}
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(len)
        line = ours.line(face().process)
        assert line.session == THREAD
        server.say(ASKING)
        async with line.plea() as plea:
            assert plea.id == "3:i"
            assert await line.answer(plea, "allow")
            assert not await line.answer(plea, "allow")
            server.say({"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 3}})
            assert await line.until_answered(plea)
        assert await line.prompt("go on", "")
        assert server.asked.count({"id": 3, "result": {"decision": "accept"}}) == 1
        assert ours.line(face(9).process) is None


async def test_another_request_of_the_same_number_is_not_answered(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        await server.was_asked("thread/loaded/list")
        server.say(started())
        server.say(ASKING)
        request = await ours.request_in(THREAD)
        other = {**request, "params": {**request["params"], "command": "rm -rf build"}}
        assert not await ours.reply(other, {"decision": "accept"})
        assert [one for one in server.asked if "result" in one] == []


async def test_a_request_of_a_line_that_broke_is_not_answered_on_the_next(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(len)
        assert ours.thread_of(7) == THREAD
        server.say(ASKING)
        request = await ours.request_in(THREAD)
        server.hang_up()
        assert not await ours.until_resolved(request)
        await ear.until(lambda records: len(records) >= 4)
        assert not await ours.reply(request, {"decision": "accept"})


async def test_nothing_to_answer_is_said_so(home, ear, ours, whole):
    with pytest.raises(Unavailable, match="not connected"):
        await ours.ask("thread/resume", {"threadId": THREAD})
    assert ours.thread_of(7) == ""
    with pytest.raises(TimedOut, match="nothing waits"):
        await ours.request_in(THREAD, seconds=0.01)


async def test_a_server_that_is_gone_is_told_and_found_again(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(len)
        server.hang_up()
        await ear.until(lambda records: len(records) == 3)
    assert ear.methods()[:3] == ["thread/list", "connection/lost", "thread/list"]


async def test_it_is_never_the_first_to_speak_with_a_fresh_server(home, ear, ours, whole):
    async with codex_server(home, is_settled=False) as server, running(whole):
        while whole.health.status != "absent":
            await asyncio.sleep(0)
        assert server.lines == server.asked == []


async def test_records_that_cannot_be_stored_end_only_this_talk(home, ear, ours, whole):
    ear.failures = 1
    async with codex_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(lambda records: len(records) == 2)
        assert ear.methods() == ["connection/lost", "thread/list"]


async def test_who_speaks_something_else_is_down_and_says_why(home, ear, ours, whole):
    async with codex_server(home) as server, running(whole):
        server.answers["initialize"] = ValueError("who are you")
        await server.was_asked("initialize")
        await server.was_asked("initialize", times=2)
        assert (whole.health.status, "who are you" in whole.health.detail) == ("down", True)


async def test_two_in_one_folder_are_told_in_its_health(home, ear):
    whole = listening(home, ear, face(), face(8))
    async with codex_server(home) as server, running(whole):
        server.answers["thread/list"] = {"data": [thread()]}
        await ear.until(len)
    assert ear.records[0].hint == Hint(cwd="/src", is_doubtful=True)
    assert "more than one Codex may have begun threads in /src" in whole.health.detail


async def test_secrets_are_masked_before_they_leave(home, ear, ours, whole):
    token = "ghp_" + "a1B2" * 9
    async with codex_server(home) as server, running(whole):
        await server.was_asked("thread/loaded/list")
        server.say(started(name=f"push with {token}"))
        await ear.until(len)
    assert token not in ear.records[0].text
