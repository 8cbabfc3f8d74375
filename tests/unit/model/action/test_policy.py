import tomllib

import msgspec

from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.approval import ANSWER_STRICTNESS
from termvisor.model.action.policy import (
    COMMAND_CLASSES,
    DEFAULT_ALLOWED_RISKS,
    EXAMPLE_POLICY,
    Policy,
)
from termvisor.model.action.policy_keys import list_policy_keys

KEYS = {key.path: key for key in list_policy_keys()}


def test_every_key_is_listed_with_type_default_and_meaning() -> None:
    assert (KEYS["approval.default"].type, KEYS["approval.default"].default) == ("allow | ask | deny", '"ask"')
    assert (KEYS["shell.mode"].type, KEYS["shell.mode"].default) == ("allow | ask | deny", "unset")
    assert (KEYS["rule[].when.pane"].type, KEYS["rule[].when.pane"].default) == ("list of number", "[]")
    assert (KEYS["rule[].id"].default, KEYS["quiet_hours[].from"].name) == ("required", "from")
    assert (KEYS["rates.actors"].type, KEYS["rates.actors"].parent) == ("table of number", "rates")
    assert [key.path for key in KEYS.values() if not key.doc or not key.type] == []


def test_tables_are_listed_before_their_keys() -> None:
    order = list(KEYS)
    assert all(not key.parent or order.index(key.parent) < order.index(key.path) for key in KEYS.values())
    assert KEYS["rule[]"].is_table
    assert not KEYS["rule[].id"].is_table


def test_example_policy_is_valid() -> None:
    assert msgspec.convert(tomllib.loads(EXAMPLE_POLICY), Policy).rates.actors == {"robot": 120}


def test_no_class_is_more_permissive_for_others_than_for_people() -> None:
    wrong = [
        one.name for one in COMMAND_CLASSES.values() if ANSWER_STRICTNESS[one.others] < ANSWER_STRICTNESS[one.human]
    ]
    assert wrong == []
    assert (
        set(DEFAULT_ALLOWED_RISKS["others"]) < set(DEFAULT_ALLOWED_RISKS["human"]) < set(RISK_BY_ACTION_KIND.values())
    )
