"""A toy agent in a real pane, from discovery to exit."""

import asyncio
import sys

import pytest

from termvisor.agents.adapters import loader
from termvisor.daemon.agents.assembly import build_screen_rules
from termvisor.daemon.assembly import open_services
from termvisor.model.agent.state import StateChange
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.pattern_cache import install_pattern_cache
from tests.unit.agents.adapters.adapter_inputs import build_screen
from tests.unit.agents.tracking import toy_agent
from tests.unit.detection.packs.user_rule import USER_RULE

OTHERS = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "generic")
SETTINGS = {"thin_interval": 0.2, "full_interval": 1.0, "flush_interval": 0.02, "agents_disabled": OTHERS}


@pytest.fixture
async def scene(tmp_path, monkeypatch):
    """A captured shell and a toy agent that can be started in it."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        toy_agent.install_adapter(tmp_path, monkeypatch),
    ):
        pane = tmux.start_session(command="bash --norc --noprofile")
        places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        install_pattern_cache(places)
        yield Scene(
            places, Settings(tmux_sockets=(tmux.socket,), **SETTINGS), tmux, pane, toy_agent.write_program(tmp_path)
        )


class Scene:
    def __init__(self, places, settings, tmux, pane, program):
        self.places, self.settings, self.tmux, self.pane = places, settings, tmux, pane
        self.call = f"{sys.executable} {program}"

    def open_services(self):
        return open_services(self.places, self.settings)

    def type_line(self, text: str) -> None:
        self.tmux.type_line(self.pane, text)


async def wait_for_change(changes, matches) -> StateChange:
    async with asyncio.timeout(20):
        while True:
            change = await changes.get()
            if matches(change.after):
                return change


async def wait_for_state(changes, value) -> StateChange:
    return await wait_for_change(changes, lambda state: state.value == value)


async def wait_for_capture(services):
    async with asyncio.timeout(20):
        while not (panes := [pane for pane in await services.panes.list_panes() if pane.heard_by == "pipe"]):
            await asyncio.sleep(0.02)
    return panes[0].id


async def wait_for_session_end(services, pane, reason) -> None:
    """Wait until the only session of a pane ended for this reason."""
    async with asyncio.timeout(20):
        while [one.end_reason for one in await services.agents.list_sessions(pane=pane)] != [reason]:
            await asyncio.sleep(0.02)


async def test_an_agent_is_recognized_tracked_and_ended(scene):
    async with scene.open_services() as services:
        pane = await wait_for_capture(services)
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line(f"bash -c '{scene.call}; true'")
            began = await wait_for_change(changes, lambda state: state.agent == "toy")
            assert (began.before, began.after.value, began.after.pane) == (None, "unknown", pane)
            for word, value in (("working", "running"), ("blocked", "waiting_approval"), ("done", "completed")):
                scene.type_line(f"{word} id=abc:model=toy-1")
                state = (await wait_for_state(changes, value)).after
                assert (state.evidence_mode, state.source, state.presence) == ("deterministic", "osc", "managed")
                (signal,) = (await services.agents.find_signals([state.evidence])).values()
                assert (signal.source, signal.state, signal.session) == ("osc", value, "abc")
            (view,) = (await services.agents.list_views()).values()
            assert (view.need, view.session.external_id, view.session.model) == ("review", "abc", "toy-1")
            explanation = await services.agents.explain_state(pane)
            assert explanation.testimonies[0].role == "decides"
            scene.type_line("bye")
            gone = await wait_for_change(changes, lambda state: state.presence == "unmanaged")
            assert gone.after.runtime == began.after.runtime
        assert await services.agents.list_views() == {}
        (session,) = await services.agents.list_sessions()
        assert (session.end_reason, session.resume) == ("completed", ("toy-agent", "--resume", "abc"))
        kinds = [event.kind for event in await services.history.list_events(pane=pane, limit=50)]
        assert [kind for kind in kinds if kind.startswith(("agent", "state"))] == [
            "agent_began",
            *["state_changed"] * 3,
            "agent_ended",
        ]


async def test_a_restarted_daemon_knows_the_same_agent(scene):
    async with scene.open_services() as services:
        await wait_for_capture(services)
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line(scene.call)
            await wait_for_change(changes, lambda state: state.agent == "toy")
            scene.type_line("blocked")
            before = (await wait_for_state(changes, "waiting_approval")).after
        services.keeps_recorder = True
    async with scene.open_services() as services:
        pane = await wait_for_capture(services)
        (view,) = (await services.agents.list_views()).values()
        assert (view.state.runtime, view.state.value) == (before.runtime, "waiting_approval")
        assert view.state.evidence == before.evidence
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line("working")
            assert (await wait_for_state(changes, "running")).after.runtime == before.runtime
            scene.tmux("kill-pane", "-t", scene.pane)
            await wait_for_change(changes, lambda state: state.presence == "unmanaged")
        await wait_for_session_end(services, pane, "pane_gone")


async def test_an_agent_that_exited_without_a_daemon_is_ended_at_start(scene):
    async with scene.open_services() as services:
        await wait_for_capture(services)
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line(scene.call)
            await wait_for_change(changes, lambda state: state.agent == "toy")
    scene.type_line("bye")
    async with scene.open_services() as services:
        async with asyncio.timeout(20):
            while await services.agents.list_views():
                await asyncio.sleep(0.02)
        (session,) = await services.agents.list_sessions()
        assert session.ended_at is not None


async def test_an_agent_without_signals_is_recognized_by_its_screen(scene):
    async with scene.open_services() as services:
        await wait_for_capture(services)
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line(scene.call)
            state = (await wait_for_state(changes, "idle")).after
        assert (state.evidence_mode, state.source, state.confidence) == ("heuristic", "screen", "medium")


async def test_a_disabled_agent_is_not_detected(scene):
    scene.settings = Settings(tmux_sockets=(scene.tmux.socket,), **SETTINGS | {"agents_disabled": (*OTHERS, "toy")})
    async with scene.open_services() as services:
        pane = await wait_for_capture(services)
        scene.type_line(scene.call)
        async with asyncio.timeout(20):
            while "toy ready" not in [line.text for line in await services.history.list_lines(pane)]:
                await services.panes.wait_until_stored()
        assert await services.agents.list_views() == {}


def test_a_users_screen_rule_is_used(tmp_path):
    places = Paths(f"{tmp_path}/c", f"{tmp_path}/d", f"{tmp_path}/r")
    make_instance_folders(places)
    folder = tmp_path / "c" / "packs" / "mine"
    folder.mkdir(parents=True)
    (folder / "done.toml").write_text(USER_RULE.format(name="mine.screen.done"))
    found = {one.name: one for one in loader.load_adapters(rule_provider=build_screen_rules(places, Settings()))}
    shown = build_screen(["• All done", "", "› Ask Codex to do anything", "", "  gpt-6 default · ~/src"])
    assert found["codex"].classify_screen(shown).rule == "mine.screen.done"


async def test_signals_written_without_a_daemon_are_read_by_the_next_one(scene, tmp_path):
    notes = tmp_path / "home" / "a.log"
    notes.parent.mkdir()
    notes.write_text("state=error\n")
    async with scene.open_services() as services:
        await wait_for_capture(services)
        with services.agents.subscribe_state_changes() as changes:
            scene.type_line(f"TOY_HOME={notes.parent} {scene.call} --resume abc")
            began = await wait_for_change(changes, lambda state: state.agent == "toy")
            async with asyncio.timeout(20):
                while not (await services._components.store.agent_facts.load_state()).bookmarks:
                    await asyncio.sleep(0.02)
            (session,) = await services.agents.list_sessions(pane=began.after.pane)
            assert (session.external_id, session.resume) == ("abc", (toy_agent.PROGRAM_NAME, "--resume", "abc"))
    with notes.open("a") as file:
        file.write("state=blocked\n")
    async with scene.open_services() as services, asyncio.timeout(20):
        while not [
            view for view in (await services.agents.list_views()).values() if view.state.value == "waiting_approval"
        ]:
            await asyncio.sleep(0.02)
        (view,) = (await services.agents.list_views()).values()
        assert (view.state.runtime, view.state.source) == (began.after.runtime, "notes")
