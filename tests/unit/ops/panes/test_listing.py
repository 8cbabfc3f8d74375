import pytest

from termvisor.errors import NotFound
from termvisor.ops.panes._listing import (
    age_of,
    chosen,
    counts,
    filters,
    identities,
    instant,
    moment,
    named,
    named_id,
    nobody,
)
from termvisor.testing.asking import lively
from termvisor.testing.world import NOON, MemoryWorld, shell


async def test_a_living_pane_is_found_by_name_and_an_ended_one_by_number() -> None:
    world = await lively()
    assert (await named(world, "work")).id == 1
    assert (await named(world, "3")).gone_at is not None
    assert await named_id(world, None) is None
    assert await named_id(world, "%4") == 2
    with pytest.raises(NotFound):
        await named(world, "%9")


async def test_filters_apply_together() -> None:
    world = await lively()
    assert [pane.id for pane in await chosen(world, {"session": "agents"})] == [2]
    assert [pane.id for pane in await chosen(world, {"session": "agents"}, gone=True)] == [2, 3]
    assert await chosen(world, {"session": "agents", "pane": "1"}) == []
    assert await chosen(world, {"target": "elsewhere"}) == []


def test_only_what_was_asked_for_counts_as_a_filter() -> None:
    assert filters(session="a", pane=None, gone=False, limit=0) == {"session": "a", "limit": 0}


async def test_a_pane_has_the_identity_that_the_contract_promises() -> None:
    world = MemoryWorld()
    world.pane(shell("%5"))
    who = (await identities(world))[1]
    assert (who.target, who.session_name, who.window_id, who.pane_id, who.id) == ("local", "work", "@1", "%5", 1)
    assert nobody(9).id == 9


def test_small_words() -> None:
    assert counts(["b", "a", "b"]) == {"a": 1, "b": 2}
    assert (instant(None), instant(NOON)) == (None, "2026-01-01T12:00:00.000Z")
    assert (age_of(None, NOON), age_of(NOON, NOON + 1_500_000_000)) == (None, 1.5)
    assert (moment(None, NOON), moment("10s", NOON)) == (None, NOON - 10_000_000_000)


@pytest.mark.parametrize("text", ["0", "01", "٣", "99", "9" * 30, "-1"])
async def test_a_number_that_is_nobodys_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="no pane is called"):
        await named(await lively(), text)
