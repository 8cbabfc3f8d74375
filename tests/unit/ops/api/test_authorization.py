"""Operations that change settings, files or records pass the gate when a program calls them."""

import os
from contextlib import aclosing

import msgspec
import pytest

from termvisor.daemon.server.dispatcher import OperationDispatcher
from termvisor.errors import BadRequest
from termvisor.model.action.action import Actor, WriteConfig
from termvisor.model.action.approval import PermitGrant
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.dispatch import authorize_changes
from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import open_gate_scene

PERSON = Actor(kind="human", uid=os.getuid(), pid=2**22 + 5)
RESTORE = {"type": "restore_data", "file": "/copy.db"}
PROGRAM = PeerProcess(os.getuid(), 2**22 + 6)


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def run_words(scene, *words: str) -> tuple[bytes, bytes]:
    """Return the kind of the last frame, and the output."""
    request = command_protocol.CommandRequest(words, True)
    async with aclosing(OperationDispatcher(scene.services, lambda: None).run_command(request, PROGRAM)) as frames:
        parts = command_protocol.FrameDecoder().feed(b"".join([frame async for frame in frames]))
    return parts[-1][0] + b" %d" % parts[-1][1], b"".join(body for _, _, body in parts)


@pytest.mark.parametrize(
    ("words", "kind", "after"),
    [
        (("config", "set", "notify_command", "/tmp/x"), "write_config", b"l 0"),
        (("config", "unset", "notify_command"), "write_config", b"l 0"),
        (("config", "init", "--force"), "write_config", b"l 0"),
        (("config", "reload"), "write_config", b"x 0"),
        (("setup", "shell", "zsh", "--yes"), "write_file", b"l 0"),
        (("setup", "agents", "--agent", "codex", "--yes"), "write_file", b"l 0"),
        (("events", "mute", "usage.warning"), "write_config", b"x 0"),
        (("db", "prune"), "prune_data", b"x 0"),
        (("db", "backup", "/nowhere/copy.db"), "write_file", b"x 74"),
        (("export", "--snapshot", "--output", "/nowhere/copy.db"), "write_file", b"x 74"),
        (("rules", "new", "deploy.rollout.stuck"), "write_config", b"l 0"),
        (("workflow", "new", "go_on"), "write_config", b"l 0"),
        (("revoke-permit", "1"), "write_config", b"x 2"),
        (("accounts", "use", "openai/work"), "write_config", b"x 4"),
        (("workflow", "cancel", "7"), "update_records", b"x 4"),
        (("workflow", "resume", "7"), "update_records", b"x 4"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) else "",
)
async def test_a_program_needs_approval_and_the_change_is_on_record(scene, words, kind: str, after: bytes) -> None:
    status, out = await run_words(scene, *words)
    error = msgspec.json.decode(out)["error"]
    assert (status, error["code"]) == (b"x 77", "needs_approval")
    person = scene.services.bind_caller(PERSON).gate
    await person.approvals.answer(error["details"]["question"], "allow")
    assert (await run_words(scene, *words))[0] == after
    stages = [(entry.stage, entry.kind) for entry in await person.audit.list(filters=AuditFilter(kind=kind))]
    assert stages == [("asked", kind), ("answered", kind), ("intent", kind), ("outcome", kind)]


@pytest.mark.parametrize(
    "words", ["db vacuum", "db reindex", "events ack 1", "workflow pause 7", "workflow signal 7 go"]
)
async def test_what_loses_nothing_is_allowed_but_on_record(scene, words: str) -> None:
    await run_words(scene, *words.split())
    entries = await scene.services.bind_caller(PERSON).gate.audit.list(filters=AuditFilter(kind="update_records"))
    assert [(entry.stage, entry.actor.kind) for entry in entries] == [("intent", "robot"), ("outcome", "robot")]


async def test_no_program_replaces_the_audit_log(scene) -> None:
    status, out = await run_words(scene, "db", "restore", "copy.db", "--yes")
    assert (status, msgspec.json.decode(out)["error"]["code"]) == (b"x 77", "policy_denied")
    last = (await scene.services.bind_caller(PERSON).gate.audit.list())[-1]
    assert (last.kind, last.outcome, last.action) == ("restore_data", "denied", RESTORE)
    assert (await run_words(scene, "db", "restore", "copy.db", "--dry-run"))[0] == b"l 0"


async def test_a_grant_for_one_setting_is_no_grant_for_all(scene) -> None:
    _, out = await run_words(scene, "config", "set", "log_level", "debug")
    number = msgspec.json.decode(out)["error"]["details"]["question"]
    with pytest.raises(BadRequest, match="only once"):
        await scene.services.bind_caller(PERSON).gate.approvals.answer(number, "allow", PermitGrant())


async def test_a_backup_through_a_link_names_its_true_folder(scene) -> None:
    os.makedirs(f"{scene.places.config_dir}/.ssh")
    os.symlink(f"{scene.places.config_dir}/.ssh", f"{scene.places.config_dir}/harmless")
    status, out = await run_words(scene, "db", "backup", f"{scene.places.config_dir}/harmless/copy.db")
    assert (status, msgspec.json.decode(out)["error"]["code"]) == (b"x 77", "policy_denied")


async def test_an_unredacted_export_needs_approval(scene) -> None:
    _, pane = await scene.start_bash()
    status, out = await run_words(scene, "export", str(pane), "--raw", "--unredacted")
    assert status == b"x 77" and b"needs_approval" in out
    assert (await run_words(scene, "export", str(pane), "--raw"))[0] == b"x 0"


@pytest.mark.parametrize(
    "words",
    ["setup agents --agent codex", "setup agents --yes --dry-run", "setup shell bash --print", "db prune --dry-run"],
)
def test_what_changes_nothing_is_not_asked(words: str) -> None:
    op, rest = catalog.find_operation(tuple(words.split()), is_robot=False)
    assert op.list_changes is not None
    assert op.list_changes(FakeServices(), parse_arguments(op.args_type, rest)) == ()


async def test_a_person_is_not_asked_about_own_changes_but_they_are_on_record(scene) -> None:
    services = scene.services.bind_caller(PERSON)
    op, rest = catalog.find_operation(("setup", "shell", "zsh", "--yes"), is_robot=False)
    await authorize_changes(op, services, parse_arguments(op.args_type, rest))
    entries = await services.gate.audit.list()
    assert [entry.stage for entry in entries][-2:] == ["intent", "outcome"]
    assert entries[-1].action["path"].endswith(".zshrc")


async def test_a_broken_policy_allows_nothing_and_is_an_alert(scene) -> None:
    gate = scene.services.bind_caller(PERSON).gate
    assert (await gate.preview(WriteConfig(change="reload"), Preconditions())).verdict.answer == "allow"
    os.makedirs(scene.places.config_dir, exist_ok=True)
    with open(scene.places.policy_file, "w") as file:
        file.write("[approval]\ndefault = 3\n")
    verdict = (await gate.preview(WriteConfig(change="reload"), Preconditions())).verdict
    assert verdict.answer == "ask" and "was not loaded" in verdict.why
    assert any("was not loaded" in alert for alert in (await scene.services.maintenance.get_health()).alerts)
