"""Read-only programs run through the gate: checked, logged, bounded."""

import json
from pathlib import Path

import pytest

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.executor import ActionExecutor, build_environment
from termvisor.actions.gate import Gate
from termvisor.actions.policy_check import PolicyChecker, PolicyFile
from termvisor.errors import Refused, Unsupported
from termvisor.model.action import readonly_program
from termvisor.model.action.action import Actor, RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.policy.path_rules import PathScope
from termvisor.store import Store
from termvisor.testing.fake_clock import FakeClock

ME = Actor(kind="workflow", uid=1000, pid=1, name="unstick")
HISTORY = ("cass", "query", "--session-id", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "--format", "json")


class Desk:
    """The gate without any pane, a policy file, and a folder of programs."""

    def __init__(self, store: Store, folder: Path):
        self.store, self.policy, self._folder = store, folder / "policy.toml", folder
        clock = FakeClock()
        policy = PolicyChecker(PolicyFile(str(self.policy)), PathScope(home=str(folder)), clock)
        self.gate = Gate(
            store=store,
            panes=None,
            policy=policy,
            approvals=ApprovalQueue(store, clock),
            executor=ActionExecutor(None, clock),
            clock=clock,
            hash_key=b"0123456789abcdef",
        )

    def program(self, body: str, name: str = "cass") -> None:
        (self._folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (self._folder / name).chmod(0o755)

    async def ask(self, argv: tuple[str, ...] = HISTORY, **where: str) -> Outcome:
        return await self.gate.run(RunProgram(argv=argv, **where), ME, Preconditions())

    async def record(self) -> list[tuple[str, str, str]]:
        return [(one.stage, one.outcome, one.why) for one in await self.store.audit.list()]


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    store = await Store.open(str(tmp_path / "visor.db"), FakeClock())
    yield Desk(store, tmp_path)
    await store.close()


async def test_a_program_run_is_checked_and_logged_and_its_output_returned(desk):
    desk.program('echo "$#"; pwd; echo hush >&2; exit 3')
    outcome = await desk.ask()
    assert (outcome.status, outcome.why, outcome.answered.exit_status) == ("done", "exit_3", 3)
    assert (outcome.answered.out, outcome.answered.errors) == (b"5\n/\n", b"hush\n")
    assert await desk.record() == [("intent", "", ""), ("outcome", "done", "exit_3")]
    kept = json.dumps([one.action for one in await desk.store.audit.list()])
    assert "--session-id" in kept
    assert "0123456789" not in kept
    assert await desk.store.audit.verify() is None


async def test_a_denied_program_is_not_run(desk, tmp_path):
    desk.policy.write_text('[[rule]]\nid = "no_cass"\nwhen = { program = ["cass"] }\nanswer = "deny"\n')
    desk.program(f"touch {tmp_path}/ran")
    with pytest.raises(Refused, match="no_cass"):
        await desk.ask()
    assert not (tmp_path / "ran").exists()
    assert [row[:2] for row in await desk.record()] == [("outcome", "denied")]


async def test_a_read_only_program_that_requires_approval_is_suppressed(desk, tmp_path):
    desk.policy.write_text('[shell]\nmode = "ask"\n')
    desk.program(f"touch {tmp_path}/ran")
    outcome = await desk.ask()
    assert (outcome.status, outcome.why, outcome.answered) == ("suppressed", "policy_asks", None)
    assert not (tmp_path / "ran").exists()
    assert await desk.store.approvals.list() == []


@pytest.mark.parametrize(
    ("body", "why"), [("yes", "too_much"), ("sleep 600 & wait", "timed_out"), (None, "not_installed")]
)
async def test_too_much_output_a_timeout_and_a_missing_program_are_outcomes(desk, monkeypatch, body, why):
    short = tuple(one if why != "timed_out" else _hasty(one) for one in readonly_program.READONLY_PROGRAMS)
    monkeypatch.setattr(readonly_program, "READONLY_PROGRAMS", short)
    if body is not None:
        desk.program(body)
    outcome = await desk.ask()
    assert (outcome.status, outcome.why, outcome.answered) == ("failed", why, None)
    assert "cass" in outcome.text
    assert (await desk.record())[-1] == ("outcome", "failed", why)


def _hasty(one: readonly_program.ReadOnlyProgram) -> readonly_program.ReadOnlyProgram:
    return readonly_program.ReadOnlyProgram(
        program=one.program,
        argv_patterns=one.argv_patterns,
        purpose=one.purpose,
        timeout_s=0.2,
        max_output_bytes=one.max_output_bytes,
    )


@pytest.mark.parametrize(
    ("argv", "cwd"),
    [
        (("cass", "index", "--full"), "/"),
        (HISTORY, "/home/me"),
        (("cass", "query", "--session-id", "--config=/tmp/x", "--format", "json"), "/"),
        (("ast-grep", "run", "--json=compact", "--pattern", "$A", "--", "/src"), "/"),
        (("ast-grep", "run", "--json=compact", "--pattern", "name", "--", "src"), "/"),
    ],
)
async def test_other_programs_are_never_run(desk, argv, cwd):
    desk.policy.write_text('[[rule]]\nid = "all"\nwhen = { kind = ["run_program"] }\nanswer = "allow"\n')
    with pytest.raises(Unsupported):
        await desk.ask(argv, cwd=cwd)
    assert (await desk.record())[-1][:2] == ("outcome", "failed")


def test_only_network_programs_get_proxy_variables():
    around = {"HOME": "/home/me", "HTTPS_PROXY": "http://proxy", "OPENAI_API_KEY": "hush", "XDG_DATA_HOME": "/data"}
    assert build_environment(readonly_program.CODE_SEARCH, around) == {"HOME": "/home/me", "XDG_DATA_HOME": "/data"}
    assert build_environment(readonly_program.ACCOUNT_USAGE, around).keys() == {"HOME", "HTTPS_PROXY", "XDG_DATA_HOME"}
