from dataclasses import dataclass

from msgspec import Struct

from termvisor.ops.render.results import (
    BaseListing,
    build_filters,
    compute_age,
    compute_remaining,
    copy_fields,
    count_values,
    format_empty_listing,
    format_optional_timestamp,
    parse_time_filter,
    render_listing,
)
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions
from termvisor.testing.fake_clock import NOON


@dataclass
class Stored:
    id: int
    name: str
    secret: str = "not copied"


class Shown(Struct, frozen=True, kw_only=True):
    id: int
    name: str
    at: str
    note: str = "default"


def test_fields_are_copied_by_name_and_given_ones_win() -> None:
    assert copy_fields(Shown, Stored(3, "a"), at="noon") == Shown(id=3, name="a", at="noon")
    assert copy_fields(Shown, Stored(3, "a"), at="noon", name="b", note="c").name == "b"


def test_a_listing_ends_with_its_footer_and_a_quiet_one_has_only_rows() -> None:
    columns, items = (TableColumn("ID", lambda item: str(item.id)),), [Stored(3, "a")]
    assert render_listing(columns, items, RenderOptions(), empty="none", footer="1 item") == "ID\n3\n\n1 item"
    assert render_listing(columns, items, RenderOptions(), empty="none") == "ID\n3"
    assert render_listing(columns, items, RenderOptions(is_quiet=True), empty="none", footer="1 item") == "3"
    assert render_listing(columns, [], RenderOptions(), empty="none", footer="0 items") == "none"
    assert render_listing(columns, [], RenderOptions(is_quiet=True), empty="none") == ""


def test_an_empty_listing_says_whether_filters_were_given() -> None:
    assert format_empty_listing("gap", BaseListing(generated_at="")) == "No gaps."
    assert format_empty_listing("gap", BaseListing(generated_at="", filters={"pane": "7"})) == "No matching gaps."


def test_the_remaining_time_is_never_negative() -> None:
    assert (compute_remaining(NOON + 1_500_000_000, NOON), compute_remaining(NOON, NOON + 1)) == (1.5, 0.0)


def test_only_given_values_count_as_filters() -> None:
    assert build_filters(session="a", pane=None, gone=False, limit=0) == {"session": "a", "limit": 0}


def test_values_are_counted_and_times_formatted() -> None:
    assert count_values(["b", "a", "b"]) == {"a": 1, "b": 2}
    assert (format_optional_timestamp(None), format_optional_timestamp(NOON)) == (None, "2026-01-01T12:00:00.000Z")
    assert (compute_age(None, NOON), compute_age(NOON, NOON + 1_500_000_000)) == (None, 1.5)
    assert (parse_time_filter(None, NOON), parse_time_filter("10s", NOON)) == (None, NOON - 10_000_000_000)
