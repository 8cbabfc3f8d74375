from pathlib import Path

from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.ops.rules.test_rules_list import world


async def test_a_rule_is_shown_with_its_proofs_and_what_it_replaces(tmp_path: Path) -> None:
    write_pack(tmp_path, mine=VALID_RULE.replace("tool.limit.reached", "codex.usage.reached"))
    out = (await run_command(world(tmp_path), "rules", "show", "codex.usage.reached")).out
    assert "replaces  core.codex" in out
    assert "finds: left 3\ntool: limit reached, 3 left" in out
    assert "leaves alone\nhe said" in out


async def test_an_unknown_rule_names_the_nearest(tmp_path: Path) -> None:
    answered = await run_command(world(tmp_path), "rules", "show", "codex.usage.reachd")
    assert answered.status != 0
    assert "codex.usage.reached" in answered.err
