"""The real daemon in which every run halts at a write of its journal; then the daemon kills itself.

`python -m tests.live.run_halting '{"after": [1], "before": [2]}'`: runs in pane 1 halt right after their first write of
this life, those in pane 2 right before their second. A run that halts does nothing more, as if the daemon had died in
that moment; it dies once no further run halts. So one life takes every run one write further.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from termvisor.store.runs import Runs
from termvisor.workflow.deeds import Deeds

GRACE = 0.25
"""Seconds for other runs to come to their own write."""


class Halting:
    """``added``: the very beginning of runs is such a moment, too: `before` or `after` it."""

    def __init__(self, *, after: Sequence[int] = (), before: Sequence[int] = (), added: str = ""):
        self._after, self._before, self._added = after, before, added
        self._writes: Counter[int] = Counter()
        self._acting: set[int] = set()
        """Runs that are at something in their panes; a death in the midst of that is another test's."""
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

        async def act(deeds: Deeds, call: Any, going: Any) -> Any:
            self._acting.add(going.run.id)
            try:
                return await self._act(deeds, call, going)
            finally:
                self._acting.discard(going.run.id)

        Runs.put, Runs.add, Deeds.act = put, add, act  # type: ignore[method-assign]

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


def mind_only(panes: dict[str, str]) -> None:
    """An agent in one of these panes is in trouble soon, if it is in that state, and only once; others never are."""
    from termvisor.daemon import minding
    from termvisor.model.detection import DetectionFilter

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
    from termvisor.daemon import foreground

    plan = json.loads(sys.argv[1])
    mind_only(plan.pop("minds", {}))
    if plan:
        Halting(**plan).arm()
    sys.exit(foreground.run())
