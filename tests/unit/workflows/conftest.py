"""Compare all that the engine stores and executes in these tests with `journals/`, which `make golden` rewrites.

A run continues after a restart only if its workflow makes the same calls with the same values. So a difference in the
calls of a built-in workflow needs a new ``version`` of it.
"""

import os
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.action.action import Action, Actor
from termvisor.model.workflow import Run, RunStep
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.workflow_scene import FakeRunStore, FakeWorkflowDetections, FakeWorkflowGate

JOURNALS = Path(__file__).with_name("journals")
HEADING = "# "
START = FakeClock().now()
REAL_TIME_TESTS = ("test_work_that_ignores_its_cancellation_does_not_keep_its_run_open",)
READING_STEPS = ("observe", "prefer", "recall", "last_session", "search_code", "now")
WRITES = {
    FakeRunStore: ("add", "save", "save_step", "add_signal", "advance_cursor"),
    FakeWorkflowDetections: ("handle",),
    FakeWorkflowGate: ("run", "withdraw_approvals"),
}


class WriteLog:
    """The writes of a test in order, without random ids and default values; of a run or step only what changed."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._known: dict[object, dict[str, Any]] = {}
        self._correlations: set[str] = set()

    def record(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def write(owner: object, *args: Any) -> Any:
            texts = [self._describe(arg, args[0]) for arg in args]
            if all(texts):
                self._lines.append(f"{method.__name__} {' '.join(texts)}")
            result = await method(owner, *args)
            if isinstance(result, Run):
                self._known[result.id] = msgspec.structs.asdict(result)
            return result

        return write

    def _describe(self, value: Any, owner: object) -> str:
        """Return a text for an argument; empty if the write is not worth a line."""
        if isinstance(value, Actor):
            assert (value.uid, value.pid) == (os.getuid(), os.getpid())
            return f"{value.kind}:{value.name}"
        if not isinstance(value, Struct):
            return str(value)
        if isinstance(value, RunStep) and value.kind in READING_STEPS and value.status == "completed":
            return ""  # it read what the test has set
        key = value.id if isinstance(value, Run) else (owner, value.number) if isinstance(value, RunStep) else None
        fields, before = msgspec.structs.asdict(value), self._known.get(key, {})
        for field in msgspec.structs.fields(value):
            if before.get(field.name, field.default) == fields[field.name]:
                del fields[field.name]
        if key:
            self._known[key] = msgspec.structs.asdict(value)
            fields = ({"id": value.id} if isinstance(value, Run) else {"number": value.number}) | fields
        if isinstance(value, Run):
            self._correlations.add(value.correlation)
            fields |= {"plan": f"{len(value.plan)} characters"} if "plan" in fields else {}
        name = f"{type(value).__name__} " if isinstance(value, Action) else ""
        return f"{name}{_encode(fields)}"

    def list_lines(self) -> list[str]:
        lines = self._lines
        for correlation in self._correlations - {"c"}:
            lines = [line.replace(correlation, "RUN") for line in lines]
        return lines


def _encode(fields: dict[str, Any]) -> str:
    """Encode fields as `name=value`, with times as seconds since the start of the test."""
    texts = {name: msgspec.json.encode(value, enc_hook=str).decode().strip('"') for name, value in fields.items()}
    text = " ".join(f"{name}={text}" for name, text in texts.items() if text)
    return re.sub(r"\b\d{19}\b", lambda match: f"{(int(match[0]) - START) / NS:+g}s", text.replace('\\"', "'"))


@pytest.fixture(autouse=True)
def compared_journal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    log = WriteLog()
    for owner, names in WRITES.items():
        for name in names:
            monkeypatch.setattr(owner, name, log.record(getattr(owner, name)))
    yield
    path, found = JOURNALS / f"{request.path.stem}.txt", log.list_lines()
    if request.node.name in REAL_TIME_TESTS:
        return  # its times differ
    journals = _read_journals(path)
    if os.environ.get("GOLDEN") == "write":
        journals = {name: lines for name, lines in {**journals, request.node.name: found}.items() if lines}
        texts = (f"{HEADING}{name}\n" + "".join(f"{line}\n" for line in journals[name]) for name in sorted(journals))
        if journals:
            path.write_text("\n".join(texts), "utf-8")
    else:
        assert found == journals.get(request.node.name, []), "another journal; if that is meant, run `make golden`"


def _read_journals(path: Path) -> dict[str, list[str]]:
    journals: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line.startswith(HEADING):
            lines = journals[line.removeprefix(HEADING)] = []
        elif line:
            lines.append(line)
    return journals
