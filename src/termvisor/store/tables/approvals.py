"""Questions to people and their answers. An answer counts once, in time, for the very action that was asked about."""

from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import BadRequest, Conflict
from termvisor.model.action.approval import Approval, ApprovalState, ApprovalVote, Permit, PermitScope
from termvisor.model.action.audit import AuditEntry
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.tables.audit import AuditTable, add_entries

_SELECT_APPROVAL = "SELECT id, asked, state FROM question"
_SAME_ACTION = "action_hash = ? AND expires_at > ? AND asked ->> '$.actor.uid' = ? AND asked ->> '$.needs' >= ?"
_SELECT_PERMIT = "SELECT id, at, expires_at, scope, who, revoked_at FROM permit"
_APPROVAL_DECODER = msgspec.json.Decoder(Approval)
_SCOPE_DECODER = msgspec.json.Decoder(PermitScope)


class ApprovalTable:
    def __init__(self, db: Database, audit: AuditTable):
        self._db, self._audit = db, audit

    async def add_request(self, approval: Approval, entry: AuditEntry) -> Approval:
        """Put it into the inbox; the same question that is open already is not asked twice."""
        return await self._audit.write_with_entries(lambda connection: _add_request(connection, approval, entry))

    async def answer(self, number: int, vote: ApprovalVote, entry: AuditEntry) -> Approval:
        """Raises ``BadRequest`` for no such question, ``Conflict`` for one that is no longer open."""
        return await self._audit.write_with_entries(lambda connection: _answer(connection, number, vote, entry))

    async def consume(self, number: int, action_hash: str, at: int) -> bool:
        """Whether it is allowed, for exactly this action, in time; if so it can never be used again."""
        return await self._db.write_durably(lambda connection: _consume(connection, number, action_hash, at))

    async def find_allowed(self, action_hash: str, uid: int, at: int, needs: int = 1) -> int | None:
        """The question in which so many people allowed this user this very action, and it is not done yet."""
        return await self._db.read(lambda connection: _find_allowed(connection, (action_hash, at, uid, needs)))

    async def expire(self, at: int) -> list[Approval]:
        """Close the questions whose time is over."""
        return await self._db.write(lambda connection: _expire(connection, at))

    async def withdraw(self, number: int) -> Approval | None:
        """Close a question that nobody waits for any more; None when it is not open."""
        return await self._db.write(lambda connection: _withdraw(connection, number))

    async def withdraw_leftover(self, kind: str) -> None:
        """Close what an earlier daemon left open for callers who waited at its door."""
        await self._db.write(
            lambda connection: connection.execute(
                "UPDATE question SET state = 'withdrawn' WHERE state = 'open' AND asked ->> '$.kind' = ?", (kind,)
            )
        )

    async def find(self, number: int) -> Approval | None:
        return await self._db.read(lambda connection: _find_approval(connection, number))

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        """Oldest first; the newest ones where there are more than the limit."""
        return await self._db.read(lambda connection: _list_approvals(connection, is_open, limit))


class PermitTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, permit: Permit) -> Permit:
        return await self._db.write_durably(lambda connection: _add_permit(connection, permit))

    async def list(self, at: int) -> list[Permit]:
        """Those that hold at this time."""
        where = "revoked_at IS NULL AND expires_at > ?"
        return await self._db.read(
            lambda connection: [
                _build_permit(row) for row in connection.execute(f"{_SELECT_PERMIT} WHERE {where} ORDER BY id", (at,))
            ]
        )

    async def revoke(self, number: int, at: int) -> bool:
        """Whether there was one to revoke."""
        return await self._db.write_durably(lambda connection: _revoke(connection, number, at))


def _add_request(connection: Connection, approval: Approval, entry: AuditEntry) -> Approval:
    asked = connection.execute(
        f"{_SELECT_APPROVAL} WHERE state = 'open' AND {_SAME_ACTION}",
        (approval.action_hash, approval.at, approval.actor.uid, approval.needs),
    ).fetchone()
    if asked:
        return _build_approval(connection, asked)
    connection.execute(
        "INSERT INTO question (at, expires_at, correlation, action_hash, pane, asked) VALUES (?, ?, ?, ?, ?, ?)",
        (
            approval.at,
            approval.expires_at,
            approval.correlation,
            approval.action_hash,
            approval.pane,
            msgspec.json.encode(approval).decode(),
        ),
    )
    number = connection.last_insert_rowid()
    add_entries(connection, [entry])
    return replace(approval, id=number)


def _answer(connection: Connection, number: int, vote: ApprovalVote, entry: AuditEntry) -> Approval:
    approval = _find_approval(connection, number)
    if approval is None:
        raise BadRequest(f"there is no question {number}", hint="`visor inbox` lists the open ones.")
    if approval.state != "open" or approval.expires_at <= vote.at:
        ended = "expired" if approval.state == "open" else approval.state
        raise Conflict(f"question {number} is {ended}", hint="Ask for the action again to get a new question.")
    connection.execute(
        "INSERT INTO voice (question, at, who, answer) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET at = excluded.at, answer = excluded.answer WHERE excluded.answer != 'allow'",
        (number, vote.at, vote.who, vote.answer),
    )
    add_entries(connection, [entry])
    voices = _read_votes(connection, number)
    state = _compute_state(voices, approval.needs)
    connection.execute("UPDATE question SET state = ?, answered_at = ? WHERE id = ?", (state, vote.at, number))
    return replace(approval, state=state, voices=voices)


def _compute_state(votes: tuple[ApprovalVote, ...], needs: int) -> ApprovalState:
    """One no is enough; a yes counts for one person."""
    answers = [voice.answer for voice in votes]
    if "deny" in answers:
        return "denied"
    if "edit" in answers:
        return "edited"
    return "allowed" if len(answers) >= needs else "open"


def _consume(connection: Connection, number: int, action_hash: str, at: int) -> bool:
    connection.execute(
        "UPDATE question SET state = 'used' WHERE id = ? AND action_hash = ? AND state = 'allowed' AND expires_at > ?",
        (number, action_hash, at),
    )
    return bool(connection.changes())


def _find_allowed(connection: Connection, criteria: tuple[str, int, int, int]) -> int | None:
    row = connection.execute(
        f"SELECT id FROM question WHERE state = 'allowed' AND {_SAME_ACTION} ORDER BY id LIMIT 1", criteria
    ).fetchone()
    return int(row[0]) if row else None


def _expire(connection: Connection, at: int) -> list[Approval]:
    rows = connection.execute(f"{_SELECT_APPROVAL} WHERE state = 'open' AND expires_at <= ?", (at,)).fetchall()
    connection.execute("UPDATE question SET state = 'expired' WHERE state = 'open' AND expires_at <= ?", (at,))
    return [replace(_build_approval(connection, row), state="expired") for row in rows]


def _withdraw(connection: Connection, number: int) -> Approval | None:
    connection.execute("UPDATE question SET state = 'withdrawn' WHERE id = ? AND state = 'open'", (number,))
    return _find_approval(connection, number) if connection.changes() else None


def _find_approval(connection: Connection, number: int) -> Approval | None:
    row = connection.execute(f"{_SELECT_APPROVAL} WHERE id = ?", (number,)).fetchone()
    return _build_approval(connection, row) if row else None


def _list_approvals(connection: Connection, is_open: bool, limit: int) -> list[Approval]:
    where = "state = 'open'" if is_open else "TRUE"
    rows = connection.execute(f"{_SELECT_APPROVAL} WHERE {where} ORDER BY id DESC LIMIT ?", (max(0, limit),)).fetchall()
    return [_build_approval(connection, row) for row in reversed(rows)]


def _build_approval(connection: Connection, row: tuple[Any, ...]) -> Approval:
    number, asked, state = row
    return replace(_APPROVAL_DECODER.decode(asked), id=number, state=state, voices=_read_votes(connection, number))


def _read_votes(connection: Connection, number: int) -> tuple[ApprovalVote, ...]:
    rows = connection.execute("SELECT who, answer, at FROM voice WHERE question = ? ORDER BY at", (number,))
    return tuple(msgspec.convert(row, ApprovalVote) for row in ({"who": w, "answer": a, "at": t} for w, a, t in rows))


def _add_permit(connection: Connection, permit: Permit) -> Permit:
    scope = msgspec.json.encode(permit.scope).decode()
    connection.execute(
        "INSERT INTO permit (at, expires_at, scope, who) VALUES (?, ?, ?, ?)",
        (permit.at, permit.expires_at, scope, permit.who),
    )
    return replace(permit, id=connection.last_insert_rowid())


def _build_permit(row: tuple[Any, ...]) -> Permit:
    number, at, expires_at, scope, who, revoked_at = row
    return Permit(
        id=number, at=at, expires_at=expires_at, scope=_SCOPE_DECODER.decode(scope), who=who, revoked_at=revoked_at
    )


def _revoke(connection: Connection, number: int, at: int) -> bool:
    connection.execute("UPDATE permit SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, number))
    return bool(connection.changes())
