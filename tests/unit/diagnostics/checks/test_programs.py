"""Programs that may be there: their absence is told, and is no trouble."""

from msgspec.structs import replace

from termvisor.diagnostics.checks.programs import ExternalProgramsCheck


async def test_what_is_there_and_what_is_not_are_told_alike(context, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "cass").touch(mode=0o755)
    context.settings = replace(context.settings, account_tracker="caut")
    finding = await ExternalProgramsCheck().run(context)
    assert (finding.status, finding.hint) == ("ok", "")
    assert finding.message == (
        "found: cass; not installed, and not needed: ast-grep (the workflow unstick), caut (`visor accounts refresh`)"
    )


async def test_a_tracker_that_nobody_wants_is_not_missed(context, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    context.settings = replace(context.settings, account_tracker="")
    assert "accounts" not in (await ExternalProgramsCheck().run(context)).message
