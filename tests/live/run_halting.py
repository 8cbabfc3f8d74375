"""The real daemon in which every run halts at a write of its journal; then the daemon kills itself.

`python -m tests.live.run_halting '{"after": [1], "before": [2]}'`: runs in pane 1 halt right after their first write of
this life, those in pane 2 right before their second. A run that halts does nothing more, as if the daemon had died in
that moment; it dies once no further run halts. So one life takes every run one write further.

`{"during": {"3": "written"}, "memory": "/path"}`: runs in pane 3 halt at that moment of each of their acts, once; the
file remembers which ones it was. `{"forgets": true}` is an engine that is broken on purpose: it does not know its own
acts again. `{"hasty": true}`: what does not come up is given up soon.
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

from termvisor.store.tables.workflow_runs import Runs
from termvisor.workflows.builtin import restart_crashed
from termvisor.workflows.steps import act as deeds
from termvisor.workflows.steps.act import Deeds
from tests.live.act_moments import ACTING, MOMENTS, Acting, Point

GRACE = 0.25
"""Seconds for other runs to come to their own write."""


class Halting:
    """``added``: the very beginning of runs is such a moment, too: `before` or `after` it."""

    def __init__(self, *, after: Sequence[int] = (), before: Sequence[int] = (), added: str = ""):
        self._after, self._before, self._added = after, before, added
        self._writes: Counter[int] = Counter()
        self._acting: set[int] = set()
        """Runs that are at something in their panes: a death in the midst of that is chosen, never an accident."""
        self._death: asyncio.TimerHandle | None = None
        self._put, self._add, self._act = Runs.put, Runs.add, Deeds.act

    def arm(self) -> None:
        async def put(runs: Runs, run: Any, step: Any) -> None:
            await self._written(runs, run, step)

        async def add(runs: Runs, run: Any, cursor: Any = None) -> Any:
            if self._added == "before":
                await self._halt()
            added = await self._add(runs, run, cursor)
            if self._added == "after":
                await self._halt()
            return added

        async def act(self_: Deeds, call: Any, going: Any) -> Any:
            self._acting.add(going.run.id)
            token = ACTING.set(Acting(going.run.pane, going.run.id, going.step.number))
            try:
                return await self._act(self_, call, going)
            finally:
                ACTING.reset(token)
                self._acting.discard(going.run.id)

        Runs.put, Runs.add, Deeds.act = put, add, act  # type: ignore[method-assign]

    def arm_acts(self, during: dict[str, str], memory: Path) -> None:
        for moment in set(during.values()):
            for point in MOMENTS[moment]:
                self._arm_act(point, _Acts(moment, during, memory))

    def _arm_act(self, point: Point, acts: "_Acts") -> None:
        kind = getattr(__import__(point.module, fromlist=[point.owner]), point.owner)
        real = getattr(kind, point.name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            is_it = not point.stage or any(entry.stage == point.stage for entry in args[1])
            if is_it and point.when == "before" and acts.is_due():
                await self._halt_act()
            answer = await real(*args, **kwargs)
            if is_it and point.when == "after" and acts.is_due():
                await self._halt_act()
            return answer

        setattr(kind, point.name, call)

    async def _halt_act(self) -> None:
        if (acting := ACTING.get()) is not None:
            self._acting.discard(acting.run)
        await self._halt()

    async def _written(self, runs: Runs, run: Any, step: Any) -> None:
        found = await runs.one(run)
        pane = None if found is None else found.pane
        self._writes[run] += 1
        if pane in self._before and self._writes[run] == 2:
            await self._halt()
        await self._put(runs, run, step)
        if pane in self._after and self._writes[run] == 1:
            await self._halt()

    async def _halt(self) -> None:
        self._die_soon()
        await asyncio.Event().wait()

    def _die_soon(self) -> None:
        if self._death is not None:
            self._death.cancel()
        self._death = asyncio.get_running_loop().call_later(GRACE, self._die)

    def _die(self) -> None:
        if self._acting:
            self._die_soon()
        else:
            os.kill(os.getpid(), signal.SIGKILL)


class _Acts(NamedTuple):
    """Each act halts once: one that is not on record yet is done again in the next life."""

    moment: str
    during: dict[str, str]
    memory: Path

    def is_due(self) -> bool:
        acting = ACTING.get()
        known = self.memory.read_text().splitlines() if self.memory.exists() else []
        if acting is None or self.during.get(str(acting.pane)) != self.moment or f"{acting}" in known:
            return False
        with self.memory.open("a") as file:
            file.write(f"{acting}\n")
        return True


def forget_acts() -> None:
    """The key of an act is another one in every life, so that what came of it is not found."""
    real = deeds.correlation_of
    deeds.correlation_of = lambda going: f"{real(going)}.{os.getpid()}"


def mind_only(panes: dict[str, str]) -> None:
    """An agent in one of these panes is in trouble soon, if it is in that state, and only once; others never are."""
    from termvisor.daemon.agents import failure_monitor as minding
    from termvisor.model.detection.detection import DetectionFilter

    look = minding.Minding.look

    async def look_there(self: Any, pane: Any, state: Any, since: Any) -> None:
        told = await self._store.detections.list(DetectionFilter(pane=pane, type="agent.*", limit=1))
        if panes.get(str(pane)) == state.value and not told:
            await look(self, pane, state, since)

    async def nobody_was(_self: Any, _pane: Any, _since: Any) -> bool:
        return False

    minding._EVERY, minding._UNHEARD = 0.3, 1.0
    minding.Minding._is_asked = nobody_was  # type: ignore[method-assign]
    minding.Minding.look = look_there  # type: ignore[method-assign]


if __name__ == "__main__":
    from termvisor.daemon import main as foreground

    plan = json.loads(sys.argv[1])
    mind_only(plan.pop("minds", {}))
    if plan.pop("forgets", False):
        forget_acts()
    if plan.pop("hasty", False):
        restart_crashed._COMES_WITHIN = 5.0
    memory, during = plan.pop("memory", ""), plan.pop("during", {})
    halting = Halting(**plan)
    if plan or during:
        halting.arm()
        halting.arm_acts(during, Path(memory))
    sys.exit(foreground.run())
