import pytest

from termvisor.errors import ConfigError
from termvisor.setup.shell_startup_file import add_block, has_block, remove_block

BODY = b"echo hello\n"
BEGIN, END = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"


def test_the_block_is_added_between_markers_at_the_end() -> None:
    assert add_block(b"alias x=y\n", BODY) == b"alias x=y\n" + BEGIN + b"\necho hello\n" + END + b"\n"
    assert has_block(add_block(None, BODY))
    assert not has_block(b"# visor setup shell\n")


@pytest.mark.parametrize("data", [None, b"", b"x", b"x\n", b"x\r\n", b"x\r\ny", b"\xff\xfe", b"\n\n"])
def test_removing_the_block_restores_the_content(data: bytes | None) -> None:
    assert remove_block(add_block(data, BODY)) == data


def test_a_new_block_replaces_the_old_one() -> None:
    edited = add_block(b"before", b"old\n") + b"after\n"
    assert add_block(edited, BODY) == add_block(b"before", BODY) + b"after\n"
    assert remove_block(edited) == b"before\nafter\n"


def test_a_created_file_with_other_content_is_kept_on_removal() -> None:
    assert remove_block(add_block(None, BODY) + b"alias x=y\n") == b"alias x=y\n"


def test_a_block_that_an_editor_gave_other_line_ends_is_found() -> None:
    assert remove_block(add_block(b"x\n", BODY).replace(b"\n", b"\r\n")) == b"x\r\n"
    assert remove_block(add_block(b"x\n", BODY).removesuffix(b"\n")) == b"x\n"


@pytest.mark.parametrize(
    "data",
    [BEGIN + b"\nx\n", b"x\n" + END + b"\n", END + b"\n" + BEGIN + b"\n", 2 * add_block(b"", BODY)],
    ids=["no end", "no begin", "the wrong way round", "twice"],
)
def test_damaged_markers_are_refused(data: bytes) -> None:
    for change in (lambda: add_block(data, BODY), lambda: remove_block(data)):
        with pytest.raises(ConfigError, match="damaged"):
            change()
