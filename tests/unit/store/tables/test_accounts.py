"""Stored status of accounts."""

from termvisor.model.agent.account import Account, AccountStatus, Allowance

WORK = Account(service="openai", name="work", email="me@example.org", env_file="/hush")
PLAY = Account(service="openai", name="play")


def build_allowance(left: float, at: int, span: str = "5h") -> Allowance:
    return Allowance(span=span, percent_remaining=left, resets_at=99, checked_at=at, source="signal", limit=7.0)


async def test_newer_allowance_replaces_an_older_one(store):
    await store.accounts.record_allowances(WORK, [build_allowance(50, 5), build_allowance(60, 5, "weekly")])
    await store.accounts.record_allowances(WORK, [build_allowance(40, 6)])
    await store.accounts.record_allowances(WORK, [build_allowance(90, 4)])
    work, play = await store.accounts.list_statuses([WORK, PLAY])
    assert [(one.span, one.percent_remaining) for one in work.allowances] == [("5h", 40.0), ("weekly", 60.0)]
    assert work.allowances[0] == build_allowance(40, 6)
    assert (work.checked_at, play.checked_at, play.allowances) == (6, None, ())


async def test_one_account_of_a_service_is_in_use(store):
    other = Account(service="google", name="work")
    for account, at in ((WORK, 1), (other, 2), (PLAY, 3), (WORK, 2)):
        await store.accounts.set_in_use(account, at)
    found = await store.accounts.list_statuses([WORK, PLAY, other])
    assert [(one.is_in_use, one.last_used_at) for one in found] == [(True, 2), (False, 3), (True, 2)]


async def test_check_problem_is_kept_until_the_next_success(store):
    await store.accounts.record_check(WORK, 3, "it failed")
    assert (await store.accounts.list_statuses([WORK]))[0].trouble == "it failed"
    await store.accounts.record_allowances(WORK, [build_allowance(40, 6)])
    assert (await store.accounts.list_statuses([WORK]))[0].trouble == ""


async def test_credentials_are_not_stored(store):
    await store.accounts.set_in_use(WORK, 1)
    await store.accounts.record_allowances(WORK, [build_allowance(40, 6)])
    rows = await store._db.read(lambda connection: repr(list(connection.execute("SELECT * FROM account"))))
    assert "hush" not in rows
    assert "example" not in rows


async def test_a_use_is_recorded_and_changes_nothing_else(store):
    await store.accounts.record_use(WORK, 5)
    await store.accounts.record_use(WORK, 4)
    assert await store.accounts.list_statuses([WORK]) == [AccountStatus(account=WORK, last_used_at=5)]


async def test_long_texts_of_other_programs_are_cut(store):
    long = Allowance(span="s" * 50, percent_remaining=1, resets_at=9, checked_at=5, source="o" * 120 + "\ud800")
    await store.accounts.record_allowances(WORK, [long])
    await store.accounts.record_check(WORK, 4, "p" * 600)
    (status,) = await store.accounts.list_statuses([WORK])
    assert (status.checked_at, status.trouble) == (5, "p" * 500)
    assert [(len(one.span), len(one.source)) for one in status.allowances] == [(40, 100)]
    await store.accounts.record_allowances(PLAY, [])
    assert (await store.accounts.list_statuses([PLAY]))[0].checked_at is None
