"""Screen rules: the built-in ones pass their examples, and users' rules are used too."""

import os

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.screen_classifier import ScreenClassifier
from termvisor.detection.packs import load_packs
from termvisor.detection.packs.example_check import find_problems
from termvisor.detection.packs.pattern_match import find_match
from termvisor.detection.packs.screen_rules import list_screen_rules, load_builtin_screen_rules
from termvisor.detection.packs.version_range import is_valid_range
from termvisor.model.detection.rule import Rule
from termvisor.model.event_types import is_event_type
from tests.recordings.scene import load_scenes
from tests.unit.agents.adapters.adapter_inputs import NOW, build_screen
from tests.unit.detection.packs.user_rule import USER_RULE

SIGHTS = {one.name: one.screen_classifier for one in loader.load_adapters() if isinstance(one, ComposedAdapter)}
LOADED = load_packs()
RULES = [rule for rule in LOADED.rules if rule.scope == "screen"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_does_what_its_file_says(rule: Rule) -> None:
    assert find_problems(rule) == []


def test_a_rule_is_found_where_its_name_says() -> None:
    folders = {pack.name: pack.folder for pack in LOADED.packs}
    for rule in RULES:
        pack = f"core.{rule.agent}"
        assert (rule.pack, rule.id.rpartition(".")[0]) == (pack, f"{rule.agent}.screen")
        assert os.path.exists(f"{folders[pack]}/screen_{rule.id.rpartition('.')[2]}.toml"), rule.id


def test_a_screen_rule_has_a_state_and_valid_versions() -> None:
    for rule in RULES:
        assert rule.state not in (None, "unknown"), rule.id
        assert is_valid_range(rule.versions), rule.id
        assert not rule.event or is_event_type(rule.event), rule.id


@pytest.mark.parametrize("agent", SIGHTS)
def test_parts_are_those_of_the_layout_and_no_two_rules_are_tried_at_once(agent: str) -> None:
    rules = [rule for rule in RULES if rule.agent == agent]
    named = {part for rule in rules for part in (rule.part, *(one.part for one in (*rule.also, *rule.unless)))}
    cut = {part for scene in load_scenes(agent) for part in SIGHTS[agent].split_regions(scene.screen)}
    assert not cut or named <= cut
    assert len({rule.order for rule in rules}) == len(rules)


@pytest.mark.parametrize("agent", SIGHTS)
def test_recorded_examples_are_in_the_recordings(agent: str) -> None:
    """A hit with a version was seen on the real program."""
    shown = [
        "\n".join(rows) for scene in load_scenes(agent) for rows in SIGHTS[agent].split_regions(scene.screen).values()
    ]
    versions = {scene.version for scene in load_scenes(agent)}
    hits = [hit for rule in RULES if rule.agent == agent for hit in rule.hits if hit.version in versions]
    assert [hit.text for hit in hits if not any(hit.text in text for text in shown)] == []


def test_no_miss_matches() -> None:
    assert [
        (rule.id, miss.text) for rule in RULES for miss in rule.misses if find_match(rule, miss.text) is not None
    ] == []


def test_screen_rules_are_loaded_in_order_without_examples() -> None:
    rules = load_builtin_screen_rules("codex")
    assert {(rule.hits, rule.misses) for rule in rules} == {((), ())}
    assert [rule.order for rule in rules] == sorted(rule.order for rule in rules)
    assert load_builtin_screen_rules("nobody") == ()


def test_a_users_rule_is_used_and_may_disable_a_built_in_one(tmp_path) -> None:
    folder = tmp_path / "packs" / "mine"
    folder.mkdir(parents=True)
    (folder / "done.toml").write_text(USER_RULE.format(name="mine.screen.done"))
    packs = load_packs((str(tmp_path / "packs"),), disabled=("codex.screen.menu_open",))
    assert packs.troubles == ()
    rules = list_screen_rules(packs, "codex")
    assert rules[0].id == "mine.screen.done"
    assert "codex.screen.menu_open" not in {rule.id for rule in rules}
    sight = SIGHTS["codex"].with_rules(lambda agent: list_screen_rules(packs, agent))
    assert isinstance(sight, ScreenClassifier)
    shown = build_screen(["• All done", "", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src"])
    assert (sight.classify_screen(shown).rule, SIGHTS["codex"].classify_screen(shown).rule_name) == (
        "mine.screen.done",
        "text_without_an_end",
    )
    assert shown.at == NOW
