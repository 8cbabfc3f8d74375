"""Read-only programs run through the gate: checked, logged, bounded."""

import json
from pathlib import Path
from types import SimpleNamespace

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


class ProgramScene:
    """A gate without panes, with a policy file and a folder of programs."""

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

    def write_program(self, body: str, name: str = "cass") -> None:
        (self._folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (self._folder / name).chmod(0o755)

    async def run_program(self, argv: tuple[str, ...] = HISTORY, **where: str) -> Outcome:
        return await self.gate.run(RunProgram(argv=argv, **where), ME, Preconditions())

    async def list_audit(self) -> list[tuple[str, str, str]]:
        return [(one.stage, one.outcome, one.why) for one in await self.store.audit.list()]


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    store = await Store.open(str(tmp_path / "visor.db"), FakeClock())
    yield ProgramScene(store, tmp_path)
    await store.close()


async def test_a_program_run_is_checked_and_logged_and_its_output_returned(scene):
    scene.write_program('echo "$#"; pwd; echo hush >&2; exit 3')
    outcome = await scene.run_program()
    assert (outcome.status, outcome.why, outcome.answered.exit_status) == ("done", "exit_3", 3)
    assert (outcome.answered.out, outcome.answered.errors) == (b"5\n/\n", b"hush\n")
    assert await scene.list_audit() == [("intent", "", ""), ("outcome", "done", "exit_3")]
    kept = json.dumps([one.action for one in await scene.store.audit.list()])
    assert "--session-id" in kept
    assert "0123456789" not in kept
    assert await scene.store.audit.verify() is None


async def test_a_denied_program_is_not_run(scene, tmp_path):
    scene.policy.write_text('[[rule]]\nid = "no_cass"\nwhen = { program = ["cass"] }\nanswer = "deny"\n')
    scene.write_program(f"touch {tmp_path}/ran")
    with pytest.raises(Refused, match="no_cass"):
        await scene.run_program()
    assert not (tmp_path / "ran").exists()
    assert [row[:2] for row in await scene.list_audit()] == [("outcome", "denied")]


async def test_a_read_only_program_that_requires_approval_is_suppressed(scene, tmp_path):
    scene.policy.write_text('[shell]\nmode = "ask"\n')
    scene.write_program(f"touch {tmp_path}/ran")
    outcome = await scene.run_program()
    assert (outcome.status, outcome.why, outcome.answered) == ("suppressed", "policy_asks", None)
    assert not (tmp_path / "ran").exists()
    assert await scene.store.approvals.list() == []


@pytest.mark.parametrize(
    ("body", "why"), [("yes", "too_much"), ("sleep 600 & wait", "timed_out"), (None, "not_installed")]
)
async def test_too_much_output_a_timeout_and_a_missing_program_are_outcomes(scene, monkeypatch, body, why):
    short = tuple(one if why != "timed_out" else _with_short_timeout(one) for one in readonly_program.READONLY_PROGRAMS)
    monkeypatch.setattr(readonly_program, "READONLY_PROGRAMS", short)
    if body is not None:
        scene.write_program(body)
    outcome = await scene.run_program()
    assert (outcome.status, outcome.why, outcome.answered) == ("failed", why, None)
    assert "cass" in outcome.text
    assert (await scene.list_audit())[-1] == ("outcome", "failed", why)


def _with_short_timeout(one: readonly_program.ReadOnlyProgram) -> readonly_program.ReadOnlyProgram:
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
async def test_other_programs_are_never_run(scene, argv, cwd):
    scene.policy.write_text('[[rule]]\nid = "all"\nwhen = { program = ["*"] }\nanswer = "allow"\n')
    with pytest.raises(Unsupported):
        await scene.run_program(argv, cwd=cwd)
    assert (await scene.list_audit())[-1][:2] == ("outcome", "failed")


def test_only_network_programs_get_proxy_variables():
    around = {"HOME": "/home/me", "HTTPS_PROXY": "http://proxy", "OPENAI_API_KEY": "hush", "XDG_DATA_HOME": "/data"}
    assert build_environment(readonly_program.CODE_SEARCH, around) == {"HOME": "/home/me", "XDG_DATA_HOME": "/data"}
    assert build_environment(readonly_program.ACCOUNT_USAGE, around).keys() == {"HOME", "HTTPS_PROXY", "XDG_DATA_HOME"}


def test_a_program_gets_the_variables_for_paths_and_locale_and_only_then_for_the_network():
    local, network = (SimpleNamespace(uses_network=uses) for uses in (False, True))
    names = "PATH HOME USER LOGNAME TMPDIR TZ LANG LC_ALL LC_CTYPE"
    names += " XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME"
    proxies = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy"
    given = dict.fromkeys(f"{names} {proxies} SSL_CERT_FILE SSL_CERT_DIR GITHUB_TOKEN".split(), "x")
    assert " ".join(build_environment(local, given)) == names
    assert given.keys() - build_environment(network, given).keys() == {"GITHUB_TOKEN"}
    assert build_environment(network, {}) == {}
