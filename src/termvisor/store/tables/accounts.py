"""What is known of accounts: what was heard of their limits, and when each was used last. Never how they log in."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from termvisor.model.agent.account import Account, AccountStatus, Allowance
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import replace_surrogates

_UPSERT_USAGE = """
INSERT INTO account_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (service, name, span) DO UPDATE SET
    usage_type = excluded.usage_type, most = excluded.most, current = excluded.current,
    percent_remaining = excluded.percent_remaining, resets_at = excluded.resets_at,
    checked_at = excluded.checked_at, source = excluded.source
WHERE excluded.checked_at >= checked_at
"""


class AccountTable:
    def __init__(self, db: Database):
        self._db = db

    async def list_statuses(self, accounts: Sequence[Account]) -> list[AccountStatus]:
        """What is known of these, in their order."""
        return await self._db.read(lambda connection: [_read_status(connection, one) for one in accounts])

    async def record_allowances(self, account: Account, allowances: Sequence[Allowance]) -> None:
        """What was heard later holds."""
        await self._db.write(lambda connection: _record_allowances(connection, account, allowances))

    async def record_check(self, account: Account, at: int, problem: str = "") -> None:
        """It was looked after; ``trouble`` says why that told nothing."""
        await self._db.write(lambda connection: _record_check(connection, account, at, problem))

    async def set_in_use(self, account: Account, at: int) -> None:
        """Agents of its service work under this one from now on."""
        await self._db.write(lambda connection: _set_in_use(connection, account, at))

    async def record_use(self, account: Account, at: int) -> None:
        """An agent was started under it."""
        await self._db.write(lambda connection: _record_use(connection, account, at))


def _read_status(connection: Connection, account: Account) -> AccountStatus:
    key = (account.service, account.name)
    found = connection.execute(
        "SELECT last_used_at, in_use, checked_at, trouble FROM account WHERE service = ? AND name = ?", key
    ).fetchone()
    last_used_at, in_use, checked_at, trouble = cast("tuple[Any, ...]", found or (None, 0, None, ""))
    rows = connection.execute(
        "SELECT span, usage_type, most, current, percent_remaining, resets_at, checked_at, source FROM account_usage"
        " WHERE service = ? AND name = ? ORDER BY span",
        key,
    )
    return AccountStatus(
        account=account,
        is_in_use=bool(in_use),
        last_used_at=last_used_at,
        checked_at=checked_at,
        trouble=trouble,
        allowances=tuple(_build_allowance(row) for row in cast("Iterator[tuple[Any, ...]]", rows)),
    )


def _build_allowance(row: tuple[Any, ...]) -> Allowance:
    span, usage_type, limit, current, percent, resets_at, checked_at, source = row
    return Allowance(
        span=span,
        usage_type=usage_type,
        limit=limit,
        current=current,
        percent_remaining=percent,
        resets_at=resets_at,
        checked_at=checked_at,
        source=source,
    )


def _record_allowances(connection: Connection, account: Account, allowances: Sequence[Allowance]) -> None:
    for one in allowances:
        figures = (one.limit, one.current, one.percent_remaining, one.resets_at, one.checked_at)
        key = (account.service, account.name, replace_surrogates(one.span[:40]), one.usage_type)
        connection.execute(_UPSERT_USAGE, (*key, *figures, replace_surrogates(one.source[:100])))
    if allowances:
        _record_check(connection, account, max(one.checked_at for one in allowances), "")


def _record_check(connection: Connection, account: Account, at: int, problem: str) -> None:
    connection.execute(
        "INSERT INTO account (service, name, checked_at, trouble) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
        " SET checked_at = max(coalesce(checked_at, 0), ?3), trouble = ?4",
        (account.service, account.name, at, replace_surrogates(problem[:500])),
    )


def _set_in_use(connection: Connection, account: Account, at: int) -> None:
    connection.execute("UPDATE account SET in_use = 0 WHERE service = ?", (account.service,))
    _record_use(connection, account, at)
    key = (account.service, account.name)
    connection.execute("UPDATE account SET in_use = 1 WHERE service = ? AND name = ?", key)


def _record_use(connection: Connection, account: Account, at: int) -> None:
    connection.execute(
        "INSERT INTO account (service, name, last_used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
        " SET last_used_at = max(coalesce(last_used_at, 0), ?3)",
        (account.service, account.name, at),
    )
