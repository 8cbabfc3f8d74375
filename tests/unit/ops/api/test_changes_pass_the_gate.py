"""Run every operation for a program, behind a gate that refuses all actions: nothing may change.

Each operation runs with its sample call, without `--dry-run` and with `--yes` where it has these options. An operation
that changes something before or without asking the gate fails here, so a new one cannot forget its authorization.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Struct

from termvisor.actions.approvals import ApprovalQueue
from termvisor.daemon.services.gate import GateComponents, GateService
from termvisor.errors import Refused, VisorError
from termvisor.model.action.action import Actor
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.catalog import OPERATION_NAMES, find_operation
from termvisor.ops.api.dispatch import authorize_changes
from termvisor.ops.api.operation import Operation
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import OPERATION_CALLS
from termvisor.testing.sample_services import build_sample_services

PROGRAM = Actor(kind="robot", uid=1000, pid=2**22 + 7, face="robot")
CHANGES_WITHOUT_THE_GATE = {
    "deny": "a program may deny: less is done then, and the answer is in the audit log",
    "job_harvest": "it stores how far the output was read, for the next call with --new",
    "report_event": "it stores what a program in the pane could print as well; without the nonce nothing acts on it",
}
READING_METHODS = {
    "maintenance": {"check_database", "get_health", "get_database_status"},
    "workflows": {"list_workflows", "dry_run", "find_answering_workflow", "list_runs", "get_run", "list_steps"},
}
MORE_CALLS = (
    ("export", "--snapshot", "--output", "/backups/copy.db"),
    ("export", "1", "--raw", "--unredacted"),
    ("next", "--go"),
    ("workflow", "run", "nightly", "1", "--force"),
)


class RefusingGate:
    """Refuses every action."""

    async def run(self, *_: object) -> None:
        raise Refused("the test refuses everything")

    answer_hook = preview = check_conditions = run


class ReadOnlyService:
    """Passes the methods that only read, and counts the others instead of calling them."""

    def __init__(self, service: object, reads: set[str], calls: list[str]):
        self._service, self._reads, self._calls = service, reads, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._service, name)
        if callable(found) and name not in self._reads:
            self._calls.append(name)
        return found


class ChangeCounter(Struct):
    """What an operation could change: rows of the database, files of the user, and calls of services that change."""

    services: FakeServices
    home: Path
    calls: list[str] = []

    def read(self) -> tuple[object, ...]:
        connection = cast(Any, self.services.store.events)._db._writer_connection
        files = {path: path.stat().st_mtime_ns for path in self.home.rglob("*")}
        return connection.total_changes(), files, tuple(self.calls)


async def open_refusing_services(home: Path, op: str) -> ChangeCounter:
    paths = Paths(str(home / "config"), str(home / "data"), str(home / "run"))
    services = await build_sample_services(paths, op)
    counter = ChangeCounter(services, home)
    refusing = cast(Any, RefusingGate())
    parts = GateComponents(
        gate=refusing,
        policy_checker=cast(Any, services.gate),
        approvals=ApprovalQueue(services.store, services.clock),
        store=services.store,
        clock=services.clock,
        panes=cast(Any, None),
        permission_broker=refusing,
    )
    services.gate = cast(Any, GateService(parts, PROGRAM))
    for name, reads in READING_METHODS.items():
        setattr(services, name, ReadOnlyService(getattr(services, name), reads, counter.calls))
    return counter


def parse_call(words: tuple[str, ...]) -> tuple[Operation, Struct]:
    op, rest = find_operation(words, is_robot=True)
    rest = [word for word in rest if word not in ("--dry-run", "--remove")]
    consent = ["--yes"] if "yes" in op.args_type.__struct_fields__ else []
    return op, parse_arguments(op.args_type, [*consent, *rest])


async def run_call(op: Operation, args: Struct, services: FakeServices) -> None:
    with suppress(VisorError):
        await authorize_changes(op, services, args)
        running = cast(Any, op.run(services, args))
        if not op.is_stream:
            await running
        else:
            async for _ in running:
                pass


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "ZDOTDIR", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_every_operation_has_a_call() -> None:
    assert set(OPERATION_CALLS) == set(OPERATION_NAMES)


@pytest.mark.parametrize(
    "words",
    [*(OPERATION_CALLS[name] for name in OPERATION_NAMES if name not in CHANGES_WITHOUT_THE_GATE), *MORE_CALLS],
    ids=lambda words: "_".join(words[:2]),
)
async def test_a_program_changes_nothing_that_the_gate_refuses(home: Path, words: tuple[str, ...]) -> None:
    op, args = parse_call(words)
    counter = await open_refusing_services(home, op.name)
    before = counter.read()
    await run_call(op, args, counter.services)
    assert counter.read() == before


@pytest.mark.parametrize("name", CHANGES_WITHOUT_THE_GATE)
async def test_the_exceptions_change_something(home: Path, name: str) -> None:
    op, args = parse_call(OPERATION_CALLS[name])
    counter = await open_refusing_services(home, name)
    before = counter.read()
    await run_call(op, args, counter.services)
    assert counter.read() != before
