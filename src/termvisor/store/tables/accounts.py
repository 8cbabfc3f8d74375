"""What is known of accounts: what was heard of their limits, and when each was used last. Never how they log in."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from termvisor.model.agent.account import Account, Allowance, Standing
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import storable

_LEARN = """
INSERT INTO account_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (service, name, span) DO UPDATE SET
    usage_type = excluded.usage_type, most = excluded.most, current = excluded.current,
    percent_remaining = excluded.percent_remaining, resets_at = excluded.resets_at,
    checked_at = excluded.checked_at, source = excluded.source
WHERE excluded.checked_at >= checked_at
"""


class Accounts:
    def __init__(self, db: Database):
        self._db = db

    async def standings(self, accounts: Sequence[Account]) -> list[Standing]:
        """What is known of these, in their order."""
        return await self._db.read(lambda connection: [_standing(connection, one) for one in accounts])

    async def learn(self, account: Account, allowances: Sequence[Allowance]) -> None:
        """What was heard later holds."""
        await self._db.write(lambda connection: _learn(connection, account, allowances))

    async def checked(self, account: Account, at: int, trouble: str = "") -> None:
        """It was looked after; ``trouble`` says why that told nothing."""
        await self._db.write(lambda connection: _checked(connection, account, at, trouble))

    async def use(self, account: Account, at: int) -> None:
        """Agents of its service work under this one from now on."""
        await self._db.write(lambda connection: _use(connection, account, at))

    async def used(self, account: Account, at: int) -> None:
        """An agent was started under it."""
        await self._db.write(lambda connection: _used(connection, account, at))


def _standing(connection: Connection, account: Account) -> Standing:
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
    return Standing(
        account=account,
        is_in_use=bool(in_use),
        last_used_at=last_used_at,
        checked_at=checked_at,
        trouble=trouble,
        allowances=tuple(_allowance(row) for row in cast("Iterator[tuple[Any, ...]]", rows)),
    )


def _allowance(row: tuple[Any, ...]) -> Allowance:
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


def _learn(connection: Connection, account: Account, allowances: Sequence[Allowance]) -> None:
    for one in allowances:
        figures = (one.limit, one.current, one.percent_remaining, one.resets_at, one.checked_at)
        key = (account.service, account.name, storable(one.span[:40]), one.usage_type)
        connection.execute(_LEARN, (*key, *figures, storable(one.source[:100])))
    if allowances:
        _checked(connection, account, max(one.checked_at for one in allowances), "")


def _checked(connection: Connection, account: Account, at: int, trouble: str) -> None:
    connection.execute(
        "INSERT INTO account (service, name, checked_at, trouble) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
        " SET checked_at = max(coalesce(checked_at, 0), ?3), trouble = ?4",
        (account.service, account.name, at, storable(trouble[:500])),
    )


def _use(connection: Connection, account: Account, at: int) -> None:
    connection.execute("UPDATE account SET in_use = 0 WHERE service = ?", (account.service,))
    _used(connection, account, at)
    key = (account.service, account.name)
    connection.execute("UPDATE account SET in_use = 1 WHERE service = ? AND name = ?", key)


def _used(connection: Connection, account: Account, at: int) -> None:
    connection.execute(
        "INSERT INTO account (service, name, last_used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
        " SET last_used_at = max(coalesce(last_used_at, 0), ?3)",
        (account.service, account.name, at),
    )
