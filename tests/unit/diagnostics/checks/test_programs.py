"""Optional programs: a missing one is reported, not a failure."""

from msgspec.structs import replace

from termvisor.diagnostics.checks.programs import ExternalProgramsCheck


async def test_installed_and_missing_programs_are_listed(context, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "cass").touch(mode=0o755)
    context.settings = replace(context.settings, account_tracker="caut")
    finding = await ExternalProgramsCheck().run(context)
    assert (finding.status, finding.hint) == ("ok", "")
    assert finding.message == (
        "installed: cass; not installed (optional): ast-grep (the workflow unstick), caut (`visor accounts refresh`)"
    )


async def test_a_tracker_that_is_not_configured_is_not_listed(context, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    context.settings = replace(context.settings, account_tracker="")
    assert "accounts" not in (await ExternalProgramsCheck().run(context)).message
