from pathlib import Path

from termvisor.detection.packs.loader import load_packs
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


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
    told = sorted(Path(trouble.file).name for trouble in packs.troubles)
    assert told == ["broken.toml", "pack.toml", "slow.toml"]


def test_a_duplicate_rule_id_in_a_pack_is_a_problem(tmp_path: Path) -> None:
    packs = load_packs([str(write_pack(tmp_path, a=VALID_RULE, b=VALID_RULE))])
    (told,) = packs.troubles
    assert str(told).endswith("b.toml:2: id: is already defined in a.toml, which is used")


def test_a_later_pack_replaces_a_rule_and_the_order_is_a_setting(tmp_path: Path) -> None:
    write_pack(tmp_path, "org.a", rule=VALID_RULE.replace("stops", "halts"))
    folder = write_pack(tmp_path, "org.b", rule=VALID_RULE)
    last = load_packs([str(folder)])
    assert last.find_rule("tool.limit.reached").pack == "org.b"  # type: ignore[union-attr]
    assert last.replaced == {"tool.limit.reached": ("org.a",)}
    turned = load_packs([str(folder)], order=("org.b", "org.a"))
    assert turned.find_rule("tool.limit.reached").why == "The tool halts."  # type: ignore[union-attr]


def test_a_built_in_rule_can_be_replaced_and_is_named(tmp_path: Path) -> None:
    own = VALID_RULE.replace("tool.limit.reached", "codex.usage.reached")
    packs = load_packs([str(write_pack(tmp_path, mine=own))])
    assert packs.replaced == {"codex.usage.reached": ("core.codex",)}


def test_rules_are_switched_off_by_id_by_glob_and_by_pack(tmp_path: Path) -> None:
    packs = load_packs(disabled=("codex.usage.reached", "shell.tests.*", "core.tmux"))
    left = {rule.id for rule in packs.rules}
    assert "codex.usage.reached" in packs.disabled
    assert not any(name.startswith(("shell.tests.", "tmux.")) or name == "codex.usage.reached" for name in left)


def test_an_order_or_a_glob_without_a_match_is_a_problem() -> None:
    packs = load_packs(order=("org.none",), disabled=("codx.*",))
    assert [trouble.key for trouble in packs.troubles] == ["patterns_order", "patterns_disabled"]


def test_a_pack_may_not_take_the_name_of_another(tmp_path: Path) -> None:
    packs = load_packs([str(write_pack(tmp_path, "core.codex", rule=VALID_RULE))])
    assert [trouble.key for trouble in packs.troubles] == ["name"]
    assert packs.find_rule("tool.limit.reached") is None
