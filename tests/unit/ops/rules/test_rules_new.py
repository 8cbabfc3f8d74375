from pathlib import Path

import pytest

from termvisor.testing.operation_calls import run_command
from tests.unit.ops.rules.test_rules_list import build_services


async def test_a_new_pack_is_written_once_and_invalid_until_filled_in(tmp_path: Path) -> None:
    result = await run_command(build_services(tmp_path), "rules", "new", "deploy.rollout.stuck")
    file = tmp_path / "packs/org.local/deploy.rollout.stuck.toml"
    assert str(file) in result.out
    assert "`visor config reload`" in result.out
    assert "not filled in yet" in (await run_command(build_services(tmp_path), "rules", "lint", str(file))).out
    file.write_text("mine")
    assert (await run_command(build_services(tmp_path), "rules", "new", "deploy.rollout.stuck")).status == 75
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("stuck",),
        ("../x.y",),
        ("A.b",),
        ("a.b", "--pack", "../x"),
        ("a.b", "--pack", "core.codex"),
        ("a." + "b" * 200,),
    ],
)
async def test_invalid_pack_names_are_rejected(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = await run_command(build_services(tmp_path), "rules", "new", *words)
    assert result.status != 0
    assert not (tmp_path / "packs").exists()
