import tomllib

import msgspec

from termvisor.model.action.action import RISKS
from termvisor.model.action.policy import COMMAND_CLASSES, EXAMPLE, UNASKED, Policy, keys
from termvisor.model.action.verdict import STRICTNESS

KEYS = {key.path: key for key in keys()}


def test_every_key_is_listed_with_type_default_and_meaning() -> None:
    assert (KEYS["approval.default"].type, KEYS["approval.default"].default) == ("allow | ask | deny", '"ask"')
    assert (KEYS["shell.mode"].type, KEYS["shell.mode"].default) == ("allow | ask | deny", "unset")
    assert (KEYS["rule[].when.pane"].type, KEYS["rule[].when.pane"].default) == ("list of number", "[]")
    assert (KEYS["rule[].id"].default, KEYS["quiet_hours[].from"].name) == ("required", "from")
    assert (KEYS["rates.actors"].type, KEYS["rates.actors"].parent) == ("table of number", "rates")
    assert [key.path for key in KEYS.values() if not key.doc or not key.type] == []


def test_tables_stand_before_what_they_hold() -> None:
    order = list(KEYS)
    assert all(not key.parent or order.index(key.parent) < order.index(key.path) for key in KEYS.values())
    assert KEYS["rule[]"].is_table
    assert not KEYS["rule[].id"].is_table


def test_the_example_is_one() -> None:
    assert msgspec.convert(tomllib.loads(EXAMPLE), Policy).rates.actors == {"robot": 120}


def test_nobody_else_has_a_milder_answer_than_a_person() -> None:
    wrong = [one.name for one in COMMAND_CLASSES.values() if STRICTNESS[one.others] < STRICTNESS[one.human]]
    assert wrong == []
    assert set(UNASKED["others"]) < set(UNASKED["human"]) < set(RISKS.values())
