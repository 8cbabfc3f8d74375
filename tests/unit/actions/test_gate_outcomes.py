"""The gate with a scripted pane: whole outcomes, and what it refuses before it acts."""

import asyncio
import os

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.actions.attempt import hash_action
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.policy_check import PolicyChecker, PolicyFile
from termvisor.errors import NeedsApproval, NotFound, Refused, StaleSnapshot, StateConflict, Unsupported, VisorError
from termvisor.model.action.action import (
    Activate,
    AnswerDialog,
    AskPerson,
    Attach,
    ExportUnredacted,
    Interrupt,
    Kill,
    Notify,
    PruneData,
    QuitAgent,
    RunWorkflow,
    SendKeys,
    SendText,
    SetTitle,
    Spawn,
    WriteConfig,
    WriteFile,
)
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.action.preconditions import Preconditions, UndoPrecondition
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.policy.path_rules import PathScope
from tests.property.faulty_pane import NOON
from tests.unit.actions.gate_scene import ME, ScriptedPolicy
from tests.unit.actions.scripted_gate import GateOnScriptedPane

PANE = PaneId(1)
SEND = SendText(pane=PANE, text="make test")


@pytest.mark.parametrize(
    ("screen", "action", "expected"),
    [
        ("", SEND, Outcome(status="delivered", why="command_started", key="c", bytes_sent=9, lines=0)),
        (
            "idle",
            SEND,
            Outcome(status="delivered", why="in_conversation", key="c", bytes_sent=9, lines=0, channel="keys"),
        ),
        (
            "dialog",
            AnswerDialog(pane=PANE, agent="codex", choice="allow"),
            Outcome(status="done", why="dialog_left", channel="keys"),
        ),
        ("working", Interrupt(pane=PANE, agent="codex"), Outcome(status="done", why="interrupted", channel="keys")),
        ("idle", QuitAgent(pane=PANE, agent="codex"), Outcome(status="done", why="left", channel="keys")),
        (
            "",
            SetTitle(pane=PANE, title="new"),
            Outcome(status="done", former={"former_title": "former", "title": "new"}),
        ),
    ],
)
async def test_an_outcome_is_complete(screen, action, expected):
    scene = GateOnScriptedPane(screen)
    outcome = await scene.run(action)
    assert replace(outcome, sent_at=0) == replace(expected, pane=PANE, correlation="c")
    assert (outcome.sent_at > NOON * 10**9) == isinstance(action, SendText)
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", expected.status, expected.why)]


@pytest.mark.parametrize(
    ("screen", "action", "why", "text"),
    [
        ("dialog", AnswerDialog(pane=PANE, agent="codex", choice="allow"), "still_shown", "the dialog is still shown"),
        ("working", Interrupt(pane=PANE, agent="codex"), "still_at_work", "the agent did not stop within 5 s"),
        ("idle", QuitAgent(pane=PANE, agent="codex"), "still_there", "the agent did not exit within 10 s"),
    ],
)
async def test_an_agent_that_ignores_its_keys_is_reported(screen, action, why, text):
    scene = GateOnScriptedPane(screen)
    scene.pane._react = lambda keys: None
    expected = Outcome(status="unknown", why=why, text=text, pane=PANE, channel="keys", correlation="c")
    assert await scene.run(action) == expected
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", "unknown", why)]


async def test_hooks_that_keep_changing_the_action_are_refused():
    class RestlessPolicy(ScriptedPolicy):
        async def check(self, action, actor, snapshot):
            return replace(await self.preview(action, actor, snapshot), action=replace(action, text=action.text + "!"))

    scene = GateOnScriptedPane(policy=RestlessPolicy())
    with pytest.raises(Refused, match="keep changing") as refused:
        await scene.run(SEND)
    assert (refused.value.details["outcome"], scene.pane.typed) == ("denied", [])


async def test_a_changed_action_is_executed_instead_of_the_requested_one():
    class ChangingPolicy(ScriptedPolicy):
        async def check(self, action, actor, snapshot):
            return replace(await self.preview(action, actor, snapshot), action=replace(action, text="make check"))

    scene = GateOnScriptedPane(policy=ChangingPolicy())
    assert (await scene.run(SEND)).status == "delivered"
    assert scene.pane.submitted == ["make check"]


async def test_a_caller_that_asks_for_approval_gets_it_unless_the_policy_denies():
    scene = GateOnScriptedPane()
    with pytest.raises(NeedsApproval) as asked:
        await scene.run(SEND, asks=True)
    assert (await scene.store.approvals.find(asked.value.details["question"])).reasons[-1].id == "asked_for"
    scene.policy.answer = "deny"
    with pytest.raises(Refused, match="the policy denies this: the test says so") as denied:
        await scene.run(SEND, asks=True)
    assert denied.value.details == {
        "outcome": "denied",
        "correlation": "c",
        "reasons": ["rule test: deny", "default asked_for: ask"],
        "retry_at": None,
    }
    assert scene.pane.typed == []


async def test_an_after_hook_is_told_the_outcome_of_every_kind_of_action(tmp_path):
    hook, told = tmp_path / "hook", tmp_path / "told"
    hook.write_text(f"#!/bin/sh\ncat >> {told}; echo >> {told}\n")
    os.chmod(hook, 0o700)
    path = tmp_path / "policy.toml"
    path.write_text(f'[[hook]]\nid = "h"\nprogram = ["{hook}"]\nruns = "after"\n')
    scene = GateOnScriptedPane()
    scene.gate._policy = scene.gate._delivery._policy = PolicyChecker(PolicyFile(str(path)), PathScope(), scene.pane)
    await scene.run(SEND)
    await scene.run(SetTitle(pane=PANE, title="new"))
    calls = [msgspec.json.decode(line) for line in told.read_bytes().splitlines()]
    assert [(call["stage"], call["kind"], call["outcome"], call["why"]) for call in calls] == [
        ("after", "send_text", "delivered", "command_started"),
        ("after", "set_title", "done", ""),
    ]
    assert [(call["actor"]["kind"], call["place"]["session"]) for call in calls] == [("human", "work")] * 2


async def test_a_delivery_whose_pane_is_gone_is_recovered_as_unknown():
    scene = GateOnScriptedPane()
    await scene.run(SEND)
    (intent, _) = await scene.store.audit.list()
    for number, key in enumerate(("first", "second")):
        lost = DeliveryRecord(key=key, correlation=key, pane=PANE, action_hash="", begun_at=number, step="submitting")
        await scene.store.deliveries.begin(lost, replace(intent, id=0, correlation=key, stage="intent"))
    scene.pane.is_gone = True
    await scene.gate.recover(await scene.store.deliveries.list_open())
    for key in ("first", "second"):
        recovered = await scene.store.deliveries.find_by_key(key)
        assert (recovered.status, recovered.why) == ("unknown", "interrupted")
    entries = [(entry.stage, entry.correlation, entry.outcome) for entry in (await scene.store.audit.list())[-2:]]
    assert entries == [("outcome", "first", "unknown"), ("outcome", "second", "unknown")]


async def test_a_pane_that_closes_after_its_snapshot_is_refused_and_logged():
    scene = GateOnScriptedPane()
    real = scene.store.deliveries.begin

    async def begin(*args):
        scene.pane.is_gone = True
        return await real(*args)

    scene.store.deliveries.begin = begin
    with pytest.raises(StaleSnapshot) as refused:
        await scene.run(SEND)
    assert refused.value.details["why"] == "pane_gone"
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", "refused", "pane_gone")]
    with pytest.raises(NotFound):
        await scene.run(SEND, key="other")


@pytest.mark.parametrize(
    ("action", "expected", "effects"),
    [
        (
            Kill(pane=PANE, signal="TERM"),
            Outcome(status="done", pane=PANE, pid=1000, text="SIGTERM was sent"),
            ["TERM"],
        ),
        (Kill(pane=PANE, closes_pane=True), Outcome(status="done", pane=PANE), ["close"]),
        (Activate(pane=PANE), Outcome(status="done", pane=PANE, former={"former_front": "%1"}), ["activate"]),
        (Attach(pane=PANE), Outcome(status="done", pane=PANE), []),
        (AskPerson(question="Go?", request="r", pane=PANE), Outcome(status="done", pane=PANE), []),
        (RunWorkflow(workflow="w", pane=PANE), Outcome(status="done", pane=PANE), []),
        (SendKeys(pane=PANE, keys=("C-l",)), Outcome(status="done", pane=PANE), []),
        (
            Spawn(where="window", command=("sleep", "9")),
            Outcome(status="done", mux_pane="%2", pid=2000, former={"mux_pane": "%2", "pid": 2000}),
            ["open"],
        ),
    ],
)
async def test_the_outcome_of_a_change_says_what_was_changed(action, expected, effects):
    scene = GateOnScriptedPane()
    assert await scene.run(action) == replace(expected, correlation="c")
    assert scene.pane.effects == effects
    (_, outcome) = await scene.store.audit.list()
    assert expected.former.items() <= outcome.observed.items()


@pytest.mark.parametrize("title", ["x" * 501, "token ghp_" + "a1B2c3D4" * 4 + "e5F6"])
async def test_a_title_that_may_not_be_stored_is_not_logged(title):
    scene = GateOnScriptedPane()
    assert (await scene.run(SetTitle(pane=PANE, title=title))).former == {"former_title": "former"}


async def test_an_action_on_another_program_is_refused_with_what_was_found():
    scene = GateOnScriptedPane()
    real = scene.pane.press

    async def press(*args):
        scene.pane.is_replaced = True
        return await real(*args)

    scene.pane.press = press
    with pytest.raises(StaleSnapshot) as refused:
        await scene.run(SendKeys(pane=PANE, keys=("C-l",)))
    assert (refused.value.details["why"], scene.pane.pressed) == ("stale_command", [])
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", "failed", "stale_snapshot")]


async def test_a_new_window_is_opened_in_the_session_of_its_pane():
    scene, opened = GateOnScriptedPane(), []
    real = scene.pane.open_pane

    async def open_pane(spawn, beside):
        opened.append((spawn.session, beside))
        return await real(spawn, beside)

    scene.pane.open_pane = open_pane
    for spawn in (
        Spawn(where="window", beside=PANE),
        Spawn(where="window", beside=PANE, session="named"),
        Spawn(where="pane", beside=PANE),
        Spawn(where="window", session="alone"),
    ):
        await scene.run(spawn)
    assert opened == [("$1", "%1"), ("named", "%1"), ("", "%1"), ("alone", None)]
    with pytest.raises(NotFound, match="account 'openai/x' not found"):
        await scene.run(Spawn(where="window", account="openai/x"))


async def test_the_audit_log_shows_the_pane_that_was_seen():
    scene = GateOnScriptedPane()
    await scene.run(SEND, force_stale=True)
    (intent, outcome) = await scene.store.audit.list()
    assert intent.observed == {
        "pid": 1000,
        "command": "bash",
        "alternate": False,
        "activity": "prompt",
        "is_proven": True,
        "observed_at": int(NOON * 10**9),
        "force_stale": True,
    }
    assert intent.place == outcome.place == "pane 1 (local/work:1.0 %1, pid 1000, bash)"
    assert (intent.actor, intent.pane, intent.kind, intent.action_hash) == (ME, PANE, "send_text", outcome.action_hash)


async def test_an_action_without_an_executor_fails_on_record():
    scene = GateOnScriptedPane()
    with pytest.raises(VisorError) as failed:
        await scene.run(Notify(title="a", text="b"))
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", "failed", failed.value.code)]


async def test_an_agent_that_left_for_its_shell_gets_no_keys():
    scene = GateOnScriptedPane("dialog")
    snapshot = await scene.pane.take_snapshot(PANE, Preconditions())
    at_prompt = replace(snapshot, view=replace(snapshot.view, activity=PaneActivity(kind="prompt")))
    with pytest.raises(StaleSnapshot) as refused:
        await ActionExecutor(scene.pane, scene.pane).execute(
            AnswerDialog(pane=PANE, agent="codex", choice="allow"), at_prompt
        )
    assert (refused.value.details["why"], scene.pane.pressed) == ("no_agent", [])


async def test_a_typed_text_is_cleared_only_by_the_undo_of_its_own_delivery():
    scene = GateOnScriptedPane()
    clear = SendKeys(pane=PANE, keys=("C-u",))
    await scene.run(replace(SEND, enter=False))
    with pytest.raises(StaleSnapshot) as refused:
        await scene.run(clear, undoes=UndoPrecondition(correlation="other", is_typed=True))
    assert (refused.value.details["why"], scene.pane.pressed) == ("input_changed", [])
    outcome = await scene.run(clear, undoes=UndoPrecondition(correlation="c", is_typed=True))
    assert (outcome.status, outcome.why, scene.pane.pressed) == ("done", "input_cleared", ["C-u"])
    with pytest.raises(StaleSnapshot) as refused:
        await scene.run(clear, undoes=UndoPrecondition(correlation="c", is_typed=True))
    assert refused.value.details["why"] in ("already_undone", "input_changed")


async def test_a_key_belongs_to_texts_only():
    scene = GateOnScriptedPane()
    await scene.run(SEND, key="k")
    keys = await scene.run(SendKeys(pane=PANE, keys=("C-l",)), key="k")
    assert (keys.status, keys.is_repeated, scene.pane.pressed) == ("done", False, ["Enter", "C-l"])


async def test_an_action_on_a_pane_needs_its_snapshot():
    scene = GateOnScriptedPane()
    with pytest.raises(NotFound, match="send_keys needs a pane"):
        await ActionExecutor(scene.pane, scene.pane).execute(SendKeys(pane=PANE, keys=("C-l",)), None)


async def test_only_notifications_go_to_the_notifier():
    scene, told = GateOnScriptedPane(), []

    class Recorder:
        async def send_notification(self, action, correlation):
            told.append((action, correlation))
            return Outcome(status="suppressed", why="looking")

    scene.gate._executor = ActionExecutor(scene.pane, scene.pane, Recorder())
    assert (await scene.run(SendKeys(pane=PANE, keys=("C-l",)))).status == "done"
    assert told == []
    assert (await scene.run(Notify(title="a", text="b"))).why == "looking"
    assert told == [(Notify(title="a", text="b"), "c")]


@pytest.mark.parametrize(
    "action",
    [
        WriteFile(path="/tmp/x"),
        WriteConfig(change="reload"),
        PruneData(),
        ExportUnredacted(reference="1"),
    ],
)
async def test_an_action_that_its_caller_executes_is_done_once_it_is_allowed(action):
    assert await GateOnScriptedPane().run(action) == Outcome(status="done", correlation="c")


async def test_a_pane_is_changed_with_exactly_what_was_requested():
    scene, changes = GateOnScriptedPane(), []
    real = scene.pane.change_pane

    async def change_pane(guard, change, value=""):
        changes.append((change, value, guard.command, guard.alternate, guard.takes_input))
        return await real(guard, change, value)

    scene.pane.change_pane = change_pane
    for action in (Activate(pane=PANE), SetTitle(pane=PANE, title="new"), Kill(pane=PANE, closes_pane=True)):
        await scene.run(action)
    assert changes == [(*change, None, None, False) for change in (("activate", ""), ("title", "new"), ("close", ""))]


@pytest.mark.parametrize(("length", "is_logged"), [(500, True), (501, False)])
async def test_a_title_of_up_to_500_characters_is_logged(length, is_logged):
    former = (await GateOnScriptedPane().run(SetTitle(pane=PANE, title="x" * length))).former
    assert ("title" in former) == is_logged


async def test_the_requested_action_is_on_record_before_the_one_of_the_hook():
    class ChangingPolicy(ScriptedPolicy):
        async def check(self, action, actor, snapshot):
            return replace(await self.preview(action, actor, snapshot), action=replace(action, text="make check"))

    scene = GateOnScriptedPane(policy=ChangingPolicy())
    await scene.run(SEND)
    assert await scene.list_stages() == [
        ("judged", "modified", "hook"),
        ("intent", "", ""),
        ("outcome", "delivered", "command_started"),
    ]
    assert [entry.action["text"] for entry in await scene.store.audit.list()] == ["make test", *["make check"] * 2]


async def test_of_two_calls_with_one_key_only_the_first_types():
    scene = GateOnScriptedPane()
    first, second = await asyncio.gather(scene.run(SEND, key="k"), scene.run(SEND, key="k"))
    assert (first.is_repeated, second.is_repeated, scene.pane.typed) == (False, True, ["make test"])
    assert (second.status, second.why, second.correlation, second.key, second.pane, second.sent_at) == (
        "delivered", "command_started", "c", "k", PANE, int(NOON * 10**9),
    )  # fmt: skip


async def test_a_call_with_the_key_of_one_under_way_is_unknown():
    scene = GateOnScriptedPane()
    begun = DeliveryRecord(
        key="k", correlation="c", pane=PANE, action_hash=hash_action(SEND, scene.pane.view), begun_at=7
    )
    await scene.store.panes.find_or_add(scene.pane.view.instance, scene.pane.view.facts, at=1)
    await scene.store.deliveries.begin(
        begun, AuditEntry(at=1, correlation="c", stage="intent", kind="send_text", actor=ME)
    )
    expected = Outcome(
        status="unknown", why="under_way", correlation="c", key="k", pane=PANE, sent_at=7, is_repeated=True
    )
    assert await scene.run(SEND, key="k") == expected
    with pytest.raises(StateConflict, match="the key 'k' was already used for another action"):
        await scene.run(replace(SEND, text="other"), key="k")
    assert scene.pane.typed == []


async def test_a_notification_that_needs_approval_is_dropped():
    scene = GateOnScriptedPane()
    scene.policy.answer = "ask"
    expected = Outcome(status="suppressed", why="policy_asks", text="the test says so", correlation="c")
    assert await scene.run(Notify(title="a", text="b")) == expected
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", "suppressed", "policy_asks")]
    with pytest.raises(NeedsApproval):
        await scene.run(SendKeys(pane=PANE, keys=("C-l",)))


async def test_an_action_that_nothing_executes_is_not_supported():
    scene = GateOnScriptedPane()
    snapshot = await scene.pane.take_snapshot(PANE, Preconditions())
    with pytest.raises(Unsupported, match="notify is not supported here"):
        await ActionExecutor(scene.pane, scene.pane).execute(Notify(title="a", text="b", pane=PANE), snapshot)


async def test_an_agent_whose_composer_is_gone_after_enter_is_not_confirmed():
    scene = GateOnScriptedPane("idle")
    real = scene.pane._react

    def react(keys):
        real(keys)
        scene.pane.screen = "dialog"

    scene.pane._react = react
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why, scene.pane.submitted) == ("unknown", "not_confirmed", ["make test"])


async def test_an_action_is_undone_once():
    scene = GateOnScriptedPane()
    undo, undoes = SetTitle(pane=PANE, title="former"), UndoPrecondition(correlation="first")
    assert (await scene.run(undo, undoes=undoes)).status == "done"
    with pytest.raises(StaleSnapshot, match="it was already undone") as refused:
        await scene.run(undo, undoes=undoes)
    assert (refused.value.details["why"], scene.pane.effects) == ("already_undone", ["title"])
