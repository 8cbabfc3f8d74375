"""A project file counts only if it is a small regular file of the user."""

import os
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.daemon.workflows.preferences import WorkflowPreferences, read_project_prompt
from termvisor.errors import BadRequest, ConfigError
from termvisor.settings import Settings
from termvisor.testing.fake_services import FakeServices, build_shell_facts


def write(folder, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    (folder / ".termvisor.toml").write_bytes(data)
    return str(folder)


def view_in(folder):
    view = FakeServices().add_pane(build_shell_facts())
    return replace(view, facts=replace(view.facts, cwd=str(folder)))


def preferences(**settings) -> WorkflowPreferences:
    return WorkflowPreferences(SimpleNamespace(settings=Settings(**settings)))


def test_a_projects_prompt_is_one_line_however_it_is_written(tmp_path):
    folder = write(tmp_path, '[compaction]\nprompt = """\nRead NOTES.md\n  again."""\n')
    assert read_project_prompt(folder) == "Read NOTES.md again."


def test_a_project_without_a_word_says_nothing(tmp_path):
    assert read_project_prompt(str(tmp_path)) == ""
    assert read_project_prompt(str(tmp_path / "nowhere")) == ""
    assert read_project_prompt(write(tmp_path, "[other]\nx = 1\n")) == ""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[compaction", "Expected"),
        (b"\xff\xfe", "utf-8"),
        ("compaction = 3", "is not a string"),
        ("[compaction]\nprompt = 3", "is not a string"),
        ('[compaction]\nprompt = "/clear"', "starts with '/'"),
        ('[compaction]\nprompt = "\\u001b[31m"', "plain text"),
        ('[compaction]\nprompt = "' + "x" * 3000 + '"', "longer than 2000"),
        ("x" * 70_000, "at most 64 KB"),
        ("a = " + "[" * 20_000, "termvisor.toml"),
    ],
)
def test_an_invalid_file_is_reported_and_ignored(tmp_path, text, part):
    with pytest.raises(ConfigError) as error:
        read_project_prompt(write(tmp_path, text))
    assert part in error.value.message
    assert len(error.value.message) < 500


def test_a_link_or_a_pipe_is_not_read(tmp_path):
    (tmp_path / "real.toml").write_text('[compaction]\nprompt = "x"\n')
    (tmp_path / ".termvisor.toml").symlink_to(tmp_path / "real.toml")
    with pytest.raises(ConfigError, match="is ignored"):
        read_project_prompt(str(tmp_path))
    (tmp_path / ".termvisor.toml").unlink()
    os.mkfifo(tmp_path / ".termvisor.toml")
    with pytest.raises(ConfigError, match="is ignored"):
        read_project_prompt(str(tmp_path))


async def test_the_project_comes_before_the_settings_and_a_broken_one_after(tmp_path):
    known = preferences(compaction_prompts=("codex :: from the settings",))
    view = view_in(tmp_path)
    told = await known.read_preferences(["compaction_prompt"], "codex", view)
    assert (told.get_text("compaction_prompt"), told.origins) == ("from the settings", {})
    write(tmp_path, '[compaction]\nprompt = "from the project"\n')
    told = await known.read_preferences(["compaction_prompt"], "codex", view)
    assert told.get_text("compaction_prompt") == "from the project"
    assert told.origins == {"compaction_prompt": str(tmp_path / ".termvisor.toml")}
    write(tmp_path, "[compaction")
    told = await known.read_preferences(["compaction_prompt"], "codex", view)
    assert told.get_text("compaction_prompt") == "from the settings"
    assert ".termvisor.toml" in told.trouble


async def test_a_project_on_another_machine_is_not_read_here(tmp_path):
    write(tmp_path, '[compaction]\nprompt = "from the project"\n')
    view = view_in(tmp_path)
    server = replace(view.instance.server, target="far")
    far = replace(view, instance=replace(view.instance, server=server))
    assert (await preferences().read_preferences(["compaction_prompt"], "codex", far)).get_text(
        "compaction_prompt"
    ) == ""


async def test_workflows_read_what_is_theirs_and_nothing_else():
    told = await preferences(auto_resume=False).read_preferences(["auto_resume", "continue_prompt"], "codex", None)
    assert (told.is_on("auto_resume"), told.get_text("continue_prompt")) == (False, "proceed.")
    with pytest.raises(BadRequest, match="notify_command"):
        await preferences().read_preferences(["notify_command"], "codex", None)
