"""Selection of an account, and its explanation."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.accounts.selection import AccountRequirements, select_account
from termvisor.clock import NS
from termvisor.model.agent.account import Account, AccountStatus, Allowance

NOW = 1_000_000 * NS


def build_status(name: str, left: float | None, used: int | None = None, **more) -> AccountStatus:
    allowances = (
        ()
        if left is None
        else (Allowance(span="5h", percent_remaining=left, checked_at=NOW, source="signal", resets_at=NOW + 1),)
    )
    return AccountStatus(account=Account(service="openai", name=name, **more), last_used_at=used, allowances=allowances)


def build_request(**more) -> AccountRequirements:
    return AccountRequirements(**({"service": "openai", "threshold": 10.0, "now": NOW} | more))


def select_name(*standings: AccountStatus, **more) -> str:
    picked = select_account(standings, build_request(**more))
    return picked.account.name if picked.account else ""


def test_the_account_with_the_most_quota_is_selected():
    assert select_name(build_status("a", 20), build_status("b", 70), build_status("c", 30)) == "b"


def test_ties_are_broken_by_least_recent_use_then_priority():
    assert select_name(build_status("a", 50, used=9), build_status("b", 50, used=3)) == "b"
    assert select_name(build_status("a", 50, used=9), build_status("b", 50.3)) == "b"
    assert select_name(build_status("a", 50), build_status("b", 50, priority=1)) == "b"
    assert select_name(build_status("b", 50), build_status("a", 50)) == "a"


def test_an_account_with_unknown_quota_is_the_last_resort():
    assert select_name(build_status("a", None), build_status("b", 11)) == "b"
    assert select_name(build_status("a", None), build_status("b", 9)) == "a"


def test_without_a_suitable_account_none_is_selected():
    picked = select_account([build_status("a", 9), build_status("b", 0)], build_request())
    assert picked.account is None
    assert "openai/a: 9 % remaining, less than 10 %" in picked.why
    assert "openai/b: no quota remaining" in picked.why
    assert select_account([], build_request()).why == "there is no account of openai"
    assert select_name(build_status("a", 0), threshold=0) == ""


def test_inactive_excluded_and_not_allowed_accounts_are_not_selected():
    both = (build_status("a", 90), build_status("b", 80))
    assert select_name(*both, excluded_refs=("openai/a",)) == "b"
    assert select_name(*both, allowed_names=("b",)) == "b"
    assert select_name(*both, allowed_names=("openai/b",)) == "b"
    assert select_name(build_status("a", 90, active=False)) == ""
    assert select_name(*both, service="google") == ""


def test_every_account_is_explained():
    candidates = select_account(
        [build_status("a", 50), build_status("b", None), build_status("c", 1, active=False)], build_request()
    ).candidates
    assert [(one.ref, one.verdict) for one in candidates] == [
        ("openai/a", "chosen"),
        ("openai/b", "unknown"),
        ("openai/c", "not_active"),
    ]


STANDINGS = st.lists(
    st.builds(
        build_status,
        st.sampled_from("abcdefgh"),
        st.one_of(st.none(), st.floats(0, 100)),
        st.one_of(st.none(), st.integers(1, 9)),
        priority=st.integers(1, 3),
        active=st.booleans(),
    ),
    unique_by=lambda one: one.account.name,
)


@given(STANDINGS, st.randoms(), st.floats(0, 100))
def test_selection_ignores_declaration_order_and_respects_the_threshold(standings, chance, threshold):
    picked = select_account(standings, build_request(threshold=threshold))
    mixed = list(standings)
    chance.shuffle(mixed)
    assert select_account(mixed, build_request(threshold=threshold)) == picked
    left = [one.compute_remaining_percent(NOW) for one in standings if one.account == picked.account]
    assert all(one is None or one >= threshold for one in left)
    enough = [
        one
        for one in standings
        if one.account.active and (one.compute_remaining_percent(NOW) or 0) >= max(threshold, 1e-9)
    ]
    assert not enough or left[0] is not None
