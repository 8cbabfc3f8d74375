"""Build and render results that many operations share: listings with filters, copied fields, timestamps and ages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from termvisor.clock import compute_seconds_between, format_timestamp, parse_timestamp
from termvisor.model.event import Scalar
from termvisor.ops.api.envelope import SCHEMA_VERSION
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions

S = TypeVar("S", bound=Struct)
ListingFilters = dict[str, str | int | bool]


class BaseListing(Struct, frozen=True, kw_only=True):
    """Fields of every listing; subclasses add `summary` and `items`."""

    detail_fields: ClassVar[tuple[str, ...]] = ("generated_at",)  # the envelope has the time as well

    schema_version: int = SCHEMA_VERSION
    generated_at: str
    filters: ListingFilters = {}


def copy_fields(result_type: type[S], source: object, /, **fields: object) -> S:
    """Build a result from the attributes of ``source`` that match its field names; ``fields`` override them."""
    # A field that the source does not have keeps its default.
    names = [name for name in result_type.__struct_fields__ if name not in fields and hasattr(source, name)]
    return result_type(**{name: getattr(source, name) for name in names}, **fields)


def copy_values(source: object, /, *names: str) -> dict[str, Any]:
    """Return these attributes by name, to be used as fields of a result built from several sources."""
    return {name: getattr(source, name) for name in names}


def build_filters(**values: str | int | bool | None) -> ListingFilters:
    """Return the filters that are set."""
    return {name: value for name, value in values.items() if value is not None and value is not False}


def count_values(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def format_optional_timestamp(at: int | None) -> str | None:
    return None if at is None else format_timestamp(at)


def format_time_fields(fields: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the fields of an event or of evidence with instants (``…_at``), stored as integers, as ISO 8601."""
    return {
        name: format_timestamp(value) if name.endswith("_at") and isinstance(value, int) and value else value
        for name, value in fields.items()
    }


def compute_age(at: int | None, now: int) -> float | None:
    return None if at is None else compute_seconds_between(at, now)


def compute_remaining(until: int, now: int) -> float:
    """Return the seconds until this time; 0 if it has passed."""
    return max(0.0, compute_seconds_between(now, until))


def parse_time_filter(text: str | None, now: int) -> int | None:
    """Parse `--since` or `--until`. Raises BadRequest."""
    return None if text is None else parse_timestamp(text, now)


def render_listing(
    columns: Sequence[TableColumn], items: Sequence[Any], options: RenderOptions, *, empty: str, footer: str = ""
) -> str:
    """Render the table and its footer, or ``empty`` if there are no items; with `--quiet`, only the rows."""
    rows = render_table(columns, items, options)
    # Scripts count and split the lines, so `--quiet` prints nothing else.
    if options.is_quiet:
        return rows
    if not items:
        return empty
    return f"{rows}\n\n{footer}" if footer else rows


def format_empty_listing(noun: str, listing: BaseListing) -> str:
    """Return the message for a listing without items."""
    return f"No matching {noun}s." if listing.filters else f"No {noun}s."
