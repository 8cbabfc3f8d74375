from pathlib import Path

from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.ops.rules.test_rules_list import build_services


async def test_a_rule_is_shown_with_its_examples_and_the_replaced_packs(tmp_path: Path) -> None:
    write_pack(tmp_path, mine=VALID_RULE.replace("tool.limit.reached", "codex.usage.reached"))
    out = (await run_command(build_services(tmp_path), "rules", "show", "codex.usage.reached")).out
    assert "replaces  core.codex" in out
    assert "matches: left 3\ntool: limit reached, 3 left" in out
    assert "does not match\nhe said" in out


async def test_an_unknown_rule_suggests_the_closest_name(tmp_path: Path) -> None:
    result = await run_command(build_services(tmp_path), "rules", "show", "codex.usage.reachd")
    assert result.status != 0
    assert "codex.usage.reached" in result.err
