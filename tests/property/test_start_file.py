"""The block in a shell start file: removing it restores the file, and adding it is idempotent."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.setup.shell_integration import add_block, remove_block


def has_no_marker(data: bytes) -> bool:
    """Return True without the marker lines, which hypothesis finds in the source and draws as constants."""
    return b"visor setup shell" not in data


LINES = st.lists(st.sampled_from([b"alias x=y", b"", b"# >>>", b"\r", b"\xff\x00", b"# >>> visor", b"PS1='$ ' \\"]))
WRITTEN = st.builds(lambda lines, end: end.join(lines), LINES, st.sampled_from([b"\n", b"\r\n"]))
BYTES = st.binary().filter(has_no_marker)
FILES = st.none() | BYTES | WRITTEN
BODIES = st.sampled_from([b"echo one\n", b"echo two\necho three\n", b"", b"\n\n"])


@given(FILES, BODIES)
def test_adding_and_removing_the_block_restores_the_file(data: bytes | None, body: bytes) -> None:
    assert remove_block(add_block(data, body)) == data


@given(FILES, BODIES, BODIES)
def test_adding_the_block_again_replaces_only_the_block(data: bytes | None, old: bytes, new: bytes) -> None:
    once = add_block(data, new)
    assert add_block(once, new) == once
    assert add_block(add_block(data, old), new) == once


@given(FILES, BODIES, BYTES, BYTES.filter(bool))
def test_removing_the_block_keeps_text_added_around_it(
    data: bytes | None, body: bytes, before: bytes, after: bytes
) -> None:
    installed = add_block(data, body)
    ended = data + b"\n" if data and not data.endswith(b"\n") else data or b""
    assert remove_block(before + b"\n" + installed + after) == before + b"\n" + ended + after
