"""Store the usage limits of accounts and when each account was last used. Never stores credentials."""

from collections.abc import Sequence
from typing import Any, cast

from termvisor.model.agent.account import Account, AccountStatus, Allowance
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import RowSelector, StoreTable, replace_surrogates, run_read, run_write

_ALLOWANCES = RowSelector(Allowance, "account_usage", columns={"limit": "most"})
_UPSERT_USAGE = """
INSERT INTO account_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (service, name, span) DO UPDATE SET
    usage_type = excluded.usage_type, most = excluded.most, current = excluded.current,
    percent_remaining = excluded.percent_remaining, resets_at = excluded.resets_at,
    checked_at = excluded.checked_at, source = excluded.source
WHERE excluded.checked_at >= checked_at
"""


class AccountTable(StoreTable):
    @run_read
    def list_statuses(self, connection: Connection, accounts: Sequence[Account]) -> list[AccountStatus]:
        """Return the stored status of these accounts, in the given order."""
        return [_read_status(connection, account) for account in accounts]

    @run_write
    def record_allowances(self, connection: Connection, account: Account, allowances: Sequence[Allowance]) -> None:
        """Store allowances; an older report never replaces a newer one."""
        for allowance in allowances:
            row = (
                account.service,
                account.name,
                # Texts come from other programs, so their length is limited.
                replace_surrogates(allowance.span[:40]),
                allowance.usage_type,
                allowance.limit,
                allowance.current,
                allowance.percent_remaining,
                allowance.resets_at,
                allowance.checked_at,
                replace_surrogates(allowance.source[:100]),
            )
            connection.execute(_UPSERT_USAGE, row)
        if allowances:
            _record_check(connection, account, max(allowance.checked_at for allowance in allowances), "")

    @run_write
    def record_check(self, connection: Connection, account: Account, at: int, problem: str = "") -> None:
        """Record that the account was checked; ``problem`` is the reason if the check returned nothing."""
        _record_check(connection, account, at, problem)

    @run_write
    def set_in_use(self, connection: Connection, account: Account, at: int) -> None:
        """Make this the account that agents of its service use from now on."""
        connection.execute("UPDATE account SET in_use = 0 WHERE service = ?", (account.service,))
        _record_use(connection, account, at)
        key = (account.service, account.name)
        connection.execute("UPDATE account SET in_use = 1 WHERE service = ? AND name = ?", key)

    @run_write
    def record_use(self, connection: Connection, account: Account, at: int) -> None:
        """Record that an agent was started with this account."""
        _record_use(connection, account, at)


def _read_status(connection: Connection, account: Account) -> AccountStatus:
    key = (account.service, account.name)
    row = connection.execute(
        "SELECT last_used_at, in_use, checked_at, trouble FROM account WHERE service = ? AND name = ?", key
    ).fetchone()
    last_used_at, in_use, checked_at, problem = cast("tuple[Any, ...]", row or (None, 0, None, ""))
    return AccountStatus(
        account=account,
        is_in_use=bool(in_use),
        last_used_at=last_used_at,
        checked_at=checked_at,
        trouble=problem,
        allowances=tuple(_ALLOWANCES.list(connection, "WHERE service = ? AND name = ? ORDER BY span", key)),
    )


def _record_check(connection: Connection, account: Account, at: int, problem: str) -> None:
    connection.execute(
        "INSERT INTO account (service, name, checked_at, trouble) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
        " SET checked_at = max(coalesce(checked_at, 0), ?3), trouble = ?4",
        (account.service, account.name, at, replace_surrogates(problem[:500])),
    )


def _record_use(connection: Connection, account: Account, at: int) -> None:
    connection.execute(
        "INSERT INTO account (service, name, last_used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
        " SET last_used_at = max(coalesce(last_used_at, 0), ?3)",
        (account.service, account.name, at),
    )
