from pathlib import Path

import pytest

from termvisor.ops.api.dispatch import CommandContext
from termvisor.testing.operation_calls import collect_answer, run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack
from tests.unit.ops.rules.test_rules_list import build_services


async def test_the_rules_that_match_are_reported_with_their_captures(tmp_path: Path) -> None:
    result = await run_command(build_services(tmp_path), "rules", "test", "bash: gti: command not found")
    assert result.status == 0
    assert "shell.command_not_found  line 1  info  command.not_found\n  command = gti" in result.out


async def test_no_match_has_its_own_exit_status(tmp_path: Path) -> None:
    result = await run_command(build_services(tmp_path), "rules", "test", "all is well")
    assert (result.status, "No match" in result.out) == (1, True)


async def test_a_rule_that_does_not_match_is_traced(tmp_path: Path) -> None:
    asked = ("robot", "rules", "test", "--rule", "codex.compaction", "--trace", "Context compacted")
    (item,) = (await run_command(build_services(tmp_path), *asked)).envelope["data"]["items"]
    assert item["matched"] is False
    assert item["match_trace"]["eval_path"][-1] == {"stage": "regex", "matched": False, "hits": []}


async def test_rules_of_another_agent_or_scope_are_skipped(tmp_path: Path) -> None:
    text = "• Context compacted"
    found = [
        (await run_command(build_services(tmp_path), "rules", "test", *options, text)).status
        for options in (("--agent", "codex"), ("--agent", "gemini"), ("--scope", "stream"), ("--scope", "line"))
    ]
    assert found == [0, 1, 1, 0]


async def test_secrets_are_redacted_before_rules_see_them(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    write_pack(tmp_path, greedy=VALID_RULE.replace(r"(?P<left>\d+) left", "(?P<left>.+) left"))
    result = await run_command(build_services(tmp_path), "rules", "test", f"tool: limit reached, {secret} left")
    assert "tool.limit.reached" in result.out
    assert secret not in result.out


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xff\xfe\0\n\x1b[31mbash: gti: command not found\x1b[0m\x1b(B\r\n", "shell.command_not_found  line 2"),
        (b"", "Provide a non-empty text."),
    ],
)
async def test_a_log_is_read_as_a_pane_would_show_it(tmp_path: Path, data: bytes, expected: str) -> None:
    result = await collect_answer(
        build_services(tmp_path), CommandContext(argv=("rules", "test", "--stdin"), is_robot=False, input_text=data)
    )
    assert expected in result.out + result.err


async def test_no_text_is_an_error(tmp_path: Path) -> None:
    assert "no text" in (await run_command(build_services(tmp_path), "rules", "test")).err
