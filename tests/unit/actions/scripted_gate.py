"""A gate with a scripted policy on a pane, a multiplexer and a clock that a test controls."""

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.gate import Gate
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.store import Store
from termvisor.testing.memory_store import open_memory_store
from tests.property.faulty_pane import FaultyPane
from tests.unit.actions.gate_scene import ME, ScriptedPolicy


class GateOnScriptedPane:
    def __init__(self, screen: str = "", policy: object = None):
        self.pane, self.policy = FaultyPane(screen), policy or ScriptedPolicy()
        self.store: Store = open_memory_store(self.pane)
        self.approvals = ApprovalQueue(self.store, self.pane)
        self.gate = Gate(
            store=self.store,
            panes=self.pane,
            policy=self.policy,
            approvals=self.approvals,
            executor=ActionExecutor(self.pane, self.pane),
            clock=self.pane,
            hash_key=b"0123456789abcdef",
        )

    async def run(self, action: Action, actor: Actor = ME, **preconditions: object) -> Outcome:
        await self.store.panes.find_or_add(self.pane.view.instance, self.pane.view.facts, at=1)
        return await self.gate.run(action, actor, Preconditions(correlation="c", **preconditions))

    async def list_stages(self) -> list[tuple[str, str, str]]:
        return [(entry.stage, entry.outcome, entry.why) for entry in await self.store.audit.list()]
