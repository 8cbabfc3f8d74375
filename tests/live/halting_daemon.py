"""Run the real daemon, halt every run at a write of its journal, then kill the daemon.

`python -m tests.live.halting_daemon '{"after": [1], "before": [2]}'`: runs in pane 1 halt right after their first write
in this daemon, those in pane 2 right before their second. A halted run does nothing more, as if the daemon had died at
that moment; the daemon kills itself once no further run halts. So each daemon takes every run one write further.

`{"during": {"3": "written"}, "memory": "/path"}`: runs in pane 3 halt once at that moment of each of their actions; the
file stores which actions have halted. `{"forgets": true}` breaks the engine on purpose: it does not recognize its own
actions after a restart. `{"hasty": true}` shortens the start timeout.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from termvisor.store.tables.workflow_runs import WorkflowRunTable
from termvisor.workflows.builtin import restart_crashed
from termvisor.workflows.steps import act as deeds
from termvisor.workflows.steps.act import ActionSteps
from tests.live.crash_points import CRASH_POINTS, CURRENT_ACTION, ActingRun, CrashPoint

HALT_GRACE_S = 0.25
"""Seconds for other runs to reach their own write."""


class HaltingDaemon:
    """Halts runs at journal writes; ``added`` also halts `before` or `after` a run is added."""

    def __init__(self, *, after: Sequence[int] = (), before: Sequence[int] = (), added: str = ""):
        self._halt_after_panes, self._halt_before_panes, self._halt_on_add = after, before, added
        self._writes: Counter[int] = Counter()
        self._acting_runs: set[int] = set()
        """Runs that are executing an action: a kill during an action must be planned."""
        self._kill_timer: asyncio.TimerHandle | None = None
        self._original_put, self._original_add, self._original_act = (
            WorkflowRunTable.save_step,
            WorkflowRunTable.add,
            ActionSteps.run_action,
        )

    def patch_journal(self) -> None:
        async def put(runs: WorkflowRunTable, run: Any, step: Any) -> None:
            await self._write_step(runs, run, step)

        async def add(runs: WorkflowRunTable, run: Any, cursor: Any = None) -> Any:
            if self._halt_on_add == "before":
                await self._halt()
            added = await self._original_add(runs, run, cursor)
            if self._halt_on_add == "after":
                await self._halt()
            return added

        async def act(self_: ActionSteps, call: Any, going: Any) -> Any:
            self._acting_runs.add(going.run.id)
            token = CURRENT_ACTION.set(ActingRun(going.run.pane, going.run.id, going.step.number))
            try:
                return await self._original_act(self_, call, going)
            finally:
                CURRENT_ACTION.reset(token)
                self._acting_runs.discard(going.run.id)

        WorkflowRunTable.save_step, WorkflowRunTable.add, ActionSteps.run_action = put, add, act  # type: ignore[method-assign]

    def patch_actions(self, during: dict[str, str], memory: Path) -> None:
        for moment in set(during.values()):
            for point in CRASH_POINTS[moment]:
                self._patch_action(point, _HaltedActions(moment, during, memory))

    def _patch_action(self, point: CrashPoint, halted_actions: "_HaltedActions") -> None:
        kind = getattr(__import__(point.module, fromlist=[point.owner]), point.owner)
        real = getattr(kind, point.name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            is_match = not point.stage or any(entry.stage == point.stage for entry in args[1])
            if is_match and point.when == "before" and halted_actions.is_due():
                await self._halt_action()
            answer = await real(*args, **kwargs)
            if is_match and point.when == "after" and halted_actions.is_due():
                await self._halt_action()
            return answer

        setattr(kind, point.name, call)

    async def _halt_action(self) -> None:
        if (acting := CURRENT_ACTION.get()) is not None:
            self._acting_runs.discard(acting.run)
        await self._halt()

    async def _write_step(self, runs: WorkflowRunTable, run: Any, step: Any) -> None:
        found = await runs.find(run)
        pane = None if found is None else found.pane
        self._writes[run] += 1
        if pane in self._halt_before_panes and self._writes[run] == 2:
            await self._halt()
        await self._original_put(runs, run, step)
        if pane in self._halt_after_panes and self._writes[run] == 1:
            await self._halt()

    async def _halt(self) -> None:
        self._schedule_kill()
        await asyncio.Event().wait()

    def _schedule_kill(self) -> None:
        if self._kill_timer is not None:
            self._kill_timer.cancel()
        self._kill_timer = asyncio.get_running_loop().call_later(HALT_GRACE_S, self._kill)

    def _kill(self) -> None:
        if self._acting_runs:
            self._schedule_kill()
        else:
            os.kill(os.getpid(), signal.SIGKILL)


class _HaltedActions(NamedTuple):
    """Halt each action once: an action that is not stored yet is repeated by the next daemon."""

    moment: str
    during: dict[str, str]
    memory_file: Path

    def is_due(self) -> bool:
        acting = CURRENT_ACTION.get()
        known = self.memory_file.read_text().splitlines() if self.memory_file.exists() else []
        if acting is None or self.during.get(str(acting.pane)) != self.moment or f"{acting}" in known:
            return False
        with self.memory_file.open("a") as file:
            file.write(f"{acting}\n")
        return True


def forget_action_keys() -> None:
    """Use a different action key in every daemon, so that earlier outcomes are not found."""
    real = deeds.build_correlation
    deeds.build_correlation = lambda going: f"{real(going)}.{os.getpid()}"


def limit_failure_monitor(panes: dict[str, str]) -> None:
    """Report agents in these panes as failing soon and once, if they are in that state; never report others."""
    from termvisor.daemon.agents import failure_monitor
    from termvisor.model.detection.detection import DetectionFilter

    check_agent = failure_monitor.FailureMonitor.check_agent

    async def check_listed_panes(self: Any, pane: Any, state: Any, since: Any) -> None:
        detections = await self._store.detections.list(DetectionFilter(pane=pane, type="agent.*", limit=1))
        if panes.get(str(pane)) == state.value and not detections:
            await check_agent(self, pane, state, since)

    async def has_no_request(_self: Any, _pane: Any, _since: Any) -> bool:
        return False

    failure_monitor._CHECK_INTERVAL_S, failure_monitor._UNANSWERED_AFTER_S = 0.3, 1.0
    failure_monitor.FailureMonitor._has_approval_request = has_no_request  # type: ignore[method-assign]
    failure_monitor.FailureMonitor.check_agent = check_listed_panes  # type: ignore[method-assign]


if __name__ == "__main__":
    from termvisor.daemon import main

    plan = json.loads(sys.argv[1])
    limit_failure_monitor(plan.pop("minds", {}))
    if plan.pop("forgets", False):
        forget_action_keys()
    if plan.pop("hasty", False):
        restart_crashed._START_TIMEOUT_S = 5.0
    memory, during = plan.pop("memory", ""), plan.pop("during", {})
    halting = HaltingDaemon(**plan)
    if plan or during:
        halting.patch_journal()
        halting.patch_actions(during, Path(memory))
    sys.exit(main.run())
