"""Plug-ins of installed packages and their problems."""

import pytest

from termvisor.diagnostics.checks.plugins import PluginsCheck

TEXT = """\
[termvisor.agents]
odd = json:dumps

[termvisor.packs]
gone = no_such_module_at_all:rules

[termvisor.workflows]
fine = json:loads
gone = json:no_such_thing
"""


async def test_what_cannot_be_loaded_is_reported_with_its_reason(
    context, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await PluginsCheck().run(context)).status == "ok"
    (tmp_path / "toy-1.0.dist-info").mkdir()
    (tmp_path / "toy-1.0.dist-info" / "entry_points.txt").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    finding = await PluginsCheck().run(context)
    assert finding.status == "warn"
    assert [part.partition(":")[0] for part in finding.message.split("; ")] == [
        "agents odd",
        "packs gone",
        "workflows gone",
    ]
    assert "ModuleNotFoundError: No module named 'no_such_module_at_all'" in finding.message
    assert "restart the daemon" in finding.hint
