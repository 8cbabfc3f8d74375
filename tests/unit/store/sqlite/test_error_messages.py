import apsw
import pytest

from termvisor.errors import InternalError, StorageError
from termvisor.store.sqlite.error_messages import translate_errors


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (apsw.NotADBError, "damaged"),
        (apsw.CorruptError, "damaged"),
        (apsw.FullError, "disk is full"),
        (apsw.ReadOnlyError, "read-only"),
        (apsw.CantOpenError, "cannot be opened"),
        (apsw.BusyError, "another program holds"),
        (apsw.IOError, "does not answer"),
    ],
)
def test_each_trouble_is_told_in_our_words_with_the_path_and_a_hint(error, message):
    with pytest.raises(StorageError, match=message) as caught, translate_errors("/data/visor.db"):
        raise error("said SQLite")
    assert "/data/visor.db" in caught.value.message
    assert "said SQLite" in caught.value.message
    assert caught.value.hint != StorageError.hint


def test_what_the_system_refuses_is_trouble_too():
    with pytest.raises(StorageError, match="No space left"), translate_errors("/data/visor.db"):
        raise OSError(28, "No space left on device")


def test_anything_else_is_our_bug():
    with pytest.raises(InternalError), translate_errors("/data/visor.db"):
        raise apsw.SQLError("near FROM: syntax error")
