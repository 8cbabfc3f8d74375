"""A project file counts only if it is a small regular file of the user."""

import os

import pytest
from msgspec.structs import replace

from termvisor.daemon.workflows.step_services import WorkflowSessions, read_preferences, read_project_prompt
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.settings import Settings
from termvisor.store.tables.agent_facts import FactBatch
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.workflows.calls import LastSessionCall
from tests.unit.agents.tracking.tracker_scene import ONE
from tests.unit.daemon.services.test_agents import services, start_agent  # noqa: F401 - a fixture


def write_project_file(folder, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    (folder / ".termvisor.toml").write_bytes(data)
    return str(folder)


def build_view(folder):
    view = FakeServices().add_pane(build_shell_facts())
    return replace(view, facts=replace(view.facts, cwd=str(folder)))


def test_a_project_prompt_is_joined_to_one_line(tmp_path):
    folder = write_project_file(tmp_path, '[compaction]\nprompt = """\nRead NOTES.md\n  again."""\n')
    assert read_project_prompt(folder) == "Read NOTES.md again."


def test_a_project_without_a_prompt_gives_an_empty_one(tmp_path):
    assert read_project_prompt(str(tmp_path)) == ""
    assert read_project_prompt(str(tmp_path / "nowhere")) == ""
    assert read_project_prompt(write_project_file(tmp_path, "[other]\nx = 1\n")) == ""


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
        read_project_prompt(write_project_file(tmp_path, text))
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


async def test_the_project_file_overrides_the_settings_unless_it_is_invalid(tmp_path):
    known = Settings(compaction_prompts={"codex": "from the settings"})
    view = build_view(tmp_path)
    found = await read_preferences(known, ["compaction_prompt"], "codex", view)
    assert (found.get_text("compaction_prompt"), found.origins) == ("from the settings", {})
    write_project_file(tmp_path, '[compaction]\nprompt = "from the project"\n')
    found = await read_preferences(known, ["compaction_prompt"], "codex", view)
    assert found.get_text("compaction_prompt") == "from the project"
    assert found.origins == {"compaction_prompt": str(tmp_path / ".termvisor.toml")}
    write_project_file(tmp_path, "[compaction")
    found = await read_preferences(known, ["compaction_prompt"], "codex", view)
    assert found.get_text("compaction_prompt") == "from the settings"
    assert ".termvisor.toml" in found.trouble


async def test_a_project_on_another_machine_is_not_read_here(tmp_path):
    write_project_file(tmp_path, '[compaction]\nprompt = "from the project"\n')
    view = build_view(tmp_path)
    server = replace(view.instance.server, target="far")
    far = replace(view, instance=replace(view.instance, server=server))
    assert (await read_preferences(Settings(), ["compaction_prompt"], "codex", far)).get_text("compaction_prompt") == ""


async def test_workflows_can_read_only_declared_preferences():
    found = await read_preferences(Settings(auto_resume=False), ["auto_resume", "continue_prompt"], "codex", None)
    assert (found.is_on("auto_resume"), found.get_text("continue_prompt")) == (False, "proceed.")
    with pytest.raises(BadRequest, match="notify_command"):
        await read_preferences(Settings(), ["notify_command"], "codex", None)


async def test_the_last_session_of_a_pane_is_found_by_process_or_id(services):  # noqa: F811
    pane = await start_agent(services, "running")
    sessions = WorkflowSessions(services._components)
    found = await sessions.find_last_session(pane, LastSessionCall())
    assert (found.agent, found.runtime, found.is_over) == ("toy", ONE, False)
    assert (await sessions.find_last_session(pane, LastSessionCall(runtime=ONE))).id == found.id
    assert (await sessions.find_last_session(pane, LastSessionCall(runtime=RuntimeId(9)))).id == 0
    assert (await sessions.find_last_session(pane, LastSessionCall(session="another"))).id == 0


async def test_only_missing_fields_of_an_ended_session_are_filled_in(services):  # noqa: F811
    pane = await start_agent(services, "running")
    sessions = WorkflowSessions(services._components)
    number = (await sessions.find_last_session(pane, LastSessionCall())).id
    assert (await sessions.update_session(number, "", {"total": 7})).tokens == {}, "it goes on"
    (known,) = await services._components.store.sessions.list()
    over = replace(known, ended_at=known.started_at + 1, end_reason="completed")
    await services._components.store.agent_facts.add(FactBatch(sessions=[over]))
    assert (await sessions.update_session(number, "", {"total": 7, "nonsense": 3})).tokens == {"total": 7}
    kept = await sessions.update_session(number, "", {"total": 9, "input": 4})
    assert (kept.tokens, kept.is_over, kept.end_reason) == ({"total": 7, "input": 4}, True, "completed")
    assert (await sessions.update_session(SessionId(999), "", {})).id == 0
