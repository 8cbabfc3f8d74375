"""Store what allows an action: approval requests with their votes, permits, and reservations of panes.

An approval can be used once, before it expires, and only for the action whose hash was approved.
A pane has at most one active reservation at a time.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import BadRequest, StateConflict
from termvisor.model.action.approval import (
    Approval,
    ApprovalOutcome,
    ApprovalState,
    ApprovalVote,
    Permit,
    PermitScope,
    Reservation,
)
from termvisor.model.action.audit import AuditEntry
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.table import RowSelector, StoreTable, encode_json, run_durable_write, run_read, run_write
from termvisor.store.tables.audit import AuditTable, add_entries

_SELECT_APPROVAL = "SELECT id, asked, state FROM question"
# A request of a plan may be executed once the one before it was.
_IS_NEXT = (
    "coalesce((SELECT one.state FROM question AS one WHERE one.id = question.asked ->> '$.after'), 'used') = 'used'"
)
_SAME_ACTION = "action_hash = ? AND expires_at > ? AND asked ->> '$.actor.uid' = ? AND asked ->> '$.needs' >= ?"
_APPROVAL_DECODER = msgspec.json.Decoder(Approval)
_CLOSED_TEXT: dict[ApprovalState, str] = {
    "allowed": "was already approved",
    "denied": "was already denied",
    "edited": "was already answered with another text",
    "expired": "has expired",
    "withdrawn": "was withdrawn",
    "used": "was already approved, and the action was executed",
}
_RESERVATIONS = RowSelector(Reservation, "reservation")
_IS_RESERVED = "released_at IS NULL AND expires_at > ?"
_PERMITS = RowSelector(Permit, "permit", decoders={"scope": msgspec.json.Decoder(PermitScope).decode})


class ApprovalTable(StoreTable):
    def __init__(self, db: Database, audit: AuditTable):
        super().__init__(db)
        self._audit = audit

    async def add_request(self, approval: Approval, entry: AuditEntry) -> Approval:
        """Store a request and its audit entry; return and count the open one for the same action if there is one."""
        return await self._audit.write_with_entries(lambda connection: _add_request(connection, approval, entry))

    async def answer(self, number: int, vote: ApprovalVote, entry: AuditEntry) -> Approval:
        """Add a vote; return the updated request. Raises BadRequest if it does not exist, Conflict if it is closed."""
        return await self._audit.write_with_entries(lambda connection: _answer(connection, number, vote, entry))

    @run_durable_write
    def consume(self, connection: Connection, number: int, action_hash: str, at: int) -> bool:
        """Consume an approval; return False if it does not currently allow exactly this action."""
        connection.execute(
            "UPDATE question SET state = 'used'"
            f" WHERE id = ? AND action_hash = ? AND state = 'allowed' AND expires_at > ? AND {_IS_NEXT}",
            (number, action_hash, at),
        )
        return bool(connection.changes())

    @run_read
    def find_allowed(self, connection: Connection, action_hash: str, uid: int, at: int, needs: int = 1) -> int | None:
        """Return the unused approval of this action for this user with at least ``needs`` required votes."""
        row = connection.execute(
            f"SELECT id FROM question WHERE state = 'allowed' AND {_SAME_ACTION} ORDER BY {_IS_NEXT} DESC, id LIMIT 1",
            (action_hash, at, uid, needs),
        ).fetchone()
        return int(row[0]) if row else None

    @run_write
    def expire(self, connection: Connection, at: int) -> list[Approval]:
        """Close and return the open requests that expired by this time."""
        rows = connection.execute(f"{_SELECT_APPROVAL} WHERE state = 'open' AND expires_at <= ?", (at,)).fetchall()
        connection.execute("UPDATE question SET state = 'expired' WHERE state = 'open' AND expires_at <= ?", (at,))
        return [replace(_build_approval(connection, row), state="expired") for row in rows]

    @run_write
    def withdraw(self, connection: Connection, number: int, outcome: ApprovalOutcome) -> Approval | None:
        """Close a request whose caller no longer waits, also an approved one; return None if it was settled before."""
        connection.execute(
            "UPDATE question SET state = 'withdrawn', asked = json_set(asked, '$.outcome', json(?))"
            " WHERE id = ? AND state IN ('open', 'allowed')",
            (encode_json(outcome), number),
        )
        return _find_approval(connection, number) if connection.changes() else None

    async def bind_request(self, number: int, approval: Approval, entry: AuditEntry) -> Approval:
        """Bind a request to the action that its agent asks for now; number, age and answers stay."""
        return await self._audit.write_with_entries(
            lambda connection: _bind_request(connection, number, approval, entry)
        )

    @run_write
    def set_outcome(self, connection: Connection, number: int, outcome: ApprovalOutcome) -> Approval | None:
        """Store the outcome of a request and return the request."""
        connection.execute(
            "UPDATE question SET asked = json_set(asked, '$.outcome', json(?)) WHERE id = ?",
            (encode_json(outcome), number),
        )
        return _find_approval(connection, number)

    @run_read
    def list_unsettled(self, connection: Connection, kind: str) -> list[Approval]:
        """Return the requests for this kind of action that are open, or approved and not executed yet."""
        rows = connection.execute(
            f"{_SELECT_APPROVAL} WHERE state IN ('open', 'allowed') AND asked ->> '$.kind' = ?", (kind,)
        ).fetchall()
        return [_build_approval(connection, row) for row in rows]

    @run_read
    def find(self, connection: Connection, number: int) -> Approval | None:
        return _find_approval(connection, number)

    @run_read
    def list(self, connection: Connection, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        """Return the newest requests up to the limit, oldest first."""
        where = "state = 'open'" if is_open else "TRUE"
        rows = connection.execute(
            f"{_SELECT_APPROVAL} WHERE {where} ORDER BY id DESC LIMIT ?", (max(0, limit),)
        ).fetchall()
        return [_build_approval(connection, row) for row in reversed(rows)]


class PermitTable(StoreTable):
    @run_durable_write
    def add(self, connection: Connection, permit: Permit) -> Permit:
        connection.execute(
            "INSERT INTO permit (at, expires_at, scope, who) VALUES (?, ?, ?, ?)",
            (permit.at, permit.expires_at, encode_json(permit.scope), permit.who),
        )
        return replace(permit, id=connection.last_insert_rowid())

    @run_read
    def list(self, connection: Connection, at: int) -> list[Permit]:
        """Return the permits that are valid at this time."""
        clauses = "WHERE revoked_at IS NULL AND expires_at > ? ORDER BY id"
        return _PERMITS.list(connection, clauses, (at,))

    @run_durable_write
    def revoke(self, connection: Connection, number: int, at: int) -> bool:
        """Revoke a permit; return False if there is none to revoke."""
        connection.execute("UPDATE permit SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, number))
        return bool(connection.changes())


def _add_request(connection: Connection, approval: Approval, entry: AuditEntry) -> Approval:
    existing = connection.execute(
        f"{_SELECT_APPROVAL} WHERE state = 'open' AND {_SAME_ACTION}",
        (approval.action_hash, approval.at, approval.actor.uid, approval.needs),
    ).fetchone()
    if existing:
        known = _build_approval(connection, existing)
        connection.execute(
            "UPDATE question SET asked = json_set(asked, '$.count', ?) WHERE id = ?", (known.count + 1, known.id)
        )
        return replace(known, count=known.count + 1)
    connection.execute(
        "INSERT INTO question (at, expires_at, correlation, action_hash, pane, asked) VALUES (?, ?, ?, ?, ?, ?)",
        (
            approval.at,
            approval.expires_at,
            approval.correlation,
            approval.action_hash,
            approval.pane,
            encode_json(approval),
        ),
    )
    number = connection.last_insert_rowid()
    add_entries(connection, [entry])
    return replace(approval, id=number)


def _answer(connection: Connection, number: int, vote: ApprovalVote, entry: AuditEntry) -> Approval:
    approval = _find_approval(connection, number)
    if approval is None:
        raise BadRequest(f"approval request {number} not found", hint="`visor inbox` lists the open requests.")
    # A denial also revokes an approval that was not used yet.
    is_answerable = approval.state == "open" or (approval.state == "allowed" and vote.answer == "deny")
    if not is_answerable or approval.expires_at <= vote.at:
        state: ApprovalState = "expired" if approval.state == "open" else approval.state
        raise StateConflict(
            f"approval request {number} {_CLOSED_TEXT[state]}", hint="Repeat the action to create a new request."
        )
    if vote.after is not None:
        _check_earlier_request(connection, number, vote.after)
    connection.execute(
        "INSERT INTO voice (question, at, who, answer) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET at = excluded.at, answer = excluded.answer WHERE excluded.answer != 'allow'",
        (number, vote.at, vote.who, vote.answer),
    )
    add_entries(connection, [entry])
    votes = _read_votes(connection, number)
    state = _compute_state(votes, approval.needs)
    connection.execute(
        "UPDATE question SET state = ?, answered_at = ?, asked = json_set(asked, '$.after', ?, '$.reason', ?)"
        " WHERE id = ?",
        (state, vote.at, vote.after, vote.reason, number),
    )
    return replace(approval, state=state, voices=votes, after=vote.after, reason=vote.reason)


def _bind_request(connection: Connection, number: int, approval: Approval, entry: AuditEntry) -> Approval:
    known = _find_approval(connection, number)
    if known is None:
        raise BadRequest(f"approval request {number} not found", hint="`visor inbox` lists the open requests.")
    bound = replace(approval, id=number, at=known.at, count=known.count, reason=known.reason)
    connection.execute(
        "UPDATE question SET expires_at = ?, correlation = ?, action_hash = ?, asked = ? WHERE id = ?",
        (bound.expires_at, bound.correlation, bound.action_hash, encode_json(bound), number),
    )
    add_entries(connection, [entry])
    return replace(bound, state=known.state, voices=known.voices)


def _check_earlier_request(connection: Connection, number: int, after: int) -> None:
    earlier = _find_approval(connection, after)
    if earlier is None or after == number or earlier.state not in ("allowed", "used"):
        raise BadRequest(f"request {after} is not approved", hint=f"Approve it first: `visor approve {after}`.")


def _compute_state(votes: tuple[ApprovalVote, ...], needs: int) -> ApprovalState:
    """Return the state after these votes: one denial closes the request, ``needs`` users must allow it."""
    answers = [vote.answer for vote in votes]
    if "deny" in answers:
        return "denied"
    if "edit" in answers:
        return "edited"
    return "allowed" if len(answers) >= needs else "open"


def _find_approval(connection: Connection, number: int) -> Approval | None:
    row = connection.execute(f"{_SELECT_APPROVAL} WHERE id = ?", (number,)).fetchone()
    return _build_approval(connection, row) if row else None


def _build_approval(connection: Connection, row: tuple[Any, ...]) -> Approval:
    number, asked, state = row
    return replace(_APPROVAL_DECODER.decode(asked), id=number, state=state, voices=_read_votes(connection, number))


def _read_votes(connection: Connection, number: int) -> tuple[ApprovalVote, ...]:
    rows = connection.execute("SELECT who, answer, at FROM voice WHERE question = ? ORDER BY at", (number,))
    return tuple(msgspec.convert(row, ApprovalVote) for row in ({"who": w, "answer": a, "at": t} for w, a, t in rows))


class ReservationTable(StoreTable):
    def __init__(self, db: Database):
        super().__init__(db)
        self._latest_expiry: int | None = None
        """Latest expiry of all reservations, after which no query is needed; None until it has been read."""

    async def hold(self, requested: Reservation) -> Reservation:
        """Reserve a pane, or extend the owner's reservation; return the active one, which may be another owner's."""
        active = await self._db.write(lambda connection: _hold(connection, requested))
        self._latest_expiry = max(self._latest_expiry or 0, active.expires_at)
        return active

    @run_write
    def release(self, connection: Connection, number: int, at: int) -> bool:
        """Release a reservation; return False if it is not active."""
        connection.execute(f"UPDATE reservation SET released_at = ? WHERE id = ? AND {_IS_RESERVED}", (at, number, at))
        return bool(connection.changes())

    @run_read
    def list(self, connection: Connection, at: int) -> list[Reservation]:
        """Return the active reservations."""
        clauses = f"WHERE {_IS_RESERVED} ORDER BY id"
        return _RESERVATIONS.list(connection, clauses, (at,))

    async def find_for_pane(self, pane: PaneId, at: int) -> Reservation | None:
        """Return the active reservation of a pane."""
        if self._latest_expiry is None:
            stored = await self._db.read(_read_latest_expiry)
            self._latest_expiry = max(self._latest_expiry or 0, stored)
        # Every send checks the reservation, and reservations are rare, so this saves a query.
        if at >= self._latest_expiry:
            return None
        return await self._db.read(lambda connection: _find_for_pane(connection, pane, at))


def _hold(connection: Connection, requested: Reservation) -> Reservation:
    active = _find_for_pane(connection, requested.pane, requested.at)
    if active is None:
        connection.execute(
            "INSERT INTO reservation (pane, owner, at, expires_at) VALUES (?, ?, ?, ?)",
            (requested.pane, requested.owner, requested.at, requested.expires_at),
        )
        return replace(requested, id=connection.last_insert_rowid())
    if active.owner != requested.owner:
        return active
    until = max(active.expires_at, requested.expires_at)
    connection.execute("UPDATE reservation SET expires_at = ? WHERE id = ?", (until, active.id))
    return replace(active, expires_at=until)


def _find_for_pane(connection: Connection, pane: PaneId, at: int) -> Reservation | None:
    return _RESERVATIONS.find(connection, f"WHERE pane = ? AND {_IS_RESERVED} ORDER BY id DESC", (pane, at))


def _read_latest_expiry(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(expires_at), 0) FROM reservation").get)
