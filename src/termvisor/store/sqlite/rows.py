"""Convert between structs and table rows: SELECT as structs, WHERE from optional filters, text and JSON columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from termvisor.store.sqlite.database import Connection

StructT = TypeVar("StructT", bound=Struct)


class RowSelector(Generic[StructT]):
    """Select rows of one table as structs, one column for each field except those in ``omit``.

    ``columns`` maps a field to its column where the names differ; ``decoders`` convert a stored value to the field's.
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
        # In brackets because some columns are SQL keywords; SQLite would read an unknown "name" as a text.
        names = ", ".join(f"[{columns.get(name, name)}]" for name in self._fields)
        self._select = f"SELECT {names} FROM {table}"

    def list(self, connection: Connection, clauses: str, values: Sequence[Any] = ()) -> list[StructT]:
        """Return the rows that ``clauses`` (WHERE, ORDER BY, LIMIT) select."""
        return [self._build(row) for row in connection.execute(f"{self._select} {clauses}", values)]

    def find(self, connection: Connection, clauses: str, values: Sequence[Any] = ()) -> StructT | None:
        """Return the first such row, or None."""
        row = connection.execute(f"{self._select} {clauses} LIMIT 1", values).fetchone()
        return None if row is None else self._build(row)

    def _build(self, row: tuple[Any, ...]) -> StructT:
        fields = dict(zip(self._fields, row, strict=True))
        for name, decode in self._decoders:
            fields[name] = decode(fields[name])
        return self._struct(**fields)


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
