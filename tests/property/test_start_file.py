"""Laws of a start file: taking our block out gives what stood there, whatever it was; putting it in twice is once."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.setup.shell_integration import add_block, remove_block


def is_foreign(data: bytes) -> bool:
    """Without our own marker lines, which hypothesis reads in the source and likes to draw."""
    return b"visor setup shell" not in data


LINES = st.lists(st.sampled_from([b"alias x=y", b"", b"# >>>", b"\r", b"\xff\x00", b"# >>> visor", b"PS1='$ ' \\"]))
WRITTEN = st.builds(lambda lines, end: end.join(lines), LINES, st.sampled_from([b"\n", b"\r\n"]))
BYTES = st.binary().filter(is_foreign)
FILES = st.none() | BYTES | WRITTEN
BODIES = st.sampled_from([b"echo one\n", b"echo two\necho three\n", b"", b"\n\n"])


@given(FILES, BODIES)
def test_install_and_remove_is_nothing_at_all(data: bytes | None, body: bytes) -> None:
    assert remove_block(add_block(data, body)) == data


@given(FILES, BODIES, BODIES)
def test_installing_again_replaces_the_block_and_nothing_else(data: bytes | None, old: bytes, new: bytes) -> None:
    once = add_block(data, new)
    assert add_block(once, new) == once
    assert add_block(add_block(data, old), new) == once


@given(FILES, BODIES, BYTES, BYTES.filter(bool))
def test_what_was_written_around_the_block_later_stays(
    data: bytes | None, body: bytes, before: bytes, after: bytes
) -> None:
    installed = add_block(data, body)
    ended = data + b"\n" if data and not data.endswith(b"\n") else data or b""
    assert remove_block(before + b"\n" + installed + after) == before + b"\n" + ended + after
