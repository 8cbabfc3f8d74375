import pytest

from termvisor.errors import NotFound
from termvisor.ops.panes._listing import (
    build_filters,
    build_unknown_identity,
    compute_age,
    count_values,
    filter_panes,
    format_optional_timestamp,
    identify_all_panes,
    parse_time_filter,
)
from termvisor.ops.panes._pane_reference import resolve_pane, resolve_pane_id
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.sample_services import build_sample_services


async def test_a_living_pane_is_found_by_name_and_an_ended_one_by_number() -> None:
    services = await build_sample_services()
    assert (await resolve_pane(services, "work")).id == 1
    assert (await resolve_pane(services, "3")).gone_at is not None
    assert await resolve_pane_id(services, None) is None
    assert await resolve_pane_id(services, "%4") == 2
    with pytest.raises(NotFound):
        await resolve_pane(services, "%9")


async def test_filters_apply_together() -> None:
    services = await build_sample_services()
    assert [pane.id for pane in await filter_panes(services, {"session": "agents"})] == [2]
    assert [pane.id for pane in await filter_panes(services, {"session": "agents"}, include_gone=True)] == [2, 3]
    assert await filter_panes(services, {"session": "agents", "pane": "1"}) == []
    assert await filter_panes(services, {"target": "elsewhere"}) == []


def test_only_given_values_count_as_filters() -> None:
    assert build_filters(session="a", pane=None, gone=False, limit=0) == {"session": "a", "limit": 0}


async def test_a_pane_has_the_identity_that_the_contract_promises() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%5"))
    who = (await identify_all_panes(services))[1]
    assert (who.target, who.session_name, who.window_id, who.pane_id, who.id) == ("local", "work", "@1", "%5", 1)
    assert build_unknown_identity(9).id == 9


def test_small_words() -> None:
    assert count_values(["b", "a", "b"]) == {"a": 1, "b": 2}
    assert (format_optional_timestamp(None), format_optional_timestamp(NOON)) == (None, "2026-01-01T12:00:00.000Z")
    assert (compute_age(None, NOON), compute_age(NOON, NOON + 1_500_000_000)) == (None, 1.5)
    assert (parse_time_filter(None, NOON), parse_time_filter("10s", NOON)) == (None, NOON - 10_000_000_000)


@pytest.mark.parametrize("text", ["0", "01", "٣", "99", "9" * 30, "-1"])
async def test_an_unknown_pane_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="not found"):
        await resolve_pane(await build_sample_services(), text)
