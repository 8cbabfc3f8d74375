"""The opencode client against a fake server on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.opencode.server_client import get_server_key, server
from termvisor.agents.adapters.opencode.server_client.server import EventServer
from termvisor.agents.adapters.server_contract import ServedAgent, ServerDependencies
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable
from termvisor.model.agent.signal import ProcessHint
from tests.unit.agents.adapters.opencode.server_client.fake_opencode_server import (
    FakeOpencodeServer,
    run_fake_opencode_server,
)

ME, REQUEST = "ses_000000000001", "per_1e29c4441001"
BUSY = {"type": "busy"}
OWN = ProcessHint(pid=7, pid_started=77)
ASKED = {"id": REQUEST, "sessionID": ME, "permission": "bash", "patterns": ["x"], "metadata": {"command": "touch x"}}


class Ear:
    """Who gets the records."""

    def __init__(self, port: int, *words: str):
        self.process = ProcessInfo(pid=7, pid_started=77, argv=("opencode", *words), cwd="/src")
        self.records: list[SourceRecord] = []
        self.ports: Sequence[int] = (port,)
        self.looks = 0
        self.details: list[str] = []
        self.news = asyncio.Condition()
        self.server = EventServer(get_server_key(self.process), self.means())

    def means(self) -> ServerDependencies:
        return ServerDependencies(
            clock=SystemClock(),
            store_records=self.told,
            report_health=lambda detail, _lag: self.details.append(detail),
            list_agents=lambda: [ServedAgent(self.process, 5)],
            list_unwatched_agents=self.nobody,
            list_ports=self.listens,
        )

    async def nobody(self) -> list[ServedAgent]:
        return []

    async def listens(self, _process: ProcessInfo) -> Sequence[int]:
        self.looks += 1
        return self.ports

    async def told(self, records: Sequence[SourceRecord]) -> None:
        async with self.news:
            self.records += records
            self.news.notify_all()

    async def hears(self, *events: str) -> None:
        """Wait until exactly these were told so far."""
        async with asyncio.timeout(20), self.news:
            await self.news.wait_for(lambda: len(self.records) >= len(events))
        assert self.events == list(events)

    @property
    def events(self) -> list[str]:
        return [json.loads(record.text)["event"] for record in self.records]

    async def until(self, is_it: Callable[[], bool]) -> None:
        async with asyncio.timeout(20), self.server.state_changed:
            await self.server.state_changed.wait_for(is_it)


@asynccontextmanager
async def conversing(ear: Ear) -> AsyncIterator[asyncio.Task[None]]:
    assert await ear.server.find_absence_reason() == ""
    async with asyncio.TaskGroup() as group:
        task = asyncio.ensure_future(ear.server.run_connection(group))
        yield task
        task.cancel()
        await asyncio.wait([task])


async def test_lists_are_fetched_first_and_then_events_are_received():
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers["/session/status"] = {ME: BUSY}
        async with conversing(ear):
            await ear.hears("session.status")
            opencode.send_event("session.idle", sessionID=ME)
            opencode.send_event("message.part.delta", sessionID=ME, delta="what was said")
            opencode.send_event("permission.asked", **ASKED)
            await ear.hears("session.status", "session.idle", "permission.asked")
        assert opencode.requested_paths == ["/session", "/session/status", "/permission", "/question"]
        assert opencode.posted_requests == []
    assert {(record.source, record.hint) for record in ear.records} == {("server", OWN)}


async def test_an_exited_opencode_is_reported_as_lost():
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with conversing(ear) as task:
            await ear.hears("permission.asked")
            await ear.until(lambda: ear.server.is_connected)
            line = ear.server.find_session_control(ear.process)
            async with line.wait_for_request() as plea:
                opencode.close_connections()
                assert not await line.wait_until_answered(plea)
            await asyncio.wait([task])
            assert isinstance(task.exception(), Unavailable)
        assert (
            len(ear.server.build_lost_records()),
            ear.server.build_lost_records(),
            ear.server.find_session_control(ear.process),
        ) == (1, [], None)


@pytest.mark.parametrize(
    ("path", "answer"), [("/session/status", b"not JSON"), ("/permission", "no list"), ("/question", b"[" * 100_000)]
)
async def test_a_server_without_websocket_is_unavailable(path, answer):
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers[path] = answer
        async with conversing(ear) as task:
            await asyncio.wait([task])
            assert isinstance(task.exception(), Unavailable)
    assert ear.records == []


@pytest.mark.parametrize(
    "noise", [b"data: [1]\n\n", b"data: {\n\n", b"\xff\xfe\n\n", b"data: " + b"[" * 9999 + b"\n\n"]
)
async def test_noise_between_its_words_harms_nothing(noise):
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        async with conversing(ear):
            await ear.hears("server.rests")
            opencode.send_chunk(noise)
            opencode.send_event("session.status", sessionID=ME, status=BUSY)
            await ear.hears("server.rests", "session.status")


async def test_dropped_events_end_the_connection(monkeypatch):
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        async with conversing(ear) as task:
            await ear.hears("server.rests")
            opencode.send_chunk(b"data: " + b"x" * (5 << 20) + b"\n\n")
            opencode.send_event("server.heartbeat")
            await asyncio.wait([task])
            assert "events were dropped" in task.exception().message


async def test_a_delayed_event_is_not_treated_as_old():
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        async with conversing(ear):
            await ear.hears("server.rests")
            late = f"evt_{((ear.records[0].at // 10**6 - 4000) & (2**36 - 1)):09x}001x"
            opencode.send_chunk(
                f'data: {{"id":"{late}","type":"permission.asked","properties":{json.dumps(ASKED)}}}\n\n'.encode()
            )
            await ear.hears("server.rests", "permission.asked")
    told = [json.loads(record.text)["at"] for record in ear.records]
    assert told == sorted(told)
    assert all(record.at >= at * 10**6 for record, at in zip(ear.records, told, strict=True))


@pytest.mark.parametrize(
    ("words", "ports", "why"),
    [
        ((), (), "--port"),
        ((), (4096, 4097), "several ports"),
        (("--port", "4096"), (5000,), "no port"),
        (("--port", "4096"), (4096, 5000), ""),
        ((), (5000,), ""),
    ],
)
async def test_a_port_is_that_process_own_or_none(words, ports, why):
    ear = Ear(0, *words)
    ear.ports = ports
    found = await ear.server.find_absence_reason()
    assert (why in found, bool(found)) == (True, bool(why))


async def test_ports_of_a_process_without_port_option_are_checked_rarely():
    quiet, told = Ear(0), Ear(0, "--port", "4096")
    quiet.ports = told.ports = ()
    for _ in range(5):
        await quiet.server.find_absence_reason()
        await told.server.find_absence_reason()
    assert (quiet.looks, told.looks) == (1, 5)
    quiet.server.refresh()
    await quiet.server.find_absence_reason()
    assert quiet.looks == 2


async def test_no_request_is_sent_to_a_port_of_another_process():
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with conversing(ear):
            await ear.hears("permission.asked")
            await ear.until(lambda: ear.server.is_connected)
            ear.ports = ()
            line = ear.server.find_session_control(ear.process)
            async with line.wait_for_request() as plea:
                with pytest.raises(Unavailable):
                    await line.answer_request(plea, "allow")
        assert opencode.posted_requests == []


async def test_a_server_of_another_process_is_left_at_once():
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        assert await ear.server.find_absence_reason() == ""
        ear.ports = ()
        async with asyncio.TaskGroup() as group:
            with pytest.raises(Unavailable, match="no longer"):
                await ear.server.run_connection(group)
        assert (ear.records, opencode.requested_paths) == ([], [])


async def answered_twice(opencode: FakeOpencodeServer, ear: Ear, decision: str) -> None:
    line = ear.server.find_session_control(ear.process)
    async with line.wait_for_request() as plea:
        assert (plea.id, plea.tool, plea.command, plea.cwd) == (REQUEST, "bash", "touch x", "/src")
        assert await line.answer_request(plea, decision)
        opencode.send_event("permission.replied", sessionID=ME, requestID=REQUEST, reply="once")
        assert await line.wait_until_answered(plea)
        assert not await line.answer_request(plea, decision)


@pytest.mark.parametrize(("decision", "reply"), [("allow", "once"), ("deny", "reject")])
async def test_a_person_may_answer_through_it_once(decision, reply):
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with conversing(ear):
            await ear.until(lambda: ear.server.is_connected)
            await answered_twice(opencode, ear, decision)
        assert opencode.posted_requests == [(f"/permission/{REQUEST}/reply", {"reply": reply})]


async def test_an_end_without_an_event_is_confirmed_by_a_second_list(monkeypatch):
    monkeypatch.setattr(server, "LIST_INTERVAL_S", 0.05)
    monkeypatch.setattr(server, "CONFIRM_DELAY_S", 0.05)
    async with run_fake_opencode_server() as opencode:
        ear = Ear(opencode.port)
        opencode.answers["/session/status"] = {ME: BUSY}
        async with conversing(ear):
            await ear.hears("session.status", "session.status")
            opencode.answers["/session/status"] = {}
            so_far = opencode.requested_paths.count("/session/status")
            async with asyncio.timeout(20), ear.news:
                await ear.news.wait_for(lambda: "server.rests" in ear.events)
            assert opencode.requested_paths.count("/session/status") >= so_far + 2
            async with asyncio.timeout(20), ear.news:
                await ear.news.wait_for(lambda: ear.events[-1] == "server.lives")
