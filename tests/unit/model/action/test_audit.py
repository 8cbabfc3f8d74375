"""The hash chain shows every change of an entry."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.model.action.audit import ChainBreak, HashChainEntry, HashChainVerifier, hash_entry


def build_chain(texts: list[str]) -> list[HashChainEntry]:
    made: list[HashChainEntry] = []
    for number, text in enumerate(texts, 1):
        previous = made[-1].hash if made else ""
        made.append(HashChainEntry(id=number, previous=previous, hash=hash_entry(previous, text), entry=text))
    return made


def find_break(chain: list[HashChainEntry], expected_hash: str = "") -> ChainBreak | None:
    verifier = HashChainVerifier(expected_hash)
    breaks = (found for entry in chain if (found := verifier.check_entry(entry)) is not None)
    return next(breaks, None) or verifier.check_end()


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.data())
def test_intact_chain_verifies_and_a_change_is_found_at_its_entry(texts: list[str], data: st.DataObject) -> None:
    chain = build_chain(texts)
    assert find_break(chain) is None
    at = data.draw(st.integers(0, len(chain) - 1))
    changed = [*chain[:at], replace(chain[at], entry=chain[at].entry + "x"), *chain[at + 1 :]]
    assert find_break(changed) == ChainBreak(at + 1, "its content was changed")


def test_missing_or_inserted_entry_is_found_at_the_next_one() -> None:
    one, two, three = build_chain(["a", "b", "c"])
    assert find_break([one, three]) == ChainBreak(3, "it does not follow entry 1")
    assert find_break([one, two, two]) == ChainBreak(2, "it does not follow entry 2")


def test_recomputed_chain_does_not_contain_the_expected_hash() -> None:
    true, forged = build_chain(["a", "b"]), build_chain(["a", "x"])
    assert find_break(true, expected_hash=true[1].hash) is None
    assert find_break(forged) is None
    assert find_break(forged, expected_hash=true[1].hash) == ChainBreak(2, "no entry up to it has the expected hash")


def test_redacted_entry_is_verified_by_its_place_only() -> None:
    one, two = build_chain(["a", "b"])
    chain = HashChainVerifier()
    assert chain.check_entry(replace(one, entry="***"), is_redacted=True) is None
    assert chain.check_entry(two) is None
