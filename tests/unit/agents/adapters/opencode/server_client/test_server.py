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


class RecordCollector:
    """Stores records in memory and provides the other dependencies of a server."""

    def __init__(self, port: int, *arguments: str):
        self.process = ProcessInfo(pid=7, pid_started=77, argv=("opencode", *arguments), cwd="/src")
        self.records: list[SourceRecord] = []
        self.ports: Sequence[int] = (port,)
        self.port_lookups = 0
        self.details: list[str] = []
        self.records_changed = asyncio.Condition()
        self.server = EventServer(get_server_key(self.process), self.build_dependencies())

    def build_dependencies(self) -> ServerDependencies:
        return ServerDependencies(
            clock=SystemClock(),
            store_records=self.store_records,
            report_health=lambda detail, _lag: self.details.append(detail),
            list_agents=lambda: [ServedAgent(self.process, 5)],
            list_unwatched_agents=self.list_no_agents,
            list_ports=self.list_ports,
        )

    async def list_no_agents(self) -> list[ServedAgent]:
        return []

    async def list_ports(self, _process: ProcessInfo) -> Sequence[int]:
        self.port_lookups += 1
        return self.ports

    async def store_records(self, records: Sequence[SourceRecord]) -> None:
        async with self.records_changed:
            self.records += records
            self.records_changed.notify_all()

    async def wait_for_events(self, *events: str) -> None:
        """Wait until exactly these events were stored."""
        async with asyncio.timeout(20), self.records_changed:
            await self.records_changed.wait_for(lambda: len(self.records) >= len(events))
        assert self.events == list(events)

    @property
    def events(self) -> list[str]:
        return [json.loads(record.text)["event"] for record in self.records]

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20), self.server.state_changed:
            await self.server.state_changed.wait_for(condition)


@asynccontextmanager
async def run_connection(collector: RecordCollector) -> AsyncIterator[asyncio.Task[None]]:
    assert await collector.server.find_absence_reason() == ""
    async with asyncio.TaskGroup() as group:
        task = asyncio.ensure_future(collector.server.run_connection(group))
        yield task
        task.cancel()
        await asyncio.wait([task])


async def test_lists_are_fetched_first_and_then_events_are_received():
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers["/session/status"] = {ME: BUSY}
        async with run_connection(collector):
            await collector.wait_for_events("session.status")
            opencode.send_event("session.idle", sessionID=ME)
            opencode.send_event("message.part.delta", sessionID=ME, delta="what was said")
            opencode.send_event("permission.asked", **ASKED)
            await collector.wait_for_events("session.status", "session.idle", "permission.asked")
        assert opencode.requested_paths == ["/session", "/session/status", "/permission", "/question"]
        assert opencode.posted_requests == []
    assert {(record.source, record.hint) for record in collector.records} == {("server", OWN)}


async def test_an_exited_opencode_is_reported_as_lost():
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with run_connection(collector) as task:
            await collector.wait_for_events("permission.asked")
            await collector.wait_until(lambda: collector.server.is_connected)
            control = collector.server.find_session_control(collector.process)
            async with control.wait_for_request() as request:
                opencode.close_connections()
                assert not await control.wait_until_answered(request)
            await asyncio.wait([task])
            assert isinstance(task.exception(), Unavailable)
        assert (
            len(collector.server.build_lost_records()),
            collector.server.build_lost_records(),
            collector.server.find_session_control(collector.process),
        ) == (1, [], None)


@pytest.mark.parametrize(
    ("path", "answer"), [("/session/status", b"not JSON"), ("/permission", "no list"), ("/question", b"[" * 100_000)]
)
async def test_a_server_with_malformed_lists_is_unavailable(path, answer):
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers[path] = answer
        async with run_connection(collector) as task:
            await asyncio.wait([task])
            assert isinstance(task.exception(), Unavailable)
    assert collector.records == []


@pytest.mark.parametrize(
    "noise", [b"data: [1]\n\n", b"data: {\n\n", b"\xff\xfe\n\n", b"data: " + b"[" * 9999 + b"\n\n"]
)
async def test_malformed_events_are_skipped(noise):
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        async with run_connection(collector):
            await collector.wait_for_events("server.rests")
            opencode.send_chunk(noise)
            opencode.send_event("session.status", sessionID=ME, status=BUSY)
            await collector.wait_for_events("server.rests", "session.status")


async def test_dropped_events_end_the_connection(monkeypatch):
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        async with run_connection(collector) as task:
            await collector.wait_for_events("server.rests")
            opencode.send_chunk(b"data: " + b"x" * (5 << 20) + b"\n\n")
            opencode.send_event("server.heartbeat")
            await asyncio.wait([task])
            assert "events were dropped" in task.exception().message


async def test_a_delayed_event_is_not_treated_as_old():
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        async with run_connection(collector):
            await collector.wait_for_events("server.rests")
            late = f"evt_{((collector.records[0].at // 10**6 - 4000) & (2**36 - 1)):09x}001x"
            opencode.send_chunk(
                f'data: {{"id":"{late}","type":"permission.asked","properties":{json.dumps(ASKED)}}}\n\n'.encode()
            )
            await collector.wait_for_events("server.rests", "permission.asked")
    times = [json.loads(record.text)["at"] for record in collector.records]
    assert times == sorted(times)
    assert all(record.at >= at * 10**6 for record, at in zip(collector.records, times, strict=True))


@pytest.mark.parametrize(
    ("arguments", "ports", "reason"),
    [
        ((), (), "--port"),
        ((), (4096, 4097), "several ports"),
        (("--port", "4096"), (5000,), "no port"),
        (("--port", "4096"), (4096, 5000), ""),
        ((), (5000,), ""),
    ],
)
async def test_only_a_certain_port_of_the_process_is_used(arguments, ports, reason):
    collector = RecordCollector(0, *arguments)
    collector.ports = ports
    found = await collector.server.find_absence_reason()
    assert (reason in found, bool(found)) == (True, bool(reason))


async def test_ports_of_a_process_without_port_option_are_checked_rarely():
    without_option, with_option = RecordCollector(0), RecordCollector(0, "--port", "4096")
    without_option.ports = with_option.ports = ()
    for _ in range(5):
        await without_option.server.find_absence_reason()
        await with_option.server.find_absence_reason()
    assert (without_option.port_lookups, with_option.port_lookups) == (1, 5)
    without_option.server.refresh()
    await without_option.server.find_absence_reason()
    assert without_option.port_lookups == 2


async def test_no_request_is_sent_to_a_port_of_another_process():
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with run_connection(collector):
            await collector.wait_for_events("permission.asked")
            await collector.wait_until(lambda: collector.server.is_connected)
            collector.ports = ()
            control = collector.server.find_session_control(collector.process)
            async with control.wait_for_request() as request:
                with pytest.raises(Unavailable):
                    await control.answer_request(request, "allow")
        assert opencode.posted_requests == []


async def test_a_port_that_no_longer_belongs_to_the_process_is_not_connected():
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        assert await collector.server.find_absence_reason() == ""
        collector.ports = ()
        async with asyncio.TaskGroup() as group:
            with pytest.raises(Unavailable, match="no longer"):
                await collector.server.run_connection(group)
        assert (collector.records, opencode.requested_paths) == ([], [])


async def answer_twice(opencode: FakeOpencodeServer, collector: RecordCollector, decision: str) -> None:
    control = collector.server.find_session_control(collector.process)
    async with control.wait_for_request() as request:
        assert (request.id, request.tool, request.command, request.cwd) == (REQUEST, "bash", "touch x", "/src")
        assert await control.answer_request(request, decision)
        opencode.send_event("permission.replied", sessionID=ME, requestID=REQUEST, reply="once")
        assert await control.wait_until_answered(request)
        assert not await control.answer_request(request, decision)


@pytest.mark.parametrize(("decision", "reply"), [("allow", "once"), ("deny", "reject")])
async def test_a_permission_request_is_answered_once_through_the_server(decision, reply):
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers["/permission"] = [ASKED]
        async with run_connection(collector):
            await collector.wait_until(lambda: collector.server.is_connected)
            await answer_twice(opencode, collector, decision)
        assert opencode.posted_requests == [(f"/permission/{REQUEST}/reply", {"reply": reply})]


async def test_an_end_without_an_event_is_confirmed_by_a_second_list(monkeypatch):
    monkeypatch.setattr(server, "LIST_INTERVAL_S", 0.05)
    monkeypatch.setattr(server, "CONFIRM_DELAY_S", 0.05)
    async with run_fake_opencode_server() as opencode:
        collector = RecordCollector(opencode.port)
        opencode.answers["/session/status"] = {ME: BUSY}
        async with run_connection(collector):
            await collector.wait_for_events("session.status", "session.status")
            opencode.answers["/session/status"] = {}
            so_far = opencode.requested_paths.count("/session/status")
            async with asyncio.timeout(20), collector.records_changed:
                await collector.records_changed.wait_for(lambda: "server.rests" in collector.events)
            assert opencode.requested_paths.count("/session/status") >= so_far + 2
            async with asyncio.timeout(20), collector.records_changed:
                await collector.records_changed.wait_for(lambda: collector.events[-1] == "server.lives")
