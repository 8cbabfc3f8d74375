"""Remaining allowances of an account, and valid declarations."""

import pytest

from termvisor.clock import NS
from termvisor.errors import ConfigError
from termvisor.model.agent.account import Account, AccountStatus, Allowance, find_account
from termvisor.settings import validate_settings

NOW = 1_000_000 * NS
HOUR = 3600 * NS
WORK = Account(service="openai", name="work")


def build_allowance(span: str = "5h", left: float | None = 50.0, **more) -> Allowance:
    known = {"checked_at": NOW - HOUR, "source": "signal", "resets_at": NOW + HOUR}
    return Allowance(span=span, percent_remaining=left, **(known | more))


def compute_remaining(*allowances: Allowance) -> float | None:
    return AccountStatus(account=WORK, allowances=allowances).compute_remaining_percent(NOW)


def test_the_scarcest_limit_counts():
    assert compute_remaining(build_allowance(left=80), build_allowance("weekly", 20)) == 20
    assert compute_remaining() is None


def test_a_window_is_full_after_its_reset_time():
    assert compute_remaining(build_allowance(left=0, resets_at=NOW)) == 100
    assert compute_remaining(build_allowance(left=0, resets_at=NOW + 1)) == 0
    assert compute_remaining(build_allowance("credits", 0, usage_type="credits", resets_at=NOW - HOUR)) == 0


def test_a_figure_without_reset_time_expires_after_the_shortest_window():
    assert compute_remaining(build_allowance(left=0, resets_at=None)) == 0
    assert compute_remaining(build_allowance(left=0, resets_at=None, checked_at=NOW - 5 * HOUR)) is None


def test_later_windows_override_a_limit_of_unknown_span():
    reached = build_allowance("all", 0, source="rule", checked_at=NOW - 2 * HOUR)
    assert compute_remaining(reached, build_allowance(left=90)) == 90
    assert compute_remaining(reached, build_allowance(left=90, checked_at=NOW - 3 * HOUR)) == 0
    assert compute_remaining(reached, build_allowance(left=90, source="rule")) == 0


def test_the_reset_time_is_that_of_the_scarcest():
    standing = AccountStatus(
        account=WORK, allowances=(build_allowance(left=80), build_allowance("weekly", 20, resets_at=NOW + 9))
    )
    assert standing.find_reset_time(NOW) == NOW + 9
    assert AccountStatus(account=WORK).find_reset_time(NOW) is None


def test_an_account_is_found_by_a_unique_short_name():
    other = Account(service="google", name="work")
    assert find_account([WORK, other], "openai/work") == WORK
    assert find_account([WORK, other], "work") is None
    assert find_account([WORK], "work") == WORK
    assert find_account([WORK], "play") is None


def validate_accounts(*accounts: dict, **more) -> None:
    validate_settings({"accounts": list(accounts), **more}, "config.toml")


@pytest.mark.parametrize(
    ("accounts", "more", "why"),
    [
        ([{"service": "openai", "name": "a"}] * 2, {}, "duplicate account openai/a"),
        (
            [{"service": "mistral", "name": "a"}],
            {},
            r"\[\[accounts\]\] number 1: unknown service 'mistral'; expected one of:",
        ),
        ([{"service": "opnai", "name": "a"}], {}, "unknown service 'opnai'; did you mean openai"),
        ([{"service": "openai", "name": "a"}, {"service": "openai"}], {}, "number 2: `name` is missing"),
        ([{"service": "openai", "name": "a b"}], {}, "letters, digits"),
        ([{"service": "openai", "name": "a", "api_key": "x"}], {}, "unknown key 'api_key'; expected one of: service"),
        ([{"service": "openai", "name": "a", "envfile": "x"}], {}, "unknown key 'envfile'; did you mean env_file"),
        ([{"service": "openai", "name": "a", "env_file": "x", "config_dir": "y"}], {}, "only one of"),
        ([{"service": "openai", "name": "a"}], {"failover_profile": "b"}, "unknown account 'b'"),
    ],
)
def test_invalid_accounts_are_rejected(accounts, more, why):
    with pytest.raises(ConfigError, match=why):
        validate_accounts(*accounts, **more)


def test_names_are_unique_within_a_service_only():
    validate_accounts(
        {"service": "openai", "name": "a"}, {"service": "google", "name": "a"}, failover_profile="openai/a"
    )


def test_an_account_table_needs_double_brackets():
    with pytest.raises(ConfigError, match="with double brackets"):
        validate_settings({"accounts": {"service": "openai", "name": "a"}}, "config.toml")
