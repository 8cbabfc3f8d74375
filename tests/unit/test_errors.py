"""Error classes: stable codes and exit statuses, default hints, and the lines of a starting daemon."""

import pytest

from termvisor import errors
from termvisor.errors import Conflict, NewerDatabase, VisorError, format_error, list_error_classes, parse_last_error

EXIT_STATUS_BY_CODE = {
    "invalid_args": 2,
    "unknown_command": 2,
    "config_error": 78,
    "unconfirmed": 2,
    "invalid_cursor": 2,
    "unsupported": 69,
    "pane_not_found": 4,
    "not_found": 4,
    "command_not_found": 4,
    "agent_not_found": 4,
    "event_not_found": 4,
    "no_inverse": 2,
    "ref_ambiguous": 4,
    "policy_denied": 77,
    "not_permitted": 77,
    "needs_approval": 77,
    "reserved": 75,
    "conflict": 75,
    "stale_snapshot": 75,
    "unavailable": 69,
    "mux_error": 69,
    "storage_error": 74,
    "newer_database": 74,
    "timeout": 124,
    "workflow_error": 70,
    "step_failed": 70,
    "workflow_not_found": 4,
    "internal": 70,
}


def test_codes_have_their_exit_statuses() -> None:
    assert {error.code: error.exit_status for error in list_error_classes()} == EXIT_STATUS_BY_CODE


def test_a_code_belongs_to_one_error() -> None:
    codes = [error.code for error in list_error_classes()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("error", list_error_classes(), ids=lambda error: error.__name__)
def test_every_error_has_a_description_and_a_hint(error: type[VisorError]) -> None:
    assert error.__doc__
    assert error.hint
    assert 0 < error.exit_status < 128


def test_an_error_carries_its_message_details_and_the_hint_of_its_kind() -> None:
    error = errors.NotFound("no pane 7", details={"reference": "7"})
    assert (str(error), error.message, error.details) == ("no pane 7", "no pane 7", {"reference": "7"})
    assert error.hint == errors.NotFound.hint


def test_an_explicit_hint_replaces_the_default() -> None:
    assert errors.MuxError("gone", hint="Start tmux.").hint == "Start tmux."
    assert errors.MuxError("gone").hint == errors.MuxError.hint


def test_details_are_copied_into_the_error() -> None:
    given = {"oldest": 5}
    error = errors.InvalidCursor("too old", details=given)
    given["oldest"] = 6
    assert error.details == {"oldest": 5}


def test_the_tree_groups_errors_by_what_the_caller_can_do() -> None:
    assert issubclass(errors.ConfigError, errors.BadRequest)
    assert issubclass(errors.NewerDatabase, errors.Unavailable)
    assert issubclass(errors.StaleSnapshot, errors.Conflict)


def test_the_preview_of_a_confirmation_is_in_the_details() -> None:
    error = errors.ConfirmationRequired("this changes ~/.bashrc", shown="+ one line", details={"path": "~/.bashrc"})
    assert (error.shown, error.details) == ("+ one line", {"path": "~/.bashrc", "shown": "+ one line"})
    again = errors.ConfirmationRequired(error.message, details=error.details)
    assert again.shown == "+ one line"
    assert errors.ConfirmationRequired("this ends three programs").shown == ""


def test_an_error_survives_formatting_and_parsing() -> None:
    text = "some warning\n" + format_error(NewerDatabase("schema 9 is\nnewer", hint="Upgrade."))
    error = parse_last_error(text)
    assert isinstance(error, NewerDatabase)
    assert (error.message, error.hint) == ("schema 9 is newer", "Upgrade.")


def test_the_last_of_several_errors_counts() -> None:
    text = format_error(NewerDatabase("first")) + format_error(Conflict("second"))
    assert isinstance(parse_last_error(text), Conflict)


def test_a_text_without_a_visor_error_gives_none() -> None:
    assert parse_last_error("Traceback (most recent call last):\nvisor: not_a_code: x\n\n") is None
