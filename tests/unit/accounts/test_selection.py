"""Selection of an account, and its explanation."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.accounts.selection import AccountRequirements, select_account
from termvisor.clock import NS
from termvisor.model.agent.account import Account, AccountStatus, Allowance

NOW = 1_000_000 * NS


def standing(name: str, left: float | None, used: int | None = None, **more) -> AccountStatus:
    allowances = (
        ()
        if left is None
        else (Allowance(span="5h", percent_remaining=left, checked_at=NOW, source="signal", resets_at=NOW + 1),)
    )
    return AccountStatus(account=Account(service="openai", name=name, **more), last_used_at=used, allowances=allowances)


def wanted(**more) -> AccountRequirements:
    return AccountRequirements(**({"service": "openai", "threshold": 10.0, "now": NOW} | more))


def taken(*standings: AccountStatus, **more) -> str:
    picked = select_account(standings, wanted(**more))
    return picked.account.name if picked.account else ""


def test_the_one_with_the_most_left_is_taken():
    assert taken(standing("a", 20), standing("b", 70), standing("c", 30)) == "b"


def test_of_equals_the_least_recently_used_is_taken_then_the_lower_priority():
    assert taken(standing("a", 50, used=9), standing("b", 50, used=3)) == "b"
    assert taken(standing("a", 50, used=9), standing("b", 50.3)) == "b"
    assert taken(standing("a", 50), standing("b", 50, priority=1)) == "b"
    assert taken(standing("b", 50), standing("a", 50)) == "a"


def test_an_account_with_unknown_quota_is_the_last_resort():
    assert taken(standing("a", None), standing("b", 11)) == "b"
    assert taken(standing("a", None), standing("b", 9)) == "a"


def test_nothing_is_taken_where_nothing_fits():
    picked = select_account([standing("a", 9), standing("b", 0)], wanted())
    assert picked.account is None
    assert "openai/a: 9 % remaining, less than 10 %" in picked.why
    assert "openai/b: no quota remaining" in picked.why
    assert select_account([], wanted()).why == "there is no account of openai"
    assert taken(standing("a", 0), threshold=0) == ""


def test_what_is_not_active_left_out_or_not_named_is_not_taken():
    both = (standing("a", 90), standing("b", 80))
    assert taken(*both, excluded_refs=("openai/a",)) == "b"
    assert taken(*both, allowed_names=("b",)) == "b"
    assert taken(*both, allowed_names=("openai/b",)) == "b"
    assert taken(standing("a", 90, active=False)) == ""
    assert taken(*both, service="google") == ""


def test_every_account_is_explained():
    told = select_account([standing("a", 50), standing("b", None), standing("c", 1, active=False)], wanted()).candidates
    assert [(one.ref, one.verdict) for one in told] == [
        ("openai/a", "chosen"),
        ("openai/b", "unknown"),
        ("openai/c", "not_active"),
    ]


STANDINGS = st.lists(
    st.builds(
        standing,
        st.sampled_from("abcdefgh"),
        st.one_of(st.none(), st.floats(0, 100)),
        st.one_of(st.none(), st.integers(1, 9)),
        priority=st.integers(1, 3),
        active=st.booleans(),
    ),
    unique_by=lambda one: one.account.name,
)


@given(STANDINGS, st.randoms(), st.floats(0, 100))
def test_the_order_of_declaration_decides_nothing_and_too_little_is_never_taken(standings, chance, threshold):
    picked = select_account(standings, wanted(threshold=threshold))
    mixed = list(standings)
    chance.shuffle(mixed)
    assert select_account(mixed, wanted(threshold=threshold)) == picked
    left = [one.compute_remaining_percent(NOW) for one in standings if one.account == picked.account]
    assert all(one is None or one >= threshold for one in left)
    enough = [
        one
        for one in standings
        if one.account.active and (one.compute_remaining_percent(NOW) or 0) >= max(threshold, 1e-9)
    ]
    assert not enough or left[0] is not None
