"""Undo with a real shell in a real tmux: each inverse, and its refusals."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.actions.undo import build_inverse, find_undoable_action
from termvisor.clock import NS
from termvisor.errors import BadRequest, NotUndoable, StaleSnapshot
from termvisor.model.action.action import (
    RISK_BY_ACTION_KIND,
    Activate,
    Actor,
    Kill,
    Release,
    Reserve,
    SendKeys,
    SetTitle,
    Spawn,
)
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.preconditions import Preconditions, UndoPrecondition
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, GateScene, open_gate_scene
from tests.unit.wait_until import wait_until

ROBOT = Actor(kind="robot", uid=1000, pid=1)


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def run_action(scene: GateScene, action, actor: Actor = ME, **preconditions):
    return await scene.gate.run(action, actor, Preconditions(**preconditions))


async def run_undo(scene: GateScene, which: str = "last", actor: Actor = ME):
    done = await find_undoable_action(scene.store.audit, which, actor)
    inverse = build_inverse(done, await scene.services.panes.list_panes(include_gone=True))
    return await run_action(scene, inverse.action, actor, undoes=inverse.undoes)


async def undo_and_expect_refusal(scene: GateScene, which: str = "last") -> str:
    """Return the error code of a refused undo."""
    with pytest.raises(StaleSnapshot, match="nothing was done") as error:
        await run_undo(scene, which)
    return str(error.value.details["why"])


async def test_a_title_is_restored_and_logged(scene):
    mux_id, pane = await scene.start_bash()
    scene.tmux("select-pane", "-t", mux_id, "-T", "✳ it's, {mine}")
    done = await run_action(scene, SetTitle(pane=pane, title="release build"))
    assert scene.tmux.read_format(mux_id, "#{pane_title}") == "release build"
    undone = await run_undo(scene, done.correlation)
    assert (undone.status, scene.tmux.read_format(mux_id, "#{pane_title}")) == ("done", "✳ it's, {mine}")
    story = await scene.store.audit.list(filters=AuditFilter(correlation=undone.correlation))
    assert [(entry.stage, entry.undoes) for entry in story] == [
        ("intent", done.correlation),
        ("outcome", done.correlation),
    ]
    assert await scene.store.audit.verify() is None


async def test_an_action_is_undone_once_but_the_undo_can_be_undone(scene):
    mux_id, pane = await scene.start_bash()
    done = await run_action(scene, SetTitle(pane=pane, title="once"))
    undone = await run_undo(scene)
    assert await undo_and_expect_refusal(scene, done.correlation) == "already_undone"
    await run_undo(scene, undone.correlation)
    assert scene.tmux.read_format(mux_id, "#{pane_title}") == "once"


async def test_concurrent_undos_of_one_action_run_once(scene):
    _, pane = await scene.start_bash()
    done = await run_action(scene, SetTitle(pane=pane, title="x"))
    inverse = build_inverse(
        await find_undoable_action(scene.store.audit, done.correlation, ME), await scene.services.panes.list_panes()
    )
    await run_action(scene, inverse.action, undoes=inverse.undoes)
    await run_action(scene, SetTitle(pane=pane, title="x"))
    with pytest.raises(StaleSnapshot) as error:
        await run_action(scene, inverse.action, undoes=inverse.undoes)
    assert error.value.details["why"] == "already_undone"
    (entry,) = await scene.store.audit.list(filters=AuditFilter(outcome="refused"))
    assert (entry.why, entry.undoes) == ("already_undone", done.correlation)


async def test_undo_without_an_id_reverts_the_callers_actions_in_turn(scene):
    mux_id, pane = await scene.start_bash()
    scene.tmux("select-pane", "-t", mux_id, "-T", "zero")
    for title in ("one", "two"):
        await run_action(scene, SetTitle(pane=pane, title=title))
    await run_undo(scene)
    await run_action(scene, SetTitle(pane=pane, title="one"), ROBOT)
    await run_undo(scene)
    assert scene.tmux.read_format(mux_id, "#{pane_title}") == "zero"
    with pytest.raises(NotUndoable, match="no recent action"):
        await run_undo(scene)


async def test_a_title_changed_since_is_kept(scene):
    mux_id, pane = await scene.start_bash()
    await run_action(scene, SetTitle(pane=pane, title="ours"))
    scene.tmux("select-pane", "-t", mux_id, "-T", "theirs")
    assert await undo_and_expect_refusal(scene) == "title_changed"
    assert scene.tmux.read_format(mux_id, "#{pane_title}") == "theirs"


async def test_a_former_title_with_a_secret_is_not_logged_and_not_restored(scene):
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    mux_id, pane = await scene.start_bash()
    scene.tmux("select-pane", "-t", mux_id, "-T", f"deploy {secret}")
    await run_action(scene, SetTitle(pane=pane, title="quiet"))
    with pytest.raises(NotUndoable, match="former title is not in the audit log"):
        await run_undo(scene)
    assert secret not in str(await scene.store.audit.list())


async def test_the_former_active_pane_is_activated_again(scene):
    front, _ = await scene.start_bash()
    scene.tmux("select-window", "-t", front)
    other, pane = await scene.start_bash()
    await run_action(scene, Activate(pane=pane))
    assert scene.tmux.read_format("=work:", "#{pane_id}") == other
    await run_undo(scene)
    assert scene.tmux.read_format("=work:", "#{pane_id}") == front


async def test_an_active_pane_changed_since_is_kept(scene):
    first, _ = await scene.start_bash()
    scene.tmux("select-window", "-t", first)
    _, pane = await scene.start_bash()
    third, _ = await scene.start_bash()
    await run_action(scene, Activate(pane=pane))
    scene.tmux("select-window", "-t", third)
    assert await undo_and_expect_refusal(scene) == "front_changed"
    assert scene.tmux.read_format("=work:", "#{pane_id}") == third


async def test_activating_the_active_pane_cannot_be_undone(scene):
    mux_id, pane = await scene.start_bash()
    scene.tmux("select-window", "-t", mux_id)
    await run_action(scene, Activate(pane=pane))
    with pytest.raises(NotUndoable, match="already active"):
        await run_undo(scene)


async def test_a_former_active_pane_that_is_gone_is_not_activated(scene):
    front, _ = await scene.start_bash()
    scene.tmux("select-window", "-t", front)
    gone = await scene.wait_for_capture(front)
    _, pane = await scene.start_bash()
    await run_action(scene, Activate(pane=pane))
    scene.tmux("kill-pane", "-t", front)
    await wait_until_ended(scene, gone)
    assert await undo_and_expect_refusal(scene) == "pane_gone"


async def wait_until_ended(scene: GateScene, pane) -> None:
    """Wait until the end of the pane is stored."""
    async with asyncio.timeout(30):
        while (await scene.services.panes.find_pane(pane)).gone_at is None:
            await asyncio.sleep(0.005)


async def test_a_spawned_program_is_closed(scene):
    outcome = await run_action(scene, Spawn(where="window", session="work", command=("sleep", "600")))
    pane = await scene.wait_for_capture(outcome.mux_pane)
    undone = await run_undo(scene)
    assert (undone.status, undone.pane) == ("done", pane)
    await wait_until_ended(scene, pane)
    assert await undo_and_expect_refusal(scene, outcome.correlation) == "already_undone"


async def test_a_shell_is_closed_only_while_nothing_runs_in_it(scene):
    _, beside = await scene.start_bash()
    outcome = await run_action(scene, Spawn(where="pane", beside=beside, command=("sh",)))
    pane = await scene.wait_for_capture(outcome.mux_pane)
    scene.tmux.type_line(outcome.mux_pane, "sleep 600 &")
    await wait_until(lambda: "sleep 600" in scene.capture_screen(outcome.mux_pane))
    await wait_until(lambda: has_started(outcome.pid))
    assert await undo_and_expect_refusal(scene) == "other_programs"
    scene.tmux.type_line(outcome.mux_pane, "kill %1; wait")
    await wait_until(lambda: not has_started(outcome.pid))
    assert (await run_undo(scene)).status == "done"
    await wait_until_ended(scene, pane)


def has_started(pid: int) -> bool:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return bool(file.read().split())


async def test_another_program_in_the_spawned_pane_is_not_closed(scene):
    outcome = await run_action(scene, Spawn(where="window", session="work", command=("sleep", "600")))
    pane = await scene.wait_for_capture(outcome.mux_pane)
    scene.tmux("respawn-pane", "-k", "-t", outcome.mux_pane, "sleep 601")
    await wait_until_ended(scene, pane)
    assert await undo_and_expect_refusal(scene) == "pane_gone"
    assert scene.tmux.read_format(outcome.mux_pane, "#{pane_dead}") == "0"


async def test_a_pane_that_has_ended_by_itself_needs_no_undo(scene):
    outcome = await run_action(scene, Spawn(where="window", session="work", command=("sleep", "600")))
    pane = await scene.wait_for_capture(outcome.mux_pane)
    scene.tmux("kill-pane", "-t", outcome.mux_pane)
    await wait_until_ended(scene, pane)
    assert await undo_and_expect_refusal(scene) == "pane_gone"


async def test_a_reservation_is_released(scene):
    _, pane = await scene.start_bash()
    await run_action(scene, Reserve(pane=pane, owner="ann", seconds=60), owner="ann")
    assert [one.owner for one in await scene.store.reservations.list(scene.services.clock.now())] == ["ann"]
    assert (await run_undo(scene)).status == "done"
    assert await scene.store.reservations.list(scene.services.clock.now()) == []


async def test_an_extended_reservation_is_not_released(scene):
    _, pane = await scene.start_bash()
    for seconds in (60, 120):
        await run_action(scene, Reserve(pane=pane, owner="ann", seconds=seconds), owner="ann")
    with pytest.raises(NotUndoable, match="extended a reservation"):
        await run_undo(scene)


async def test_an_undo_of_a_released_reservation_is_refused(scene):
    _, pane = await scene.start_bash()
    await run_action(scene, Reserve(pane=pane, owner="ann", seconds=60), owner="ann")
    (held,) = await scene.store.reservations.list(scene.services.clock.now())
    number = (await scene.store.audit.list())[-1].id
    assert (await find_undoable_action(scene.store.audit, str(number), ME)).kind == "reserve"
    with pytest.raises(BadRequest, match="not found"):
        await find_undoable_action(scene.store.audit, str(number + 1), ME)
    await scene.store.reservations.release(held.id, scene.services.clock.now())
    assert await undo_and_expect_refusal(scene) == "not_reserved"


async def test_a_typed_but_unsubmitted_text_is_cleared(scene):
    mux_id, pane = await scene.start_bash()
    done = await scene.send(pane, "echo not yet", enter=False)
    undone = await run_undo(scene, done.correlation)
    assert (undone.status, undone.why) == ("done", "input_cleared")
    assert scene.capture_screen(mux_id).rstrip().endswith("$")
    assert (await scene.send(pane, "true next")).status == "delivered"


async def test_an_input_changed_since_is_kept(scene):
    mux_id, pane = await scene.start_bash()
    await scene.send(pane, "echo not yet", enter=False)
    scene.tmux("send-keys", "-t", mux_id, "-l", " mine")
    await wait_until(lambda: scene.capture_screen(mux_id).rstrip().endswith("mine"))
    assert await undo_and_expect_refusal(scene) == "input_changed"
    assert scene.capture_screen(mux_id).rstrip().endswith("$ echo not yet mine")


async def test_a_text_submitted_by_hand_is_not_cleared(scene):
    _, pane = await scene.start_bash()
    done = await scene.send(pane, "sleep 600", enter=False)
    scene.tmux("send-keys", "-t", scene.find_mux_id(pane), "Enter")
    await wait_until(lambda: scene.read_activity(pane)[0] == "command")
    assert await undo_and_expect_refusal(scene, done.correlation) == "not_at_prompt"


async def test_a_delivered_text_cannot_be_undone(scene):
    _, pane = await scene.start_bash()
    await scene.send(pane, "sleep 600")
    with pytest.raises(NotUndoable, match=r"send_text [0-9a-f]+ cannot be undone: the program has read the text"):
        await run_undo(scene)
    await run_action(scene, Kill(pane=pane))
    with pytest.raises(NotUndoable, match=r"kill [0-9a-f]+ cannot be undone"):
        await run_undo(scene)
    await scene.wait_until_at_prompt(pane)
    await run_action(scene, SendKeys(pane=pane, keys=("C-l",)))
    with pytest.raises(NotUndoable, match=r"send_keys [0-9a-f]+ cannot be undone"):
        await run_undo(scene)


async def test_an_unexecuted_or_unknown_action_cannot_be_undone(scene):
    _, pane = await scene.start_bash()
    scene.policy.answer = "deny"
    with pytest.raises(Exception, match="the test says so") as denied:
        await run_action(scene, SetTitle(pane=pane, title="never"))
    with pytest.raises(NotUndoable, match="was not executed: denied"):
        await run_undo(scene, denied.value.details["correlation"])
    with pytest.raises(BadRequest, match="action 'c0ffee' not found"):
        await run_undo(scene, "c0ffee")


async def test_an_undo_is_checked_by_the_policy(scene):
    mux_id, pane = await scene.start_bash()
    done = await run_action(scene, SetTitle(pane=pane, title="stays"))
    scene.policy.answer = "deny"
    with pytest.raises(Exception, match="the test says so"):
        await run_undo(scene, done.correlation)
    assert scene.tmux.read_format(mux_id, "#{pane_title}") == "stays"
    scene.policy.answer = "allow"
    assert (await run_undo(scene, done.correlation)).status == "done"


async def test_an_undo_respects_reservations(scene):
    _, pane = await scene.start_bash()
    done = await run_action(scene, SetTitle(pane=pane, title="mine"))
    await run_action(scene, Reserve(pane=pane, owner="ann", seconds=60), replace(ME, kind="robot"), owner="ann")
    with pytest.raises(Exception, match="reserved by ann"):
        await run_undo(scene, done.correlation)


ME = Actor(kind="human", uid=1000, pid=1)
AT = 1000 * NS
HERE = ServerInstance(TargetName("local"), "/tmp/a", 10, 1)
ELSEWHERE = ServerInstance(TargetName("local"), "/tmp/b", 20, 1)


def pane(number: int, mux_id: str, pid: int = 0, server: ServerInstance = HERE, **more) -> PaneView:
    instance = PaneInstance(server, MuxPaneId(mux_id))
    facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=pid or 100 + number)
    return PaneView(id=PaneId(number), instance=instance, facts=facts, **{"first_seen_at": AT, **more})


def done(kind: str, observed: dict | None = None, **more) -> AuditEntry:
    known = {"at": AT, "correlation": "c1", "stage": "outcome", "kind": kind, "actor": ME, "outcome": "done"}
    return AuditEntry(**{**known, "pane": PaneId(1), "observed": observed or {}, **more})


PANES = [pane(1, "%1"), pane(2, "%2"), pane(3, "%2", server=ELSEWHERE)]


def test_a_title_is_restored_only_while_the_new_one_is_set():
    found = build_inverse(done("set_title", {"former_title": "before", "title": "ours"}), PANES)
    assert found.action == SetTitle(pane=1, title="before")
    assert found.undoes == UndoPrecondition(correlation="c1", title="ours")


def test_the_former_active_pane_is_on_the_same_server():
    found = build_inverse(done("activate", {"former_front": "%2"}), PANES)
    assert (found.action, found.undoes.front) == (Activate(pane=2), "%1")


@pytest.mark.parametrize(
    ("command", "is_alone"), [([], True), (["/bin/bash", "-l"], True), (["claude"], False), (["make", "watch"], False)]
)
def test_a_shell_must_have_no_child_processes(command, is_alone):
    spawned = done("spawn", {"mux_pane": "%2", "pid": 102}, action={"command": command})
    found = build_inverse(spawned, PANES)
    assert found.action == Kill(pane=2, closes_pane=True)
    assert found.undoes == UndoPrecondition(correlation="c1", is_alone=is_alone)


@pytest.mark.parametrize(
    "other",
    [
        pane(2, "%2", 999),
        pane(2, "%2", 102, gone_at=AT + 1),
        pane(2, "%2", 102, first_seen_at=AT - 60 * NS),
    ],
    ids=["another process", "gone", "seen long before"],
)
def test_a_pane_that_is_not_the_spawned_one_is_not_closed(other):
    with pytest.raises(StaleSnapshot) as error:
        build_inverse(done("spawn", {"mux_pane": "%2", "pid": 102}), [other])
    assert error.value.details["why"] == "pane_gone"


def test_a_reservation_is_released_also_when_its_pane_is_gone():
    found = build_inverse(done("reserve", {"reservation": 7, "is_longer": False}), [])
    assert found.action == Release(pane=1, reservation=7)


def test_only_an_unsubmitted_text_is_cleared():
    waiting = done("send_text", outcome="typed_not_submitted")
    found = build_inverse(waiting, PANES)
    assert (found.action, found.undoes.is_typed) == (SendKeys(pane=1, keys=("C-u",)), True)
    with pytest.raises(NotUndoable, match="has read the text"):
        build_inverse(replace(waiting, outcome="delivered"), PANES)


@pytest.mark.parametrize(
    "kind", sorted({*RISK_BY_ACTION_KIND} - {"set_title", "activate", "spawn", "reserve", "send_text"})
)
def test_other_actions_cannot_be_undone(kind):
    with pytest.raises(NotUndoable, match=f"{kind} c1 cannot be undone"):
        build_inverse(done(kind), PANES)


@pytest.mark.parametrize("kind", ["set_title", "activate", "reserve"])
def test_an_entry_without_former_values_cannot_be_undone(kind):
    with pytest.raises(NotUndoable, match="cannot be undone"):
        build_inverse(done(kind), PANES)


@pytest.mark.parametrize("panes", [[], [pane(1, "%1", gone_at=AT + 1)]])
def test_a_missing_pane_is_an_error(panes):
    with pytest.raises(StaleSnapshot, match="nothing was done"):
        build_inverse(done("set_title", {"former_title": "before", "title": "ours"}), panes)
