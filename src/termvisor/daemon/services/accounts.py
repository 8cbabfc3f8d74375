"""Track the remaining quota of each account from signals, detections and the usage tracker, and select accounts.

Quota reported by an agent is stored for the account that the agent uses, or dropped if that account is uncertain.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from termvisor.accounts import quota
from termvisor.accounts.environment import ENV_NAMES, can_share_sessions, find_owner
from termvisor.accounts.launcher import build_command_prefix
from termvisor.accounts.selection import AccountRequirements, select_account
from termvisor.agents.tracking.transition import TrackingOutcome
from termvisor.bus import Subscription
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.errors import ObjectNotFound, StorageError
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
from termvisor.workflows.results import AccountSelection

_LOOKBACK_NS = 7 * 86_400 * NS
"""Detections of the last week are read at startup."""
_MIN_REFRESH_INTERVAL_NS = 30 * NS
"""Run the usage tracker at most this often per service."""
_MAX_REMEMBERED = 256
log = get_logger("accounts")


def build_actor() -> Actor:
    return Actor(kind="workflow", name="accounts", uid=os.getuid(), pid=os.getpid())


@contextmanager
def _log_storage_errors() -> Iterator[None]:
    """Log a storage error and continue, because agents will soon report their quota again."""
    try:
        yield
    except StorageError as error:
        log.warning("the remaining quota of an account was not stored: %s", error)


class AccountService:
    def __init__(self, components: Components, run_program: ProgramRunner):
        self._run_program = run_program
        self._components, self._store, self._clock = components, components.store.accounts, components.clock
        self._environments_by_agent: dict[RuntimeId, Mapping[str, str]] = {}
        self._refreshed_at: dict[Service, int] = {}

    async def list_statuses(self) -> list[AccountStatus]:
        """Return the status of every configured account, in the order of the settings."""
        return await self._store.list_statuses(self._declared_accounts)

    async def refresh_usage(self, service: Service | None = None) -> str:
        """Run the usage tracker and return the problems as text, empty if there are none."""
        services = (service,) if service else self._declared_services
        problems = [await self._refresh_service(service) for service in services]
        return "; ".join(dict.fromkeys(filter(None, problems)))

    async def use_account(self, ref: str) -> AccountStatus:
        """Make an account the current one of its service. Raises ObjectNotFound."""
        account = find_account(self._declared_accounts, ref)
        if account is None:
            raise ObjectNotFound(f"account {ref!r} not found", hint="`visor accounts list` shows all accounts.")
        await self._store.set_in_use(account, self._clock.now())
        return (await self._store.list_statuses([account]))[0]

    async def pick_account(self, service: Service) -> AccountChoice:
        """Choose the best account of a service from fresh usage data."""
        await self._refresh_if_stale(service)
        return select_account(await self.list_statuses(), self._build_requirements(service))

    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        """Select another account for an agent that hit its limit, but only if `failover_profile` is set."""
        profile = self._components.settings.failover_profile
        known_service = next((name for name in SERVICES if name == service), None) or SERVICE_BY_AGENT.get(agent)
        if not profile:
            return AccountSelection(why="failover_profile is not set: no agent is moved to another account")
        if known_service is None:
            return AccountSelection(why=f"the service of {agent or 'this program'} is not known")
        current = await self._find_account(known_service, self._find_agent_process(pane))
        # A single account is unambiguous; with more, the exhausted one could be chosen again.
        if current is None and len(self._list_declared(known_service)) > 1:
            return AccountSelection(why="its current account is not known; set it with `visor accounts use`")
        await self._refresh_if_stale(known_service)
        names = None if profile == ANY_ACCOUNT else (profile,)
        requirements = self._build_requirements(known_service, names, () if current is None else (current.ref,))
        choice = select_account(await self.list_statuses(), requirements)
        if choice.account is None:
            return AccountSelection(why=choice.why)
        return await self._build_selection(choice.account, choice, current)

    async def _build_selection(
        self, account: Account, choice: AccountChoice, current_account: Account | None
    ) -> AccountSelection:
        await self._store.record_use(account, self._clock.now())
        return AccountSelection(
            account=account.ref,
            why=choice.why,
            remaining=choice.candidates[0].remaining,
            prefix=build_command_prefix(self._components.paths.config_dir, account.ref),
            shares_sessions=can_share_sessions(account, current_account, get_home_folder()),
        )

    async def run(self) -> None:
        """Store quota from detections and signals until cancelled, starting with the detections of the last week."""
        since = self._clock.now() - _LOOKBACK_NS
        with (
            # Subscribe before reading the stored detections, so that none are missed in between.
            self._components.event_log.events.subscribe() as events,
            self._components.agent_tracking.tracker.outcomes.subscribe() as transitions,
        ):
            if self._declared_accounts:
                filters = DetectionFilter(type="usage.*", since=since, limit=_MAX_REMEMBERED)
                for detection in await self._components.store.detections.list(filters):
                    await self._store_detection_quota(detection)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch_events(events))
                group.create_task(self._watch_transitions(transitions))

    async def _watch_events(self, events: Subscription[Event]) -> None:
        while True:
            event = await events.get()
            if event.kind.startswith("usage.") and self._declared_accounts:
                with _log_storage_errors():
                    await self._store_detection_quota(await self._components.store.detections.find(event.id))

    async def _watch_transitions(self, transitions: Subscription[TrackingOutcome]) -> None:
        while True:
            outcome = await transitions.get()
            for runtime, signal in outcome.bound_signals if self._declared_accounts else ():
                with _log_storage_errors():
                    await self._store_allowances(signal.agent, runtime, quota.parse_signal_allowances(signal))

    async def _store_detection_quota(self, detection: Detection | None) -> None:
        if detection is not None and (allowance := quota.parse_detection_allowance(detection)) is not None:
            await self._store_allowances(detection.agent, detection.runtime, [allowance])

    async def _store_allowances(self, agent: str, runtime: RuntimeId | None, allowances: Sequence[Allowance]) -> None:
        service = SERVICE_BY_AGENT.get(agent) if allowances else None
        account = None if service is None else await self._find_account(service, runtime)
        if account is not None:
            await self._store.record_allowances(account, allowances)

    async def _find_account(self, service: Service, runtime: RuntimeId | None) -> Account | None:
        """Return the account that an agent runs under, None if that is uncertain."""
        return find_owner(service, await self._read_environment(runtime), await self.list_statuses())

    async def _read_environment(self, runtime: RuntimeId | None) -> Mapping[str, str] | None:
        """Return the account variables of an agent's environment; None if its process exited."""
        if runtime is None:
            return None
        # Remembered, because quota may be reported after the process has exited.
        if runtime not in self._environments_by_agent:
            running = self._components.agent_tracking.tracker.agents_by_pane.values()
            pid = next((agent_process.pid for agent_process in running if agent_process.id == runtime), 0)
            environment = await asyncio.to_thread(procfs.read_environment, pid, ENV_NAMES) if pid else {}
            if not environment:
                return None
            # Dicts keep the order of insertion: the first keys are the oldest agents.
            for oldest in list(self._environments_by_agent)[: 1 - _MAX_REMEMBERED]:
                del self._environments_by_agent[oldest]
            self._environments_by_agent[runtime] = environment
        return self._environments_by_agent[runtime]

    def _find_agent_process(self, pane: PaneId | None) -> RuntimeId | None:
        """Return the agent process in a pane, or the last one that was there."""
        presences = self._components.agent_tracking.tracker.list_presences(pane) if pane is not None else []
        return presences[-1].agent_process if presences else None

    async def _refresh_if_stale(self, service: Service) -> None:
        if self._clock.now() - self._refreshed_at.get(service, 0) > _MIN_REFRESH_INTERVAL_NS and (
            problem := await self._refresh_service(service)
        ):
            log.info("accounts of %s are selected by stored quota: %s", service, problem)

    async def _refresh_service(self, service: Service) -> str:
        """Run the usage tracker of one service and store its quota; return the problem, empty if there is none."""
        accounts = self._list_declared(service)
        program, now = self._components.settings.account_tracker, self._clock.now()
        if not accounts:
            return f"no account of {service} is configured"
        # Set even if the tracker fails: a broken tracker must not be started for every choice.
        self._refreshed_at[service] = now
        try:
            answer = await quota.query_tracker(program, "refresh", service, self._run_program)
            if answer is None:
                return f"{program or 'a tracker'} is not installed"
            for account, allowance in quota.parse_tracker_answer(answer, accounts, program, now):
                await self._store.record_allowances(account, [allowance])
        except ValueError as error:  # the tracker failed or did not print the expected JSON
            for account in accounts:
                await self._store.record_check(account, now, str(error))
            return str(error)
        return ""

    def _build_requirements(
        self, service: Service, names: Sequence[str] | None = None, excluded: Sequence[str] = ()
    ) -> AccountRequirements:
        threshold = self._components.settings.account_threshold
        return AccountRequirements(
            service=service, threshold=threshold, now=self._clock.now(), allowed_names=names, excluded_refs=excluded
        )

    def _list_declared(self, service: Service) -> list[Account]:
        return [account for account in self._declared_accounts if account.service == service]

    @property
    def _declared_accounts(self) -> tuple[Account, ...]:
        return self._components.settings.accounts

    @property
    def _declared_services(self) -> tuple[Service, ...]:
        return tuple(service for service in SERVICES if self._list_declared(service))
