"""The gate beside a multiplexer that fails, a client that leaves and a clock that jumps, at any call.

Law: one outcome on record, and a true one; nothing is typed twice; only our own errors are raised.
"""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.gate import Gate
from termvisor.errors import VisorError
from termvisor.model.action.action import (
    Action,
    Activate,
    AnswerDialog,
    Interrupt,
    Kill,
    QuitAgent,
    SendKeys,
    SendText,
    SetTitle,
    Spawn,
)
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.store import Store
from termvisor.testing.memory_store import open_memory_store
from tests.property.faulty_pane import FAULTS, FaultyPane
from tests.unit.actions.gate_scene import ME, ScriptedPolicy

PANE, TEXT = PaneId(1), "make one thing"
SCENES: dict[str, tuple[str, Action]] = {
    "send": ("", SendText(pane=PANE, text=TEXT)),
    "type": ("", SendText(pane=PANE, text=TEXT, enter=False)),
    "prompt": ("idle", SendText(pane=PANE, text=TEXT)),
    "keys": ("", SendKeys(pane=PANE, keys=("C-l",))),
    "answer": ("dialog", AnswerDialog(pane=PANE, agent="codex", choice="allow")),
    "interrupt": ("working", Interrupt(pane=PANE, agent="codex")),
    "quit": ("idle", QuitAgent(pane=PANE, agent="codex")),
    "kill": ("", Kill(pane=PANE)),
    "close": ("", Kill(pane=PANE, closes_pane=True)),
    "title": ("", SetTitle(pane=PANE, title="new")),
    "activate": ("", Activate(pane=PANE)),
    "spawn": ("", Spawn(where="window", command=("sleep", "9"))),
}


async def run_gate(pane: FaultyPane, store: Store, action: Action) -> Outcome | BaseException:
    gate = Gate(
        store=store,
        panes=pane,
        policy=ScriptedPolicy(),
        approvals=ApprovalQueue(store, pane),
        executor=ActionExecutor(pane, pane),
        clock=pane,
        hash_key=b"0123456789abcdef",
    )
    try:
        return await gate.run(action, ME, Preconditions(key="k"))
    except (VisorError, asyncio.CancelledError) as error:
        return error


async def check_law(pane: FaultyPane, store: Store, result: Outcome | BaseException) -> None:
    entries = await store.audit.list()
    intents, outcomes = ([entry for entry in entries if entry.stage == stage] for stage in ("intent", "outcome"))
    has_acted = bool(pane.typed or pane.submitted or pane.pressed or pane.effects)
    assert len(intents) <= 1 and len(outcomes) <= 1
    assert len(outcomes) == 1 or not intents, "what was begun has an outcome"
    assert intents or not has_acted, "what was done was announced"
    assert await store.deliveries.list_open() == []
    assert await store.audit.verify() is None
    assert len(pane.typed) <= 1 and len(pane.submitted) <= 1 and len(pane.decided) <= 1 and len(pane.effects) <= 1
    if isinstance(result, Outcome):
        assert [(entry.outcome, entry.why, entry.correlation) for entry in outcomes] == [
            (result.status, result.why, result.correlation)
        ]
    check_truth(pane, outcomes[0].outcome if outcomes else "refused")


def check_truth(pane: FaultyPane, status: str) -> None:
    assert status != "delivered" or pane.submitted == [TEXT]
    assert status != "typed_not_submitted" or (pane.typed == [TEXT] and pane.submitted == [])
    assert status not in ("refused", "denied") or not (pane.typed or pane.submitted or pane.pressed or pane.effects)
    assert status != "done" or pane.pressed or pane.effects


async def check_repetition(pane: FaultyPane, store: Store, action: Action, first: Outcome | BaseException) -> None:
    """Repeat a delivery with its key on a pane that works again: nothing is typed if anything was typed before."""
    before = (list(pane.typed), list(pane.submitted))
    pane.faults.clear()
    again = await run_gate(pane, store, action)
    assert not before[0] or (pane.typed, pane.submitted) == before
    if isinstance(first, Outcome) and isinstance(again, Outcome):
        assert (again.is_repeated, again.status, again.why, again.correlation) == (
            True, first.status, first.why, first.correlation,
        )  # fmt: skip


async def run_scene(name: str, faults: dict[int, str]) -> FaultyPane:
    screen, action = SCENES[name]
    pane = FaultyPane(screen, faults)
    store = open_memory_store(pane)
    await store.panes.find_or_add(pane.view.instance, pane.view.facts, at=1)
    result = await run_gate(pane, store, action)
    await check_law(pane, store, result)
    if isinstance(action, SendText):
        await check_repetition(pane, store, action, result)
    return pane


@pytest.mark.parametrize("name", SCENES)
async def test_one_fault_at_any_call_leaves_one_true_outcome(name: str) -> None:
    pane = await run_scene(name, {})
    assert pane.typed or pane.pressed or pane.effects, "without a fault the action is executed"
    for fault in FAULTS:
        for call in range(1, min(pane.calls, 36) + 1):
            await run_scene(name, {call: fault})


@given(
    st.sampled_from(list(SCENES)),
    st.dictionaries(st.integers(1, 40), st.sampled_from(FAULTS), min_size=2, max_size=4).filter(
        lambda faults: list(faults.values()).count("cancelled") <= 1
    ),
)
def test_several_faults_leave_one_true_outcome(name: str, faults: dict[int, str]) -> None:
    asyncio.run(run_scene(name, faults))
