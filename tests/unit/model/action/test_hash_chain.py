"""A chain of links: whatever is done to one of them shows."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.model.action.audit import ChainBreak
from termvisor.model.action.hash_chain import HashChainEntry, HashChainVerifier, hash_entry


def links(texts: list[str]) -> list[HashChainEntry]:
    made: list[HashChainEntry] = []
    for number, text in enumerate(texts, 1):
        previous = made[-1].hash if made else ""
        made.append(HashChainEntry(id=number, previous=previous, hash=hash_entry(previous, text), entry=text))
    return made


def first_wrong(chain: list[HashChainEntry], kept: str = "") -> ChainBreak | None:
    reader = HashChainVerifier(kept)
    wrong = (found for link in chain if (found := reader.check_entry(link)) is not None)
    return next(wrong, None) or reader.check_end()


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.data())
def test_a_whole_chain_fits_and_a_change_is_found_where_it_was_made(texts: list[str], data: st.DataObject) -> None:
    chain = links(texts)
    assert first_wrong(chain) is None
    at = data.draw(st.integers(0, len(chain) - 1))
    changed = [*chain[:at], replace(chain[at], entry=chain[at].entry + "x"), *chain[at + 1 :]]
    assert first_wrong(changed) == ChainBreak(at + 1, "its content was changed")


def test_a_link_that_is_missing_or_slipped_in_shows_at_the_next_one() -> None:
    one, two, three = links(["a", "b", "c"])
    assert first_wrong([one, three]) == ChainBreak(3, "it does not follow entry 1")
    assert first_wrong([one, two, two]) == ChainBreak(2, "it does not follow entry 2")


def test_hashes_that_were_all_computed_anew_do_not_hold_the_one_that_was_kept() -> None:
    true, forged = links(["a", "b"]), links(["a", "x"])
    assert first_wrong(true, kept=true[1].hash) is None
    assert first_wrong(forged) is None
    assert first_wrong(forged, kept=true[1].hash) == ChainBreak(2, "no entry up to it has the hash that was kept")


def test_of_a_masked_link_only_its_place_is_proven() -> None:
    one, two = links(["a", "b"])
    chain = HashChainVerifier()
    assert chain.check_entry(replace(one, entry="***"), is_redacted=True) is None
    assert chain.check_entry(two) is None
