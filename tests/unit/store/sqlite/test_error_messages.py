import apsw
import pytest

from termvisor.errors import BadRequest, InternalError, StorageError
from termvisor.store.sqlite.storage_errors import translate_errors


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (apsw.NotADBError, "damaged"),
        (apsw.CorruptError, "damaged"),
        (apsw.FullError, "disk is full"),
        (apsw.ReadOnlyError, "read-only"),
        (apsw.CantOpenError, "cannot be opened"),
        (apsw.BusyError, "is locked by another program"),
        (apsw.IOError, "reading or writing"),
    ],
)
def test_sqlite_error_is_translated_with_path_and_hint(error, message):
    with pytest.raises(StorageError, match=message) as caught, translate_errors("/data/visor.db"):
        raise error("said SQLite")
    assert "/data/visor.db" in caught.value.message
    assert "said SQLite" in caught.value.message
    assert caught.value.hint != StorageError.hint


def test_os_error_is_translated():
    with pytest.raises(StorageError, match="No space left"), translate_errors("/data/visor.db"):
        raise OSError(28, "No space left on device")


def test_other_sqlite_error_is_an_internal_error():
    with pytest.raises(InternalError), translate_errors("/data/visor.db"):
        raise apsw.SQLError("near FROM: syntax error")


def test_a_number_that_sqlite_cannot_hold_is_the_callers_mistake():
    with pytest.raises(BadRequest, match="too large"), translate_errors("/d/visor.db"):
        apsw.Connection(":memory:").execute("SELECT ?", (1 << 64,))
