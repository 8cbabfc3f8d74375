"""The hash chain of an exported audit log."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.audit._chain_check import ChainProof, verify_lines
from termvisor.ops.audit.audit_export import AuditLine
from tests.unit.model.action.test_hash_chain import build_chain


def exported(*texts: str) -> list[bytes]:
    chain = build_chain(list(texts))
    lines = [AuditLine(id=link.id, previous=link.previous, hash=link.hash, entry=link.entry) for link in chain]
    return [
        *map(encode_json_line, lines),
        encode_json_line(AuditLine(entries=len(chain), hash=chain[-1].hash if chain else "")),
    ]


def broken(lines: list[bytes], kept: str = "") -> tuple[int, str] | None:
    found = verify_lines(lines, kept).broken
    return None if found is None else (found.id, found.what)


def test_an_intact_file_reports_its_entries_and_hash() -> None:
    chain = build_chain(["a", "b", "c"])
    assert verify_lines(exported("a", "b", "c")) == ChainProof(entries=3, hash=chain[-1].hash)
    assert verify_lines(exported()) == ChainProof(entries=0, hash="")


@given(st.lists(st.text(max_size=12), min_size=1, max_size=5), st.data())
def test_no_line_can_be_removed_and_no_byte_of_an_entry_changed(texts: list[str], data: st.DataObject) -> None:
    lines = exported(*texts)
    assert verify_lines(lines).broken is None
    at = data.draw(st.integers(0, len(lines) - 1))
    assert broken([*lines[:at], *lines[at + 1 :]]) is not None
    changed = exported(*texts[:at], "another text", *texts[at + 1 :])
    assert (
        texts[at:] == []
        or broken([*lines[:at], changed[at], *lines[at + 1 :]], build_chain(texts)[-1].hash) is not None
    )


def test_tampering_is_found_at_the_exact_entry() -> None:
    one, two, three, end = exported("first", "second", "third")
    cases = {
        "changed": ([one, two.replace(b"second", b"sec0nd"), three, end], (2, "its content was changed")),
        "taken out": ([one, three, end], (3, "it does not follow entry 1")),
        "cut": ([one, two, end], (3, "it was removed")),
        "no end": ([one, two, three], (4, "the end of the file is missing")),
        "added": ([one, two, three, end, three], (4, "not an audit entry")),
        "garbage": ([one, b"\xff\n", three, end], (2, "not an audit entry")),
    }
    assert {name: broken(lines) for name, (lines, _) in cases.items()} == {
        name: result for name, (_, result) in cases.items()
    }


def test_a_file_whose_hashes_were_computed_again_lacks_the_hash_that_was_kept() -> None:
    kept = build_chain(["a", "b"])[-1].hash
    assert broken(exported("a", "b"), kept) is None
    assert broken(exported("a", "x"), kept) == (2, "no entry up to it has the expected hash")


def test_masked_entries_are_counted_and_their_place_is_proven() -> None:
    chain = build_chain(["a", "b"])
    lines = [
        encode_json_line(AuditLine(id=1, hash=chain[0].hash, entry="***", is_masked=True)),
        encode_json_line(AuditLine(id=2, previous=chain[0].hash, hash=chain[1].hash, entry="b")),
        encode_json_line(AuditLine(entries=2, hash=chain[1].hash)),
    ]
    assert verify_lines(lines) == ChainProof(entries=2, hash=chain[1].hash, masked=(1,))
