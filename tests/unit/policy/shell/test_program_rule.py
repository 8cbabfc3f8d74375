"""The table of programs: its names and classes exist, and it declares what a contributor adds with one line."""

import msgspec
import pytest

from termvisor.model.action.policy import COMMAND_CLASSES
from termvisor.policy.shell.call import build_literal_call
from termvisor.policy.shell.program_rule import RULES_BY_PROGRAM, ProgramEffectRule, analyze_by_rule
from tests.unit.policy.policy_requests import find_classes


def analyze_with(line: str, **fields: object) -> set[str]:
    rule = ProgramEffectRule(**fields)
    rule.build_verbs()
    return set(analyze_by_rule(rule, build_literal_call(tuple(line.split()))).classes)


def test_rules_accept_calls_without_arguments_and_return_known_classes() -> None:
    lines = [(), ("-x",), ("--",), ("a",), ("a", "b"), ("-c", "x"), ("run", "--", "x"), ("",), (";",), ("\ue00f",)]
    found = {
        name
        for program, rule in RULES_BY_PROGRAM.items()
        for words in lines
        for name in analyze_by_rule(rule, build_literal_call((program, *words))).classes
    }
    assert found - set(COMMAND_CLASSES) == set()


def test_every_class_in_the_table_exists() -> None:
    rules = [*RULES_BY_PROGRAM.values(), *(v for r in RULES_BY_PROGRAM.values() for v in r.rules_by_verb.values())]
    named = {name for rule in rules for text in (rule.classes, *rule.effects.values()) for name in text.split()}
    assert (named | {name for rule in rules for name in rule.verbs}) - {"reads", "runs", *COMMAND_CLASSES} == set()


def test_field_that_a_rule_does_not_have_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="harmles"):
        msgspec.toml.decode('"x" = { harmles = "-a" }', type=dict[str, ProgramEffectRule])


@pytest.mark.parametrize(
    ("line", "found"),
    [("x -a", set()), ("x -b", {"unknown_effect"}), ("x --al", set()), ("x -ab", {"unknown_effect"}), ("x y", set())],
)
def test_option_that_no_field_names_has_an_unknown_effect(line: str, found: set[str]) -> None:
    assert analyze_with(line, options="-a --all") == found


def test_verb_is_found_behind_options_with_and_without_a_value() -> None:
    verbs = {"reads": "get", "infrastructure": "delete"}
    assert analyze_with("x -n a delete", options="-n=", verbs=verbs) == {"infrastructure"}
    assert analyze_with("x -v 5 delete", options="-n=", verbs=verbs) == {"infrastructure", "unknown_effect"}
    assert analyze_with("x get delete", options="-n=", verbs=verbs) == set()
    assert analyze_with("x frob", options="-n=", verbs=verbs) == {"unknown_effect"}


@pytest.mark.parametrize(
    ("line", "is_dry"),
    [
        ("x --dry-run", True),
        ("x --dry-run=client", True),
        ("x --dry-run=false", False),
        ("x --dry-run --dry-run=none", False),
        ("x --dry-run --no-dry-run", False),
        ("x --no-dry-run --dry-run", False),
        ("x -e --dry-run", False),
        ("x --what --dry-run", False),
        ("x -- --dry-run", False),
        ("x -f --dry-run", False),
    ],
)
def test_only_a_true_dry_run_is_harmless(line: str, is_dry: bool) -> None:
    found = analyze_with(line, options="-e=", effects={"-f": "disk"}, classes="disk", dry_run="--dry-run")
    assert ("disk" not in found) is is_dry


def test_a_verb_inherits_options_and_effects_of_its_program() -> None:
    fields = {"options": "-C=", "effects": {"--exec=": "dynamic"}, "verbs": {"reads": "log"}}
    assert analyze_with("x -C a log -C b", **fields) == set()
    assert analyze_with("x log --exec=y", **fields) == {"dynamic"}


def test_help_of_a_program_or_verb_is_harmless_but_not_that_of_a_wrapped_one() -> None:
    for line in ("rm --help", "git push --help", "kubectl delete pod x --help", "frobnicate --version"):
        assert find_classes(line) == set()
    for line in (
        "./x --help",
        "python x.py --help",
        "bash -c 'rm -rf x' --help",
        "docker run x --help",
        "eval 'rm -rf x;' --help",
    ):
        assert find_classes(line) != set()


@pytest.mark.parametrize(
    "line",
    [
        "kill -10 1",
        "kill -9 -0",
        "mkfs.vfat -n x /dev/sda",
        "mkfs.ext4 -l x /dev/sda",
        "mount -l a b",
        "swapon -a",
        "fc -l -s",
        "yarn add x --dry-run",
        "awk 'BEGIN{system(1)}' --help",
        "eval 'rm -rf x;' --help",
        "nft -f x",
        "git frob --help",
    ],
)
def test_option_of_another_meaning_is_no_dry_run(line: str) -> None:
    assert find_classes(line) != set()
