from pathlib import Path

from termvisor.settings import Settings
from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.ops.rules.test_rules_list import build_services


async def test_a_valid_pack_is_ok_and_an_invalid_one_names_the_line(tmp_path: Path) -> None:
    place = write_pack(tmp_path, good=VALID_RULE) / "org.local"
    assert (await run_command(build_services(tmp_path), "rules", "lint", str(place))).out == "1 rule ok\n"
    (place / "bad.toml").write_text(
        VALID_RULE.replace('text = "he said: ', 'text = "').replace("limit.reached", "limit.near")
    )
    result = await run_command(build_services(tmp_path), "rules", "lint", str(place))
    assert result.status == 78
    assert f"{place}/bad.toml:15: miss: matches, and must not" in result.out


async def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    assert "not found" in (await run_command(build_services(tmp_path), "rules", "lint", str(tmp_path / "none"))).err


async def test_settings_that_match_no_rule_are_errors(tmp_path: Path) -> None:
    settings = Settings(patterns_disabled=("nosuch.*",), patterns_order=("org.gone",))
    result = await run_command(build_services(tmp_path, settings), "rules", "lint")
    assert result.status == 78
    assert "settings: patterns_disabled: 'nosuch.*' matches no rule" in result.out
    assert "settings: patterns_order: pack 'org.gone' not found" in result.out


async def test_probably_misspelled_names_are_warnings(tmp_path: Path) -> None:
    text = VALID_RULE.replace(
        'why = "The tool stops."', 'why = "x"\nagent = "cluade_code"\nremedy = "handle_usage_limit"'
    )
    place = write_pack(tmp_path, good=text, fine=VALID_RULE.replace("tool.limit", "tool.other")) / "org.local"
    result = await run_command(build_services(tmp_path), "rules", "lint", str(place))
    assert result.status == 0
    assert result.out == (
        "warning: tool.limit.reached: agent: 'cluade_code' looks mistyped; did you mean claude_code?\n"
        "warning: tool.limit.reached: remedy: 'handle_usage_limit' looks mistyped; did you mean handle_usage_limits?\n"
        "2 rules ok\n"
    )
