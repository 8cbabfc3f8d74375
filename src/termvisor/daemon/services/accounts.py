"""Accounts in the daemon: learns what is left of each from what agents tell, and says which one to use.

Figures of an agent belong to the account that it works under. Where that is not certain they belong to nobody.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from termvisor.accounts.attribution import ENV_NAMES, find_owner
from termvisor.accounts.credentials import can_share_sessions
from termvisor.accounts.launcher import build_command_prefix
from termvisor.accounts.quota_parsing import parse_detection_allowance, parse_signal_allowances, parse_tracker_answer
from termvisor.accounts.selection import AccountRequirements, select_account
from termvisor.accounts.usage_tracker import query_tracker
from termvisor.agents.tracking.transition import TrackingOutcome
from termvisor.bus import Subscription
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.errors import NotFound, StorageError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor
from termvisor.model.action.outcome import ProgramRunner
from termvisor.model.agent.account import (
    SERVICE_BY_AGENT,
    SERVICES,
    Account,
    AccountChoice,
    AccountStatus,
    Allowance,
    Service,
    find_account,
)
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.settings.accounts import ANY_ACCOUNT
from termvisor.settings import get_home_folder
from termvisor.system import procfs
from termvisor.workflows.account_failover import AccountSelection

_LOOKBACK_NS = 7 * 86_400 * NS
_MIN_REFRESH_INTERVAL_NS = 30 * NS
"""A tracker that answered so lately is not asked again."""
_MAX_REMEMBERED = 256
log = get_logger("accounts")


def build_actor() -> Actor:
    return Actor(kind="workflow", name="accounts", uid=os.getuid(), pid=os.getpid())


@contextmanager
def _log_storage_errors() -> Iterator[None]:
    """What is not stored is told again by the agent before long."""
    try:
        yield
    except StorageError as error:
        log.warning("what an account has left was not stored: %s", error)


class DaemonAccounts:
    def __init__(self, components: Components, run_program: ProgramRunner):
        self._run_program = run_program
        self._components, self._store, self._clock = components, components.store.accounts, components.clock
        self._environments_by_agent: dict[RuntimeId, Mapping[str, str]] = {}
        self._refreshed_at: dict[Service, int] = {}

    async def list_statuses(self) -> list[AccountStatus]:
        return await self._store.list_statuses(self._declared_accounts)

    async def refresh_usage(self, service: Service | None = None) -> str:
        troubles = [await self._refresh_service(one) for one in ((service,) if service else self._declared_services)]
        return "; ".join(dict.fromkeys(filter(None, troubles)))

    async def use_account(self, ref: str) -> AccountStatus:
        account = find_account(self._declared_accounts, ref)
        if account is None:
            raise NotFound(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
        await self._store.set_in_use(account, self._clock.now())
        return (await self._store.list_statuses([account]))[0]

    async def pick_account(self, service: Service) -> AccountChoice:
        await self._refresh_if_stale(service)
        return select_account(await self.list_statuses(), self._build_selection_query(service))

    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        """For an agent that cannot go on; see `failover`. Off unless a person named a profile."""
        profile = self._components.settings.failover_profile
        wanted = next((one for one in SERVICES if one == service), None) or SERVICE_BY_AGENT.get(agent)
        if not profile:
            return AccountSelection(why="failover_profile is not set: no agent is moved to another account")
        if wanted is None:
            return AccountSelection(why=f"nobody knows with which service {agent or 'this program'} works")
        own = await self._find_account(wanted, self._find_agent_process(pane))
        if own is None and len([one for one in self._declared_accounts if one.service == wanted]) > 1:
            return AccountSelection(why="nobody knows under which account it works now; `visor accounts use` says it")
        await self._refresh_if_stale(wanted)
        names = None if profile == ANY_ACCOUNT else (profile,)
        picked = select_account(
            await self.list_statuses(), self._build_selection_query(wanted, names, () if own is None else (own.ref,))
        )
        if picked.account is None:
            return AccountSelection(why=picked.why)
        return await self._build_selection(picked.account, picked, own)

    async def _build_selection(
        self, account: Account, pick: AccountChoice, current_account: Account | None
    ) -> AccountSelection:
        await self._store.record_use(account, self._clock.now())
        return AccountSelection(
            account=account.ref,
            why=pick.why,
            remaining=pick.candidates[0].remaining,
            prefix=build_command_prefix(self._components.paths.config_dir, account.ref),
            shares_sessions=can_share_sessions(account, current_account, get_home_folder()),
        )

    async def run(self) -> None:
        """Learns for as long as the daemon runs; what was found while nobody listened is learned first."""
        since = self._clock.now() - _LOOKBACK_NS
        with (
            self._components.event_log.events.subscribe() as events,
            self._components.agent_tracking.tracker.outcomes.subscribe() as turns,
        ):
            if self._declared_accounts:
                only = DetectionFilter(type="usage.*", since=since, limit=_MAX_REMEMBERED)
                for found in await self._components.store.detections.list(only):
                    await self._learn_from_detection(found)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch_events(events))
                group.create_task(self._watch_transitions(turns))

    async def _watch_events(self, events: Subscription[Event]) -> None:
        while True:
            event = await events.get()
            if event.kind.startswith("usage.") and self._declared_accounts:
                with _log_storage_errors():
                    found = await self._components.store.detections.find(event.id)
                    await self._learn_from_detection(found)

    async def _watch_transitions(self, transitions: Subscription[TrackingOutcome]) -> None:
        while True:
            outcome = await transitions.get()
            for runtime, signal in outcome.bound_signals if self._declared_accounts else ():
                with _log_storage_errors():
                    await self._store_allowances(signal.agent, runtime, parse_signal_allowances(signal))

    async def _learn_from_detection(self, detection: Detection | None) -> None:
        if detection is not None and (allowance := parse_detection_allowance(detection)) is not None:
            await self._store_allowances(detection.agent, detection.runtime, [allowance])

    async def _store_allowances(self, agent: str, runtime: RuntimeId | None, allowances: Sequence[Allowance]) -> None:
        service = SERVICE_BY_AGENT.get(agent) if allowances else None
        account = None if service is None else await self._find_account(service, runtime)
        if account is not None:
            await self._store.record_allowances(account, allowances)

    async def _find_account(self, service: Service, runtime: RuntimeId | None) -> Account | None:
        """The account that an agent works under, where that is certain."""
        return find_owner(service, await self._read_environment(runtime), await self.list_statuses())

    async def _read_environment(self, runtime: RuntimeId | None) -> Mapping[str, str] | None:
        """What its process was started with, of the few names that matter; None where it is gone."""
        if runtime is None:
            return None
        if runtime not in self._environments_by_agent:
            living = self._components.agent_tracking.tracker.agents_by_pane.values()
            pid = next((one.pid for one in living if one.id == runtime), 0)
            found = await asyncio.to_thread(procfs.read_environment, pid, ENV_NAMES) if pid else {}
            if not found:
                return None
            for old in list(self._environments_by_agent)[: 1 - _MAX_REMEMBERED]:
                del self._environments_by_agent[old]
            self._environments_by_agent[runtime] = found
        return self._environments_by_agent[runtime]

    def _find_agent_process(self, pane: PaneId | None) -> RuntimeId | None:
        """Of the agent that is in a pane, or was there last."""
        stays = self._components.agent_tracking.tracker.list_presences(pane) if pane is not None else []
        return stays[-1].agent_process if stays else None

    async def _refresh_if_stale(self, service: Service) -> None:
        if self._clock.now() - self._refreshed_at.get(service, 0) > _MIN_REFRESH_INTERVAL_NS and (
            why := await self._refresh_service(service)
        ):
            log.info("accounts of %s are judged by what is known: %s", service, why)

    async def _refresh_service(self, service: Service) -> str:
        own = [one for one in self._declared_accounts if one.service == service]
        program, now = self._components.settings.account_tracker, self._clock.now()
        if not own:
            return f"there is no account of {service}"
        self._refreshed_at[service] = now
        try:
            answer = await query_tracker(program, "refresh", service, self._run_program)
            if answer is None:
                return f"{program or 'a tracker'} is not installed"
            for account, allowance in parse_tracker_answer(answer, own, program, now):
                await self._store.record_allowances(account, [allowance])
        except ValueError as error:
            for account in own:
                await self._store.record_check(account, now, str(error))
            return str(error)
        return ""

    def _build_selection_query(
        self, service: Service, names: Sequence[str] | None = None, excluded: Sequence[str] = ()
    ) -> AccountRequirements:
        threshold = self._components.settings.account_threshold
        return AccountRequirements(
            service=service, threshold=threshold, now=self._clock.now(), allowed_names=names, excluded_refs=excluded
        )

    @property
    def _declared_accounts(self) -> tuple[Account, ...]:
        return self._components.settings.accounts

    @property
    def _declared_services(self) -> tuple[Service, ...]:
        return tuple(one for one in SERVICES if any(account.service == one for account in self._declared_accounts))
