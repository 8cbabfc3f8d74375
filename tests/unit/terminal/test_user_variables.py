"""Parse user variables and check their nonce."""

import base64

import pytest

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.terminal.user_variables import (
    MAX_EVENTS_PER_SECOND,
    MAX_VALUE_LENGTH,
    UserVariable,
    VariableRate,
    admit_variable,
    build_event,
    decode_value,
    parse_variable,
)

NONCE = "5eed" * 8
KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("visor-prompt", "prompt"),
        ("visor-ready", "ready"),
        ("visor-ready-build", "ready"),
        ("visor-checkpoint", "checkpoint"),
        ("visor-event", "event"),
        ("visor-readying", "event"),
        ("visor-anything_else.1", "event"),
    ],
)
def test_the_kind_is_parsed_from_the_name(name: str, kind: str) -> None:
    assert parse_variable(name, '{"a": 1}', NONCE) == UserVariable(name=name, kind=kind, value='{"a":1}')


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("visor-", "1"),
        ("WEZTERM_PROG", "1"),
        ("visor-" + "x" * 65, "1"),
        ("visor-a b", "1"),
        ("visor-é", "1"),
        ("visor-x", ""),
        ("visor-x", "{"),
        ("visor-x", "no json"),
        ("visor-x", '"\\ud800"'),
        ("visor-x", "[" * MAX_VALUE_LENGTH),
        ("visor-x", '"' + "x" * MAX_VALUE_LENGTH + '"'),
    ],
)
def test_malformed_variables_are_ignored(name: str, value: str) -> None:
    assert parse_variable(name, value, NONCE) is None


def test_a_variable_with_the_nonce_is_proven_and_the_nonce_is_removed() -> None:
    assert parse_variable("visor-ready", f'{{"nonce": "{NONCE}", "port": 80}}', NONCE) == UserVariable(
        name="visor-ready", kind="ready", value='{"port":80}', is_proven=True
    )


@pytest.mark.parametrize("value", ['{"nonce": "beef"}', '{"nonce": null}', "{}", "[]", '"text"', "7", "null"])
def test_a_variable_without_the_nonce_is_not_proven(value: str) -> None:
    variable = parse_variable("visor-ready", value, NONCE)
    assert variable is not None and not variable.is_proven and "beef" not in variable.value


def test_without_a_known_nonce_nothing_is_proven() -> None:
    variable = parse_variable("visor-ready", '{"nonce": null}', None)
    assert variable is not None and not variable.is_proven


def test_a_nonce_in_the_wrong_place_is_removed() -> None:
    variable = parse_variable("visor-ready", f'["{NONCE}"]', NONCE)
    assert variable is not None and NONCE not in variable.value


def test_the_value_is_redacted() -> None:
    variable = parse_variable("visor-event", f'{{"login": "{KEY}"}}', NONCE)
    assert variable is not None and KEY not in variable.value and "login" in variable.value


def test_a_hook_may_give_base64_or_json() -> None:
    assert decode_value(base64.b64encode(b'{"a": 1}').decode()) == '{"a": 1}'
    assert decode_value('{"a": 1}') == '{"a": 1}'
    assert decode_value("neither!") == "neither!"
    assert decode_value("/w==") == "/w=="


def test_a_flood_is_counted_in_the_next_event() -> None:
    pace, kept = VariableRate(), []
    for at in [*range(MAX_EVENTS_PER_SECOND + 5), NS + 1]:
        before, (pace, is_kept) = pace, admit_variable(pace, at)
        kept += [before.dropped] * is_kept
    assert kept == [0] * MAX_EVENTS_PER_SECOND + [5]
    assert pace == VariableRate(1, 1, 0)


def test_an_event_has_all_fields_of_the_variable() -> None:
    variable = UserVariable(name="visor-ready", kind="ready", value="{}", is_proven=True)
    event = build_event(PaneId(7), 5, variable, 0, "stream")
    assert (event.kind, event.pane, event.at) == ("user_var", 7, 5)
    assert event.data == {"name": "visor-ready", "kind": "ready", "value": "{}", "proven": True, "source": "stream"}
    assert build_event(PaneId(7), 5, variable, 3, "call").data["dropped"] == 3
