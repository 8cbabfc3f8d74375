"""A chain of links: whatever is done to one of them shows."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.model.action.audit import BrokenChain
from termvisor.model.action.hash_chain import Chain, Link, hash_of


def links(texts: list[str]) -> list[Link]:
    made: list[Link] = []
    for number, text in enumerate(texts, 1):
        previous = made[-1].hash if made else ""
        made.append(Link(id=number, previous=previous, hash=hash_of(previous, text), entry=text))
    return made


def first_wrong(chain: list[Link], kept: str = "") -> BrokenChain | None:
    reader = Chain(kept)
    wrong = (found for link in chain if (found := reader.wrong(link)) is not None)
    return next(wrong, None) or reader.wrong_at_end()


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.data())
def test_a_whole_chain_fits_and_a_change_is_found_where_it_was_made(texts: list[str], data: st.DataObject) -> None:
    chain = links(texts)
    assert first_wrong(chain) is None
    at = data.draw(st.integers(0, len(chain) - 1))
    changed = [*chain[:at], replace(chain[at], entry=chain[at].entry + "x"), *chain[at + 1 :]]
    assert first_wrong(changed) == BrokenChain(at + 1, "its content was changed")


def test_a_link_that_is_missing_or_slipped_in_shows_at_the_next_one() -> None:
    one, two, three = links(["a", "b", "c"])
    assert first_wrong([one, three]) == BrokenChain(3, "it does not follow entry 1")
    assert first_wrong([one, two, two]) == BrokenChain(2, "it does not follow entry 2")


def test_hashes_that_were_all_computed_anew_do_not_hold_the_one_that_was_kept() -> None:
    true, forged = links(["a", "b"]), links(["a", "x"])
    assert first_wrong(true, kept=true[1].hash) is None
    assert first_wrong(forged) is None
    assert first_wrong(forged, kept=true[1].hash) == BrokenChain(2, "no entry up to it has the hash that was kept")


def test_of_a_masked_link_only_its_place_is_proven() -> None:
    one, two = links(["a", "b"])
    chain = Chain()
    assert chain.wrong(replace(one, entry="***"), is_masked=True) is None
    assert chain.wrong(two) is None
