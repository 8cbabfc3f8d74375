"""Accounts in the daemon: learns what is left of each from what agents tell, and says which one to use.

Figures of an agent belong to the account that it works under. Where that is not certain they belong to nobody.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from termvisor.accounts.attribution import NAMES, owner
from termvisor.accounts.credentials import shares_sessions
from termvisor.accounts.launcher import prefix
from termvisor.accounts.quota_parsing import of_detection, of_signal, of_tracker
from termvisor.accounts.selection import Wanted, choose
from termvisor.accounts.usage_tracker import ask_tracker
from termvisor.agents.tracking.transition import Outcome
from termvisor.bus import Subscription
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.errors import NotFound, StorageError
from termvisor.log import logger
from termvisor.model.action.action import Actor
from termvisor.model.action.outcome import RunIt
from termvisor.model.agent.account import SERVICE_OF, SERVICES, Account, Allowance, Pick, Service, Standing, find
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.settings.accounts import ANY
from termvisor.settings import home
from termvisor.system import procfs as kernel
from termvisor.workflows.account_failover import Selected

_LATELY = 7 * 86_400 * NS
_FRESH = 30 * NS
"""A tracker that answered so lately is not asked again."""
_KNOWN = 256
log = logger("accounts")


def myself() -> Actor:
    return Actor(kind="workflow", name="accounts", uid=os.getuid(), pid=os.getpid())


@contextmanager
def _told_in_the_log() -> Iterator[None]:
    """What is not stored is told again by the agent before long."""
    try:
        yield
    except StorageError as error:
        log.warning("what an account has left was not stored: %s", error)


class LiveAccounts:
    def __init__(self, parts: Parts, run_it: RunIt):
        self._run_it = run_it
        self._parts, self._store, self._clock = parts, parts.store.accounts, parts.clock
        self._environments: dict[RuntimeId, Mapping[str, str]] = {}
        self._asked_at: dict[Service, int] = {}

    async def standings(self) -> list[Standing]:
        return await self._store.standings(self._declared)

    async def refresh(self, service: Service | None = None) -> str:
        troubles = [await self._ask(one) for one in ((service,) if service else self._services)]
        return "; ".join(dict.fromkeys(filter(None, troubles)))

    async def use(self, ref: str) -> Standing:
        account = find(self._declared, ref)
        if account is None:
            raise NotFound(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
        await self._store.use(account, self._clock.now())
        return (await self._store.standings([account]))[0]

    async def pick(self, service: Service) -> Pick:
        await self._freshen(service)
        return choose(await self.standings(), self._wanted(service))

    async def select(self, pane: PaneId | None, agent: str, service: str) -> Selected:
        """For an agent that cannot go on; see `failover`. Off unless a person named a profile."""
        profile = self._parts.settings.failover_profile
        wanted = next((one for one in SERVICES if one == service), None) or SERVICE_OF.get(agent)
        if not profile:
            return Selected(why="failover_profile is not set: no agent is moved to another account")
        if wanted is None:
            return Selected(why=f"nobody knows with which service {agent or 'this program'} works")
        own = await self._own(wanted, self._runtime(pane))
        if own is None and len([one for one in self._declared if one.service == wanted]) > 1:
            return Selected(why="nobody knows under which account it works now; `visor accounts use` says it")
        await self._freshen(wanted)
        names = None if profile == ANY else (profile,)
        picked = choose(await self.standings(), self._wanted(wanted, names, () if own is None else (own.ref,)))
        if picked.account is None:
            return Selected(why=picked.why)
        return await self._selected(picked.account, picked, own)

    async def _selected(self, account: Account, picked: Pick, own: Account | None) -> Selected:
        await self._store.used(account, self._clock.now())
        return Selected(
            account=account.ref,
            why=picked.why,
            remaining=picked.candidates[0].remaining,
            prefix=prefix(self._parts.places.config_dir, account.ref),
            shares_sessions=shares_sessions(account, own, home()),
        )

    async def run(self) -> None:
        """Learns for as long as the daemon runs; what was found while nobody listened is learned first."""
        since = self._clock.now() - _LATELY
        with self._parts.chronicle.news.subscribe() as events, self._parts.attending.knowing.turns.subscribe() as turns:
            if self._declared:
                only = DetectionFilter(type="usage.*", since=since, limit=_KNOWN)
                for found in await self._parts.store.detections.list(only):
                    await self._hear_detection(found)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._hear_events(events))
                group.create_task(self._hear_turns(turns))

    async def _hear_events(self, events: Subscription[Event]) -> None:
        while True:
            event = await events.get()
            if event.kind.startswith("usage.") and self._declared:
                with _told_in_the_log():
                    found = await self._parts.store.detections.one(event.id)
                    await self._hear_detection(found)

    async def _hear_turns(self, turns: Subscription[Outcome]) -> None:
        while True:
            outcome = await turns.get()
            for runtime, signal in outcome.bound if self._declared else ():
                with _told_in_the_log():
                    await self._learn(signal.agent, runtime, of_signal(signal))

    async def _hear_detection(self, found: Detection | None) -> None:
        if found is not None and (allowance := of_detection(found)) is not None:
            await self._learn(found.agent, found.runtime, [allowance])

    async def _learn(self, agent: str, runtime: RuntimeId | None, allowances: Sequence[Allowance]) -> None:
        service = SERVICE_OF.get(agent) if allowances else None
        account = None if service is None else await self._own(service, runtime)
        if account is not None:
            await self._store.learn(account, allowances)

    async def _own(self, service: Service, runtime: RuntimeId | None) -> Account | None:
        """The account that an agent works under, where that is certain."""
        return owner(service, await self._environment(runtime), await self.standings())

    async def _environment(self, runtime: RuntimeId | None) -> Mapping[str, str] | None:
        """What its process was started with, of the few names that matter; None where it is gone."""
        if runtime is None:
            return None
        if runtime not in self._environments:
            living = self._parts.attending.knowing.living.values()
            pid = next((one.pid for one in living if one.id == runtime), 0)
            found = await asyncio.to_thread(kernel.variables, pid, NAMES) if pid else {}
            if not found:
                return None
            for old in list(self._environments)[: 1 - _KNOWN]:
                del self._environments[old]
            self._environments[runtime] = found
        return self._environments[runtime]

    def _runtime(self, pane: PaneId | None) -> RuntimeId | None:
        """Of the agent that is in a pane, or was there last."""
        stays = self._parts.attending.knowing.stays(pane) if pane is not None else []
        return stays[-1].runtime if stays else None

    async def _freshen(self, service: Service) -> None:
        if self._clock.now() - self._asked_at.get(service, 0) > _FRESH and (why := await self._ask(service)):
            log.info("accounts of %s are judged by what is known: %s", service, why)

    async def _ask(self, service: Service) -> str:
        own = [one for one in self._declared if one.service == service]
        program, now = self._parts.settings.account_tracker, self._clock.now()
        if not own:
            return f"there is no account of {service}"
        self._asked_at[service] = now
        try:
            answer = await ask_tracker(program, "refresh", service, self._run_it)
            if answer is None:
                return f"{program or 'a tracker'} is not installed"
            for account, allowance in of_tracker(answer, own, program, now):
                await self._store.learn(account, [allowance])
        except ValueError as error:
            for account in own:
                await self._store.checked(account, now, str(error))
            return str(error)
        return ""

    def _wanted(self, service: Service, names: Sequence[str] | None = None, without: Sequence[str] = ()) -> Wanted:
        threshold = self._parts.settings.account_threshold
        return Wanted(service=service, threshold=threshold, now=self._clock.now(), names=names, without=without)

    @property
    def _declared(self) -> tuple[Account, ...]:
        return self._parts.settings.accounts

    @property
    def _services(self) -> tuple[Service, ...]:
        return tuple(one for one in SERVICES if any(account.service == one for account in self._declared))
