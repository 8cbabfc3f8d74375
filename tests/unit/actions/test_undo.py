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
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def do(home: GateScene, action, actor: Actor = ME, **terms):
    return await home.gate.run(action, actor, Preconditions(**terms))


async def undo(home: GateScene, which: str = "last", actor: Actor = ME):
    done = await find_undoable_action(home.store.audit, which, actor)
    taken_back = build_inverse(done, await home.world.panes.list_panes(include_gone=True))
    return await do(home, taken_back.action, actor, undoes=taken_back.undoes)


async def refused(home: GateScene, which: str = "last") -> str:
    """The stable code that says why nothing was done."""
    with pytest.raises(StaleSnapshot, match="nothing was done") as told:
        await undo(home, which)
    return str(told.value.details["why"])


async def test_a_title_is_restored_and_logged(home):
    mux_id, pane = await home.bash()
    home.tmux("select-pane", "-t", mux_id, "-T", "✳ it's, {mine}")
    done = await do(home, SetTitle(pane=pane, title="release build"))
    assert home.tmux.read_format(mux_id, "#{pane_title}") == "release build"
    undone = await undo(home, done.correlation)
    assert (undone.status, home.tmux.read_format(mux_id, "#{pane_title}")) == ("done", "✳ it's, {mine}")
    story = await home.store.audit.list(filters=AuditFilter(correlation=undone.correlation))
    assert [(entry.stage, entry.undoes) for entry in story] == [
        ("intent", done.correlation),
        ("outcome", done.correlation),
    ]
    assert await home.store.audit.verify() is None


async def test_an_action_is_undone_once_but_the_undo_can_be_undone(home):
    mux_id, pane = await home.bash()
    done = await do(home, SetTitle(pane=pane, title="once"))
    undone = await undo(home)
    assert await refused(home, done.correlation) == "already_undone"
    await undo(home, undone.correlation)
    assert home.tmux.read_format(mux_id, "#{pane_title}") == "once"


async def test_concurrent_undos_of_one_action_run_once(home):
    _, pane = await home.bash()
    done = await do(home, SetTitle(pane=pane, title="x"))
    taken_back = build_inverse(
        await find_undoable_action(home.store.audit, done.correlation, ME), await home.world.panes.list_panes()
    )
    await do(home, taken_back.action, undoes=taken_back.undoes)
    await do(home, SetTitle(pane=pane, title="x"))
    with pytest.raises(StaleSnapshot) as told:
        await do(home, taken_back.action, undoes=taken_back.undoes)
    assert told.value.details["why"] == "already_undone"
    (entry,) = await home.store.audit.list(filters=AuditFilter(outcome="refused"))
    assert (entry.why, entry.undoes) == ("already_undone", done.correlation)


async def test_last_goes_back_step_by_step_through_ones_own_actions(home):
    mux_id, pane = await home.bash()
    home.tmux("select-pane", "-t", mux_id, "-T", "zero")
    for title in ("one", "two"):
        await do(home, SetTitle(pane=pane, title=title))
    await undo(home)
    await do(home, SetTitle(pane=pane, title="one"), ROBOT)
    await undo(home)
    assert home.tmux.read_format(mux_id, "#{pane_title}") == "zero"
    with pytest.raises(NotUndoable, match="no recent action"):
        await undo(home)


async def test_a_title_changed_since_is_kept(home):
    mux_id, pane = await home.bash()
    await do(home, SetTitle(pane=pane, title="ours"))
    home.tmux("select-pane", "-t", mux_id, "-T", "theirs")
    assert await refused(home) == "title_changed"
    assert home.tmux.read_format(mux_id, "#{pane_title}") == "theirs"


async def test_a_former_title_with_a_secret_is_not_logged_and_not_restored(home):
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    mux_id, pane = await home.bash()
    home.tmux("select-pane", "-t", mux_id, "-T", f"deploy {secret}")
    await do(home, SetTitle(pane=pane, title="quiet"))
    with pytest.raises(NotUndoable, match="former title is not in the audit log"):
        await undo(home)
    assert secret not in str(await home.store.audit.list())


async def test_the_former_active_pane_is_activated_again(home):
    front, _ = await home.bash()
    home.tmux("select-window", "-t", front)
    other, pane = await home.bash()
    await do(home, Activate(pane=pane))
    assert home.tmux.read_format("=work:", "#{pane_id}") == other
    await undo(home)
    assert home.tmux.read_format("=work:", "#{pane_id}") == front


async def test_an_active_pane_changed_since_is_kept(home):
    first, _ = await home.bash()
    home.tmux("select-window", "-t", first)
    _, pane = await home.bash()
    third, _ = await home.bash()
    await do(home, Activate(pane=pane))
    home.tmux("select-window", "-t", third)
    assert await refused(home) == "front_changed"
    assert home.tmux.read_format("=work:", "#{pane_id}") == third


async def test_activating_the_active_pane_cannot_be_undone(home):
    mux_id, pane = await home.bash()
    home.tmux("select-window", "-t", mux_id)
    await do(home, Activate(pane=pane))
    with pytest.raises(NotUndoable, match="already active"):
        await undo(home)


async def test_a_former_active_pane_that_is_gone_is_not_activated(home):
    front, _ = await home.bash()
    home.tmux("select-window", "-t", front)
    gone = await home.pane(front)
    _, pane = await home.bash()
    await do(home, Activate(pane=pane))
    home.tmux("kill-pane", "-t", front)
    await ended(home, gone)
    assert await refused(home) == "pane_gone"


async def ended(home: GateScene, pane) -> None:
    """Wait until its end is on record."""
    async with asyncio.timeout(30):
        while (await home.world.panes.find_pane(pane)).gone_at is None:
            await asyncio.sleep(0.005)


async def test_a_spawned_program_is_closed(home):
    outcome = await do(home, Spawn(where="window", session="work", command=("sleep", "600")))
    pane = await home.pane(outcome.mux_pane)
    undone = await undo(home)
    assert (undone.status, undone.pane) == ("done", pane)
    await ended(home, pane)
    assert await refused(home, outcome.correlation) == "already_undone"


async def test_a_shell_is_closed_only_while_nothing_runs_in_it(home):
    _, beside = await home.bash()
    outcome = await do(home, Spawn(where="pane", beside=beside, command=("sh",)))
    pane = await home.pane(outcome.mux_pane)
    home.tmux.type_line(outcome.mux_pane, "sleep 600 &")
    await wait_until(lambda: "sleep 600" in home.screen(outcome.mux_pane))
    await wait_until(lambda: has_started(outcome.pid))
    assert await refused(home) == "other_programs"
    home.tmux.type_line(outcome.mux_pane, "kill %1; wait")
    await wait_until(lambda: not has_started(outcome.pid))
    assert (await undo(home)).status == "done"
    await ended(home, pane)


def has_started(pid: int) -> bool:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return bool(file.read().split())


async def test_another_program_in_the_spawned_pane_is_not_closed(home):
    outcome = await do(home, Spawn(where="window", session="work", command=("sleep", "600")))
    await home.pane(outcome.mux_pane)
    home.tmux("respawn-pane", "-k", "-t", outcome.mux_pane, "sleep 601")
    assert await refused(home) in ("stale_pid", "pane_gone")  # before and after the change is noticed
    assert home.tmux.read_format(outcome.mux_pane, "#{pane_dead}") == "0"


async def test_a_pane_that_has_ended_by_itself_needs_no_undo(home):
    outcome = await do(home, Spawn(where="window", session="work", command=("sleep", "600")))
    pane = await home.pane(outcome.mux_pane)
    home.tmux("kill-pane", "-t", outcome.mux_pane)
    await ended(home, pane)
    assert await refused(home) == "pane_gone"


async def test_a_reservation_is_released(home):
    _, pane = await home.bash()
    await do(home, Reserve(pane=pane, owner="ann", seconds=60), owner="ann")
    assert [one.owner for one in await home.store.reservations.list(home.world.clock.now())] == ["ann"]
    assert (await undo(home)).status == "done"
    assert await home.store.reservations.list(home.world.clock.now()) == []


async def test_an_extended_reservation_is_not_released(home):
    _, pane = await home.bash()
    for seconds in (60, 120):
        await do(home, Reserve(pane=pane, owner="ann", seconds=seconds), owner="ann")
    with pytest.raises(NotUndoable, match="extended a reservation"):
        await undo(home)


async def test_a_reservation_that_is_over_cannot_be_released(home):
    _, pane = await home.bash()
    await do(home, Reserve(pane=pane, owner="ann", seconds=60), owner="ann")
    (held,) = await home.store.reservations.list(home.world.clock.now())
    await home.store.reservations.release(held.id, home.world.clock.now())
    assert await refused(home) == "not_reserved"


async def test_a_text_that_waits_in_the_input_is_cleared(home):
    mux_id, pane = await home.bash()
    done = await home.send(pane, "echo not yet", enter=False)
    undone = await undo(home, done.correlation)
    assert (undone.status, undone.why) == ("done", "input_cleared")
    assert home.screen(mux_id).rstrip().endswith("$")
    assert (await home.send(pane, "true next")).status == "delivered"


async def test_an_input_changed_since_is_kept(home):
    mux_id, pane = await home.bash()
    await home.send(pane, "echo not yet", enter=False)
    home.tmux("send-keys", "-t", mux_id, "-l", " mine")
    await wait_until(lambda: home.screen(mux_id).rstrip().endswith("mine"))
    assert await refused(home) == "input_changed"
    assert home.screen(mux_id).rstrip().endswith("$ echo not yet mine")


async def test_a_text_submitted_by_hand_is_not_cleared(home):
    _, pane = await home.bash()
    done = await home.send(pane, "sleep 600", enter=False)
    home.tmux("send-keys", "-t", home.mux(pane), "Enter")
    await wait_until(lambda: home.activity(pane)[0] == "command")
    assert await refused(home, done.correlation) == "not_at_prompt"


async def test_a_delivered_text_cannot_be_undone(home):
    _, pane = await home.bash()
    await home.send(pane, "sleep 600")
    with pytest.raises(NotUndoable, match=r"send_text [0-9a-f]+ cannot be undone: the program has read the text"):
        await undo(home)
    await do(home, Kill(pane=pane))
    with pytest.raises(NotUndoable, match=r"kill [0-9a-f]+ cannot be undone"):
        await undo(home)
    await home.until_at_prompt(pane)
    await do(home, SendKeys(pane=pane, keys=("C-l",)))
    with pytest.raises(NotUndoable, match=r"send_keys [0-9a-f]+ cannot be undone"):
        await undo(home)


async def test_an_unexecuted_or_unknown_action_cannot_be_undone(home):
    _, pane = await home.bash()
    home.policy.answer = "deny"
    with pytest.raises(Exception, match="the test says so") as denied:
        await do(home, SetTitle(pane=pane, title="never"))
    with pytest.raises(NotUndoable, match="was not executed: denied"):
        await undo(home, denied.value.details["correlation"])
    with pytest.raises(BadRequest, match="action 'c0ffee' not found"):
        await undo(home, "c0ffee")


async def test_an_undo_is_checked_by_the_policy(home):
    mux_id, pane = await home.bash()
    done = await do(home, SetTitle(pane=pane, title="stays"))
    home.policy.answer = "deny"
    with pytest.raises(Exception, match="the test says so"):
        await undo(home, done.correlation)
    assert home.tmux.read_format(mux_id, "#{pane_title}") == "stays"
    home.policy.answer = "allow"
    assert (await undo(home, done.correlation)).status == "done"


async def test_a_reserved_pane_is_not_touched_by_an_undo_either(home):
    _, pane = await home.bash()
    done = await do(home, SetTitle(pane=pane, title="mine"))
    await do(home, Reserve(pane=pane, owner="ann", seconds=60), replace(ME, kind="robot"), owner="ann")
    with pytest.raises(Exception, match="reserved by ann"):
        await undo(home, done.correlation)


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


def test_a_title_is_restored_while_ours_is_set():
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
def test_a_pane_that_is_not_the_spawned_one_is_left_alone(other):
    with pytest.raises(StaleSnapshot) as told:
        build_inverse(done("spawn", {"mux_pane": "%2", "pid": 102}), [other])
    assert told.value.details["why"] == "pane_gone"


def test_a_reservation_is_released_also_when_its_pane_is_gone():
    found = build_inverse(done("reserve", {"reservation": 7, "is_longer": False}), [])
    assert found.action == Release(pane=1, reservation=7)


def test_only_a_text_that_waits_is_cleared():
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
