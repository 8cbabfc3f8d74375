"""Errors passed between processes."""

from termvisor.errors import Conflict, NewerDatabase
from termvisor.protocol import error_line


def test_an_error_survives_formatting_and_parsing() -> None:
    text = "some warning\n" + error_line.format_error(NewerDatabase("schema 9 is\nnewer", hint="Upgrade."))
    error = error_line.parse_last_error(text)
    assert isinstance(error, NewerDatabase)
    assert (error.message, error.hint) == ("schema 9 is newer", "Upgrade.")


def test_the_last_of_several_errors_counts() -> None:
    text = error_line.format_error(NewerDatabase("first")) + error_line.format_error(Conflict("second"))
    assert isinstance(error_line.parse_last_error(text), Conflict)


def test_a_text_without_an_error_of_ours_tells_none() -> None:
    assert error_line.parse_last_error("Traceback (most recent call last):\nvisor: not_a_code: x\n\n") is None
