"""Loading of packs: order, replacement, disabled rules and the cache."""

import os
from pathlib import Path

import pytest

from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.adapters.screen_classifier import ScreenClassifier
from termvisor.detection.packs import loader
from termvisor.detection.packs.loader import list_screen_rules, load_builtin_screen_rules, load_packs
from termvisor.detection.packs.rule_checks import find_problems
from termvisor.detection.packs.rule_match import find_match, is_valid_range
from termvisor.model.detection.rule import Rule
from termvisor.model.event import is_event_type
from termvisor.settings import Settings
from tests.recordings.scene import load_scenes
from tests.unit.agents.adapters.adapter_inputs import NOW, build_screen
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.detection.packs.user_rule import USER_RULE


def test_built_in_packs_load_without_problems() -> None:
    packs = load_packs()
    assert packs.troubles == ()
    assert {"core.claude_code", "core.codex", "core.gemini", "core.opencode", "core.copilot"} <= {
        pack.name for pack in packs.packs
    }
    assert len(packs.rules) == len({rule.id for rule in packs.rules}) > 80


def test_an_invalid_rule_is_reported_and_the_others_load(tmp_path: Path) -> None:
    folder = write_pack(
        tmp_path,
        good=VALID_RULE,
        broken=VALID_RULE.replace("line", "row"),
        slow=VALID_RULE.replace(r"\d+", r"(?:\d+)+"),
    )
    (folder / "other").mkdir()
    (folder / "other" / "pack.toml").write_text("name = 3")
    packs = load_packs([str(folder)])
    assert packs.find_rule("tool.limit.reached") is not None
    names = sorted(Path(problem.file).name for problem in packs.troubles)
    assert names == ["broken.toml", "pack.toml", "slow.toml"]


def test_a_duplicate_rule_id_in_a_pack_is_a_problem(tmp_path: Path) -> None:
    packs = load_packs([str(write_pack(tmp_path, a=VALID_RULE, b=VALID_RULE))])
    (problem,) = packs.troubles
    assert str(problem).endswith("b.toml:2: id: is already defined in a.toml, which is used")


def test_a_later_pack_replaces_a_rule_and_the_order_is_a_setting(tmp_path: Path) -> None:
    write_pack(tmp_path, "org.a", rule=VALID_RULE.replace("stops", "halts"))
    folder = write_pack(tmp_path, "org.b", rule=VALID_RULE)
    last = load_packs([str(folder)])
    assert last.find_rule("tool.limit.reached").pack == "org.b"  # type: ignore[union-attr]
    assert last.replaced == {"tool.limit.reached": ("org.a",)}
    reordered = load_packs([str(folder)], order=("org.b", "org.a"))
    assert reordered.find_rule("tool.limit.reached").why == "The tool halts."  # type: ignore[union-attr]


def test_a_built_in_rule_can_be_replaced_and_is_named(tmp_path: Path) -> None:
    own = VALID_RULE.replace("tool.limit.reached", "codex.usage.reached")
    packs = load_packs([str(write_pack(tmp_path, mine=own))])
    assert packs.replaced == {"codex.usage.reached": ("core.codex",)}


def test_rules_are_disabled_by_id_by_glob_and_by_pack(tmp_path: Path) -> None:
    packs = load_packs(disabled=("codex.usage.reached", "shell.tests.*", "core.tmux"))
    left = {rule.id for rule in packs.rules}
    assert "codex.usage.reached" in packs.disabled
    assert not any(name.startswith(("shell.tests.", "tmux.")) or name == "codex.usage.reached" for name in left)


def test_an_order_or_a_glob_without_a_match_is_a_problem() -> None:
    packs = load_packs(order=("org.none",), disabled=("codx.*",))
    assert [problem.key for problem in packs.troubles] == ["patterns_order", "patterns_disabled"]


def test_a_pack_with_the_name_of_another_is_a_problem(tmp_path: Path) -> None:
    packs = load_packs([str(write_pack(tmp_path, "core.codex", rule=VALID_RULE))])
    assert [problem.key for problem in packs.troubles] == ["name"]
    assert packs.find_rule("tool.limit.reached") is None


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    counted: list[object] = []
    real = loader.load_packs

    def load(*given: object) -> object:
        counted.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(loader, "load_packs", load)
    return counted


def test_the_cache_is_used_until_a_file_or_a_setting_changes(tmp_path: Path, loads: list[object]) -> None:
    folder = write_pack(tmp_path, good=VALID_RULE)
    first = loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path)) == first
    assert len(loads) == 1
    (folder / "org.local" / "good.toml").write_text(VALID_RULE.replace("stops", "halts now"))
    changed = loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert changed.find_rule("tool.limit.reached").why == "The tool halts now."  # type: ignore[union-attr]
    assert loader.load_cached_packs(str(tmp_path), Settings(patterns_disabled=("tool.*",)), str(tmp_path)).disabled
    assert len(loads) == 3


def test_the_cache_is_private_and_a_damaged_one_is_rebuilt(tmp_path: Path, loads: list[object]) -> None:
    loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    file = tmp_path / "packs.msgpack"
    assert oct(os.stat(file).st_mode & 0o777) == "0o600"
    file.write_bytes(file.read_bytes()[:100])
    loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path))
    assert len(loads) == 2


def test_packs_load_without_a_cache_folder(tmp_path: Path) -> None:
    assert loader.load_cached_packs(str(tmp_path), Settings(), str(tmp_path / "absent")).rules


CLASSIFIERS = {one.name: one.screen_classifier for one in load_adapters() if isinstance(one, ComposedAdapter)}
LOADED = load_packs()
RULES = [rule for rule in LOADED.rules if rule.scope == "screen"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_built_in_screen_rule_passes_its_examples(rule: Rule) -> None:
    assert find_problems(rule) == []


def test_a_screen_rule_file_is_named_after_its_id() -> None:
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


@pytest.mark.parametrize("agent", CLASSIFIERS)
def test_screen_rules_use_existing_regions_and_have_unique_orders(agent: str) -> None:
    rules = [rule for rule in RULES if rule.agent == agent]
    named = {part for rule in rules for part in (rule.part, *(one.part for one in (*rule.also, *rule.unless)))}
    cut = {part for scene in load_scenes(agent) for part in CLASSIFIERS[agent].split_regions(scene.screen)}
    assert not cut or named <= cut
    assert len({rule.order for rule in rules}) == len(rules)


@pytest.mark.parametrize("agent", CLASSIFIERS)
def test_recorded_examples_are_in_the_recordings(agent: str) -> None:
    """A hit with a version is in a recording of that version."""
    shown = [
        "\n".join(rows)
        for scene in load_scenes(agent)
        for rows in CLASSIFIERS[agent].split_regions(scene.screen).values()
    ]
    versions = {scene.version for scene in load_scenes(agent)}
    hits = [hit for rule in RULES if rule.agent == agent for hit in rule.hits if hit.version in versions]
    assert [hit.text for hit in hits if not any(hit.text in text for text in shown)] == []


def test_misses_of_screen_rules_do_not_match() -> None:
    assert [
        (rule.id, miss.text) for rule in RULES for miss in rule.misses if find_match(rule, miss.text) is not None
    ] == []


def test_screen_rules_are_loaded_in_order_without_examples() -> None:
    rules = load_builtin_screen_rules("codex")
    assert {(rule.hits, rule.misses) for rule in rules} == {((), ())}
    assert [rule.order for rule in rules] == sorted(rule.order for rule in rules)
    assert load_builtin_screen_rules("nobody") == ()


def test_a_user_rule_is_used_and_may_disable_a_built_in_one(tmp_path) -> None:
    folder = tmp_path / "packs" / "mine"
    folder.mkdir(parents=True)
    (folder / "done.toml").write_text(USER_RULE.format(name="mine.screen.done"))
    packs = load_packs((str(tmp_path / "packs"),), disabled=("codex.screen.menu_open",))
    assert packs.troubles == ()
    rules = list_screen_rules(packs, "codex")
    assert rules[0].id == "mine.screen.done"
    assert "codex.screen.menu_open" not in {rule.id for rule in rules}
    sight = CLASSIFIERS["codex"].with_rules(lambda agent: list_screen_rules(packs, agent))
    assert isinstance(sight, ScreenClassifier)
    shown = build_screen(["• All done", "", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src"])
    assert (sight.classify_screen(shown).rule, CLASSIFIERS["codex"].classify_screen(shown).rule_name) == (
        "mine.screen.done",
        "",
    )
    assert shown.at == NOW
