from pathlib import Path

import pytest

from termvisor.detection.packs.crash_test import save_crashing_rules
from termvisor.regex.relax import relax_pattern
from termvisor.settings import Paths, Settings
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


def build_services(folder: Path, settings: Settings | None = None) -> FakeServices:
    found = FakeServices(paths=Paths(str(folder), str(folder), str(folder)))
    found.settings = settings or Settings()
    return found


async def test_rules_are_listed_with_what_could_not_be_loaded(tmp_path: Path) -> None:
    write_pack(tmp_path, good=VALID_RULE, bad=VALID_RULE.replace("line", "row"))
    result = await run_command(build_services(tmp_path), "rules", "list", "--pack", "org.local")
    assert "tool.limit.reached" in result.out
    assert "bad.toml:4: scope" in result.out
    assert "1 rule in 1 pack, 0 disabled" in result.out


async def test_rules_are_filtered(tmp_path: Path) -> None:
    result = await run_command(build_services(tmp_path), "rules", "list", "--agent", "codex", "--scope", "line")
    assert "codex.compaction" in result.out
    assert "claude." not in result.out


async def test_disabled_rules_are_reported(tmp_path: Path) -> None:
    off = Settings(patterns_disabled=("core.tmux",))
    result = await run_command(build_services(tmp_path, off), "rules", "list", "--pack", "core.tmux")
    assert "6 rules in 1 pack, 6 disabled" in result.out


async def test_a_rule_that_crashes_the_engine_is_not_listed_as_active(tmp_path: Path) -> None:
    write_pack(tmp_path, good=VALID_RULE)
    places = Paths(str(tmp_path), str(tmp_path), str(tmp_path))
    (tmp_path / "cache").mkdir()
    save_crashing_rules(
        places.cache_dir, {relax_pattern(r"^tool: limit reached, (?P<left>\d+) left$"): "cannot be used: it crashes"}
    )
    result = await run_command(build_services(tmp_path), "rules", "list", "--pack", "org.local")
    assert "good.toml:6: pattern: cannot be used: it crashes" in result.out
    assert "0 rules" in result.out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("list", "--agent", "claude"), "Did you mean claude_code?"),
        (("list", "--pack", "core.shel"), "Did you mean core.shell?"),
        (("list", "--agent", "zzz"), "Known: "),
        (("list", "--pack", "zzz"), "Known: "),
        (("test", "--agent", "claude", "Conversation compacted"), "Did you mean claude_code?"),
    ],
)
async def test_an_unknown_name_is_an_error_not_an_empty_result(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    result = await run_command(build_services(tmp_path), "rules", *words)
    assert (result.status, hint in result.err) == (2, True)
