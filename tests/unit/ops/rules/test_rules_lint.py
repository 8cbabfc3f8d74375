from pathlib import Path

from termvisor.settings import Settings
from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.ops.rules.test_rules_list import world


async def test_a_right_pack_is_right_and_a_wrong_one_names_the_line(tmp_path: Path) -> None:
    place = write_pack(tmp_path, good=VALID_RULE) / "org.local"
    assert (await run_command(world(tmp_path), "rules", "lint", str(place))).out == "1 rule is right, 0 troubles.\n"
    (place / "bad.toml").write_text(
        VALID_RULE.replace('text = "he said: ', 'text = "').replace("limit.reached", "limit.near")
    )
    answered = await run_command(world(tmp_path), "rules", "lint", str(place))
    assert answered.status == 78
    assert f"{place}/bad.toml:15: miss: is found, and must not be" in answered.out


async def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "there is no" in (await run_command(world(tmp_path), "rules", "lint", str(tmp_path / "none"))).err


async def test_settings_that_fit_no_rule_are_troubles_too(tmp_path: Path) -> None:
    settings = Settings(patterns_disabled=("nosuch.*",), patterns_order=("org.gone",))
    answered = await run_command(world(tmp_path, settings), "rules", "lint")
    assert answered.status == 78
    assert "settings: patterns_disabled: 'nosuch.*' fits no rule" in answered.out
    assert "settings: patterns_order: there is no pack 'org.gone'" in answered.out


async def test_names_that_look_mistyped_are_doubted_and_the_rule_stands(tmp_path: Path) -> None:
    text = VALID_RULE.replace(
        'why = "The tool stops."', 'why = "x"\nagent = "cluade_code"\nremedy = "handle_usage_limit"'
    )
    place = write_pack(tmp_path, good=text, fine=VALID_RULE.replace("tool.limit", "tool.other")) / "org.local"
    answered = await run_command(world(tmp_path), "rules", "lint", str(place))
    assert answered.status == 0
    assert answered.out == (
        "perhaps: tool.limit.reached: agent: 'cluade_code' looks mistyped; did you mean claude_code?\n"
        "perhaps: tool.limit.reached: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?\n"
        "2 rules are right, 0 troubles.\n"
    )
