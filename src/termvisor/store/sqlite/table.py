"""Base class and helpers for tables: methods that run on a connection, rows as structs, WHERE clauses, row ids."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import msgspec
from msgspec import Struct

from termvisor.store.sqlite.database import Connection, Database

StructT = TypeVar("StructT", bound=Struct)
P = ParamSpec("P")
T = TypeVar("T")


class StoreTable:
    """Base of all tables. A method decorated with `run_read` or `run_write` gets the connection as its first argument.

    It runs in the reader or writer thread and is awaited by its callers, who do not pass the connection.
    """

    def __init__(self, db: Database):
        self._db = db


TableT = TypeVar("TableT", bound=StoreTable)
TableMethod = Callable[Concatenate[TableT, Connection, P], T]
AsyncTableMethod = Callable[Concatenate[TableT, P], Coroutine[Any, Any, T]]


def run_read(method: TableMethod[TableT, P, T]) -> AsyncTableMethod[TableT, P, T]:
    """Run the method on one consistent, read-only view of the database."""
    return _run_with(method, lambda db: db.read)


def run_write(method: TableMethod[TableT, P, T]) -> AsyncTableMethod[TableT, P, T]:
    """Run the method in its own transaction; an exception rolls it back."""
    return _run_with(method, lambda db: db.write)


def run_durable_write(method: TableMethod[TableT, P, T]) -> AsyncTableMethod[TableT, P, T]:
    """Run the method like `run_write`, and sync it to disk before the caller continues."""
    return _run_with(method, lambda db: db.write_durably)


def _run_with(
    method: TableMethod[TableT, P, T],
    get_runner: Callable[[Database], Callable[[Callable[[Connection], T]], Awaitable[T]]],
) -> AsyncTableMethod[TableT, P, T]:
    @wraps(method)
    async def run(self: TableT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await get_runner(self._db)(lambda connection: method(self, connection, *args, **kwargs))

    return run


class RowSelector(Generic[StructT]):
    """Select rows of one table as structs, one column for each field except those in ``omit``.

    ``columns`` maps a field to its column where the names differ, or to an SQL expression in parentheses; ``decoders``
    convert a stored value to the field's.
    """

    def __init__(
        self,
        struct: type[StructT],
        table: str,
        *,
        columns: Mapping[str, str] = {},
        decoders: Mapping[str, Callable[[Any], object]] = {},
        omit: Sequence[str] = (),
    ):
        self._struct, self._decoders = struct, tuple(decoders.items())
        self._fields = tuple(name for name in struct.__struct_fields__ if name not in omit)
        # In brackets because some columns are SQL keywords; in double quotes, an unknown name would become a string.
        names = (columns.get(name, name) for name in self._fields)
        self._select = f"SELECT {', '.join(name if name[0] == '(' else f'[{name}]' for name in names)} FROM {table}"

    def list(self, connection: Connection, clauses: str, values: Sequence[Any] = ()) -> list[StructT]:
        """Return the rows that ``clauses`` (WHERE, ORDER BY, LIMIT) select."""
        return [self._build(row) for row in connection.execute(f"{self._select} {clauses}", values)]

    def find(self, connection: Connection, clauses: str, values: Sequence[Any] = ()) -> StructT | None:
        """Return the first row that ``clauses`` select, or None."""
        row = connection.execute(f"{self._select} {clauses} LIMIT 1", values).fetchone()
        return None if row is None else self._build(row)

    def _build(self, row: tuple[Any, ...]) -> StructT:
        fields = dict(zip(self._fields, row, strict=True))
        for name, decode in self._decoders:
            fields[name] = decode(fields[name])
        return self._struct(**fields)


def insert_row(connection: Connection, table: str, values: Mapping[str, object], *, or_else: str = "") -> int:
    """Insert a row, given by column; return its id. ``or_else`` is a clause for conflicts."""
    names = ", ".join(f"[{name}]" for name in values)
    places = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places}) {or_else}", tuple(values.values()))
    return connection.last_insert_rowid()


def build_where(conditions: Mapping[str, object]) -> tuple[str, tuple[Any, ...]]:
    """Join the conditions whose value is not None with AND; return the clause (TRUE if none) and the values."""
    present = {condition: value for condition, value in conditions.items() if value is not None}
    return " AND ".join(present) or "TRUE", tuple(present.values())


def encode_json(value: object) -> str:
    """Encode a value for a JSON column."""
    return msgspec.json.encode(value).decode()


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates: SQLite stores UTF-8, and one such character would make every write of a pane fail."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_last_id(connection: Connection, table: str) -> int:
    """Return the highest id ever assigned in a table, 0 if none; max(id) would ignore deleted rows."""
    last_id: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return last_id or 0


def reserve_row_ids(connection: Connection, highest: Mapping[str, int]) -> None:
    """Ensure that new rows of these tables get ids above the given ones."""
    for table, row_id in highest.items():
        known: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
        if known is None:
            connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, row_id))
        elif known < row_id:
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (row_id, table))
