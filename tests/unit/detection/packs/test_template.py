from pathlib import Path

from termvisor.detection.packs.lint import lint_rules
from termvisor.detection.packs.template import render_pack_file, render_rule_file


def test_a_fresh_file_is_refused_until_it_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(render_pack_file("org.local"))
    file = tmp_path / "rule.toml"
    file.write_text(render_rule_file("deploy.rollout.stuck"))
    assert "pattern: is not filled in yet, nor is why, nor is hit, nor is miss" in str(
        lint_rules(str(file)).problems[0]
    )
    text = (
        render_rule_file("deploy.rollout.stuck")
        .replace('text = "<fill in>"', 'text = "gone: x"', 1)
        .replace('"<fill in>"', '"x"')
    )
    file.write_text(text.replace("^<fill in>", "^gone:").replace("<fill in>: ", ""))
    assert lint_rules(str(tmp_path)).problems == ()
