"""Accounts are selected for failover only if configured and the current account is known."""

from types import SimpleNamespace

import pytest

from termvisor.actions.executor import run_program
from termvisor.clock import NS
from termvisor.daemon.services.accounts import AccountService
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, Allowance
from termvisor.model.ids import PaneId
from termvisor.settings import Paths, Settings
from termvisor.testing.fake_clock import FakeClock

WORK = Account(service="openai", name="work")
SECOND = Account(service="openai", name="second", env_file="~/second.env")


class EmptyTracker:
    """A tracker without agents."""

    def __init__(self):
        self.agents_by_pane = {}

    def list_presences(self, pane: PaneId) -> list:
        return []


@pytest.fixture
def accounts(store):
    def make(*declared: Account, profile: str = "") -> AccountService:
        settings = Settings(accounts=declared, failover_profile=profile, account_tracker="")
        parts = SimpleNamespace(
            store=store,
            clock=FakeClock(),
            settings=settings,
            paths=Paths("/c", "/d", "/r"),
            agent_tracking=SimpleNamespace(tracker=EmptyTracker()),
        )
        return AccountService(parts, run_program)

    return make


async def record_allowance(store, account: Account, percent: float) -> None:
    at = FakeClock().now()
    window = Allowance(span="5h", percent_remaining=percent, resets_at=at + 3600 * NS, checked_at=at, source="signal")
    await store.accounts.record_allowances(account, [window])


async def test_without_a_profile_no_account_is_selected(store, accounts):
    await record_allowance(store, SECOND, 90)
    selection = await accounts(WORK, SECOND).select(PaneId(1), "codex", "")
    assert (selection.account, "failover_profile is not set" in selection.why) == ("", True)


async def test_for_an_agent_with_unknown_account_none_is_selected(store, accounts):
    selection = await accounts(WORK, SECOND, profile="second").select(PaneId(1), "codex", "")
    assert (selection.account, "its current account is not known" in selection.why) == ("", True)


async def test_for_an_agent_with_many_services_none_is_selected(accounts):
    selection = await accounts(WORK, SECOND, profile="any").select(PaneId(1), "opencode", "")
    assert "the service of opencode is not known" in selection.why


async def test_the_account_in_use_is_not_selected_again(store, accounts):
    selection = await accounts(WORK, profile="any").select(PaneId(1), "codex", "")
    assert (selection.account, "the agent uses it already" in selection.why) == ("", True)


async def test_the_named_account_is_selected_by_reference_only(store, accounts, monkeypatch):
    live = accounts(WORK, SECOND, profile="second")

    async def works_under(service, runtime):
        return WORK

    monkeypatch.setattr(live, "_find_account", works_under)
    await record_allowance(store, SECOND, 90)
    selection = await live.select(PaneId(1), "codex", "")
    assert (selection.account, selection.remaining, selection.shares_sessions) == ("openai/second", 90.0, True)
    assert selection.prefix[-3:] == ("/c", "openai/second", "--")
    assert (await live.list_statuses())[1].last_used_at
    await record_allowance(store, SECOND, 3)
    assert (await live.select(PaneId(1), "codex", "")).account == ""


async def test_a_missing_tracker_and_an_unknown_account_are_reported(accounts):
    live = accounts(WORK)
    assert await live.refresh_usage() == "a tracker is not installed"
    assert await live.refresh_usage("google") == "no account of google is configured"
    with pytest.raises(NotFound):
        await live.use_account("none")
    assert (await live.use_account("work")).is_in_use
