"""Agents that wait for a permission: each is heard by the best way there is, and its question stands in the inbox.

In: that an agent waits. Out: an action for the gate, and its answer back to the agent. What a hook brings comes by
itself; here are the others. An agent that waits no longer takes its question with it.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from termvisor.bus import Subscription
from termvisor.daemon.acting.approval_notifications import myself
from termvisor.daemon.components import Parts
from termvisor.errors import BadRequest, Conflict, NotFound, TimedOut, Unavailable, VisorError
from termvisor.log import logger
from termvisor.model.action.preconditions import Terms
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.state import StateChange
from termvisor.model.ids import RuntimeId

if TYPE_CHECKING:
    from collections.abc import Callable

    from termvisor.actions.permission_requests import Asker, DialogPlea, End, Means
    from termvisor.daemon.services.gate import Behind

WAITS = "waiting_approval"
_STILL = (WAITS, "unknown")
_FIRST_AFTER = 1.0
"""Seconds that a hook has to be the first: then it is heard already what the agent asks."""
_AGAIN_AFTER = 1.0
_LONGEST_PAUSE = 60.0
"""Seconds until an agent that waits on, though it was dealt with, is asked whether it waits for something else."""
_SERVER_WITHIN = 10.0
"""Seconds that an agent's own server has to be heard, before the keys of its dialog are the way."""
log = logger("pleas")


class Pleading:
    """``behind`` is what acts, loaded when the first agent asks; ``panes`` what the gate knows of them."""

    def __init__(self, parts: Parts, behind: "Callable[[], Behind]"):
        self._parts, self._behind = parts, behind
        self._knowing = parts.attending.knowing
        self._heard: set[RuntimeId] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        with self._knowing.news.subscribe() as news:
            async with asyncio.TaskGroup() as group:
                for runtime in self._knowing.living.values():
                    self._hear(group, runtime)
                while True:
                    change = await news.get()
                    here = self._knowing.runtime_in(change.after.pane)
                    if here is not None and change.after.value == WAITS:
                        self._hear(group, here)

    def _hear(self, group: asyncio.TaskGroup, runtime: Runtime) -> None:
        if self._is_waiting(runtime) and runtime.id not in self._heard and self._parts.settings.agent_inbox != "off":
            self._heard.add(runtime.id)
            group.create_task(self._hear_out(runtime))

    async def _hear_out(self, runtime: Runtime) -> None:
        """As long as it waits. What was answered here, or by nobody in time, is not asked again."""
        from termvisor.actions.permission_requests import Asker

        try:
            clock, servers = self._parts.clock, self._parts.attending.servers
            await clock.sleep(_FIRST_AFTER)
            keys_from = clock.monotonic() + (_SERVER_WITHIN if servers.serves(runtime) else 0.0)
            asker, pause = Asker(runtime.agent, runtime.pane), _AGAIN_AFTER
            while self._is_waiting(runtime):
                end = await self._heard_once(runtime, asker, may_press=clock.monotonic() >= keys_from)
                if end == "answered":
                    await self._until_changed(runtime, pause if asker.known else None)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                await self._parts.clock.sleep(_AGAIN_AFTER)
        except Exception:  # whatever is wrong with one agent, the others are heard
            log.exception("an agent's request could not be heard")
        finally:
            self._heard.discard(runtime.id)

    async def _heard_once(self, runtime: Runtime, asker: "Asker", *, may_press: bool) -> "End":
        from termvisor.actions.permission_requests import Means, by_dialog, by_server

        behind = self._behind()
        means = Means(gate=behind.gate, pleas=behind.pleas, actor=myself())
        line = self._parts.attending.servers.line_of(runtime)
        try:
            if line is not None:
                return await by_server(means, line, asker)
            dialog = await self._dialog(runtime, means) if may_press else None
            if dialog is not None:
                return await by_dialog(means, behind.speaker, dialog, self._waits_no_longer(runtime))
        except (Conflict, TimedOut, Unavailable, BadRequest, NotFound) as error:
            log.debug("%s in pane %d is not heard: %s", runtime.agent, runtime.pane, error.message)
        except VisorError as error:
            log.info("%s in pane %d is not heard: %s", runtime.agent, runtime.pane, error.message)
        return "lost"

    async def _dialog(self, runtime: Runtime, means: "Means") -> "DialogPlea | None":
        """The dialog that is shown, where its keys can say yes and no, and nobody else brings the request."""
        from termvisor.actions.permission_requests import DialogPlea

        if self._parts.settings.agent_inbox != "all" or means.pleas.is_held(runtime.pane, "dialog"):
            return None
        belief = await self._behind().panes.believe(runtime.pane, Terms())
        voice, tenant = belief.voice, belief.tenant
        if voice is None or tenant is None or tenant.runtime != runtime.id:
            return None
        press, refusal = voice.pick(belief.shown, "allow"), voice.pick(belief.shown, "deny")
        if press is None or refusal is None or press.rows != refusal.rows or not press.rows:
            return None
        return DialogPlea(
            pane=runtime.pane,
            agent=runtime.agent,
            rows=press.rows,
            command=await self._command(runtime),
            session=tenant.session,
            cwd=runtime.cwd,
        )

    async def _command(self, runtime: Runtime) -> str:
        """What the agent said that it asks for, where it did."""
        known = self._knowing.projection(runtime.id)
        evidence = known.state.evidence if known is not None else None
        found = await self._parts.store.facts.signals([evidence]) if evidence is not None else {}
        return "".join(str(signal.payload.get("command", "")) for signal in found.values())

    async def _waits_no_longer(self, runtime: Runtime) -> "End":
        with self._knowing.news.subscribe() as news:
            await self._until(runtime, news)
        return "elsewhere"

    async def _until_changed(self, runtime: Runtime, seconds: float | None) -> None:
        """Or so many seconds."""
        with suppress(TimeoutError), self._knowing.news.subscribe() as news:
            async with asyncio.timeout(seconds):
                await self._until(runtime, news)

    async def _until(self, runtime: Runtime, news: Subscription[StateChange]) -> None:
        while self._is_waiting(runtime, or_unknown=True):
            await news.get()

    def _is_waiting(self, runtime: Runtime, *, or_unknown: bool = False) -> bool:
        known = self._knowing.projection(runtime.id)
        here = self._knowing.runtime_in(runtime.pane)
        if known is None or here is None or here.id != runtime.id:
            return False
        return known.state.value in (_STILL if or_unknown else (WAITS,))
