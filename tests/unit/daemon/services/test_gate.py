"""The gate of one caller, with real panes."""

import os

import pytest
from msgspec.structs import replace

from termvisor.errors import Conflict, NeedsApproval
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.approval import PermitGrant
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import open_gate_scene

ROBOT = Actor(kind="robot", uid=1000, pid=1)


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_a_robot_request_is_approved_executed_and_logged(scene):
    mux_id, pane = await scene.start_bash()
    robot, person = (
        scene.services.bind_caller(actor).gate for actor in (ROBOT, Actor(kind="human", uid=1000, pid=2**22 + 5))
    )
    action = SendText(pane=pane, text="true by-a-robot")
    preview = await robot.preview(action, Preconditions())
    assert (preview.verdict.answer, preview.refused) == ("ask", "")
    with pytest.raises(NeedsApproval) as asked:
        await robot.run(action, Preconditions())
    (question,) = await person.approvals.list()
    assert question.id == asked.value.details["question"] and question.shown["text"] == "true by-a-robot"
    await person.approvals.answer(question.id, "allow", PermitGrant())
    assert (await robot.run(action, Preconditions())).status == "delivered"
    assert "true by-a-robot" in scene.capture_screen(mux_id)
    stages = [(one.stage, one.actor.kind) for one in await person.audit.list(filters=AuditFilter(pane=pane))]
    assert stages == [("asked", "robot"), ("answered", "human"), ("intent", "robot"), ("outcome", "robot")]
    assert await person.audit.verify() is None
    (permit,) = await person.approvals.list_permits()
    assert await person.approvals.revoke_permit(permit.id) and await person.approvals.list_permits() == ()


@pytest.mark.parametrize(
    ("text", "is_covered"),
    [
        ("echo further", True),
        ("sudo echo further", False),
        ("echo x && rm -rf build", False),
        ("make further", False),
        ("echo further > /tmp/out", False),
    ],
)
async def test_a_session_grant_covers_what_was_shown_and_no_more(scene, text: str, is_covered: bool) -> None:
    _, pane = await scene.start_bash()
    robot, person = (
        scene.services.bind_caller(actor).gate for actor in (ROBOT, Actor(kind="human", uid=1000, pid=2**22 + 5))
    )
    with pytest.raises(NeedsApproval) as asked:
        await robot.run(SendText(pane=pane, text="echo first"), Preconditions())
    await person.approvals.answer(asked.value.details["question"], "allow", PermitGrant())
    (permit,) = await person.approvals.list_permits()
    assert permit.scope.capabilities == ("run echo",)
    if is_covered:
        assert (await robot.run(SendText(pane=pane, text=text), Preconditions())).status == "delivered"
    else:
        with pytest.raises(NeedsApproval):
            await robot.run(SendText(pane=pane, text=text), Preconditions())


async def test_services_bound_again_act_for_the_new_caller_only(scene):
    first = scene.services.bind_caller(Actor(kind="human", uid=1000, pid=2**22 + 5))
    assert first.gate.actor.kind == "human"
    second = first.bind_caller(ROBOT)
    assert (second.gate.actor.kind, first.gate.actor.kind) == ("robot", "human")


async def test_a_reserved_pane_is_usable_by_its_owner_only(scene):
    _, pane = await scene.start_bash()
    gate = scene.services.bind_caller(replace(ROBOT, kind="human")).gate
    held = await gate.reservations.reserve(pane, "ann", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await gate.reservations.reserve(pane, "bob", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await gate.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))
    assert [one.owner for one in await gate.reservations.list()] == ["ann"]
    assert await gate.reservations.release(held.id)
    assert (await gate.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))).status == "delivered"


async def test_a_caller_is_identified_by_its_terminal(scene):
    _, pane = await scene.start_bash()
    facts = next(view.facts for view in await scene.services.panes.list_panes() if view.id == pane)
    assert scene.services.bind_caller(Actor(kind="human", uid=1000, pid=facts.pid)).gate.actor.pane == pane


async def test_without_a_file_the_default_policy_applies(scene):
    policy, problem = scene.services.bind_caller(ROBOT).gate.audit.load_policy()
    assert policy is not None and problem == ""


async def test_a_hook_that_always_changes_the_action_is_satisfied_and_the_request_is_on_record(scene) -> None:
    _, pane = await scene.start_bash()
    hook = f"{scene.places.config_dir}/hook"
    with open(hook, "w") as file:
        reply = f'{{"decision":"modify","action":{{"type":"send_text","pane":{pane},"text":"true changed"}}}}'
        file.write(f"#!/bin/sh\necho '{reply}'\n")
    os.chmod(hook, 0o700)
    with open(scene.places.policy_file, "w") as file:
        file.write(f'[[hook]]\nid = "h"\nprogram = ["{hook}"]\nkinds = ["send_text"]\n')
    gate = scene.services.bind_caller(replace(ROBOT, kind="human")).gate
    assert (await gate.run(SendText(pane=pane, text="true asked"), Preconditions())).status == "delivered"
    entries = await gate.audit.list(filters=AuditFilter(kind="send_text"))
    assert [(entry.stage, entry.action["text"]) for entry in entries] == [
        ("judged", "true asked"),
        ("intent", "true changed"),
        ("outcome", "true changed"),
    ]
    assert entries[0].outcome == "modified" and len({entry.correlation for entry in entries}) == 1


async def test_what_a_client_says_about_its_call_begins_the_correlation(scene) -> None:
    _, pane = await scene.start_bash()
    gate = scene.services.bind_caller(Actor(kind="mcp", uid=1000, pid=1, face="mcp"), "mcp:toolu_1").gate
    for _ in range(2):
        with pytest.raises(NeedsApproval):
            await gate.run(SendText(pane=pane, text="true by-a-model"), Preconditions())
    entries = await gate.audit.list(filters=AuditFilter(cause="mcp:toolu_1"))
    # A client may repeat its ids, so each action has a correlation of its own.
    assert len({entry.correlation for entry in entries}) == 2
    assert await gate.audit.list(filters=AuditFilter(cause="mcp:toolu")) == []
