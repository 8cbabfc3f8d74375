"""Notifications through the gate, with a real tmux client, policy and audit log."""

import os

import pytest
from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.model.action.action import Actor, Notify
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, GateScene, open_gate_scene
from tests.unit.actions.notifications.attached_client import attach_client
from tests.unit.actions.notifications.shell_script import write_script
from tests.unit.actions.notifications.webhook_receiver import run_receiver

ROBOT = Actor(kind="robot", uid=os.getuid(), pid=1, name="ci")
BUILD = Notify(title="build", text="it is done")


@pytest.fixture
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def set_up(home: GateScene, **settings) -> None:
    parts = home.world._components
    parts.settings = replace(parts.settings, **settings)


async def told(home: GateScene, action: Notify = BUILD, actor: Actor = ROBOT) -> tuple[str, str]:
    outcome = await home.world.gate_components.gate.run(action, actor, Preconditions())
    return outcome.status, outcome.why


async def record(home: GateScene) -> list[tuple[str, str, str]]:
    return [(entry.stage, entry.outcome, entry.why) for entry in await home.store.audit.list()]


async def test_a_robot_may_notify_the_attached_user_and_it_is_logged(home):
    with attach_client(home.tmux, "work") as person:
        assert await told(home) == ("done", "")
        await person.wait_for_output(b"\x07\x1b]9;Termvisor: build: it is done\x07")
    assert await record(home) == [("intent", "", ""), ("outcome", "done", "")]


async def test_no_attached_client_is_a_logged_outcome(home):
    assert await told(home) == ("failed", "nobody_attached")
    assert (await record(home))[-1] == ("outcome", "failed", "nobody_attached")


async def test_a_repeated_notification_is_suppressed_and_counted(home):
    with attach_client(home.tmux, "work") as person:
        assert await told(home) == ("done", "")
        assert await told(home) == ("suppressed", "repeated")
        assert await told(home, replace(BUILD, text="and tested")) == ("done", "")
        await person.wait_for_output(b"and tested (1 more held back)")
    assert ("outcome", "suppressed", "repeated") in await record(home)


async def test_too_many_notifications_are_suppressed_and_logged(home):
    set_up(home, notify_rate=1)
    with attach_client(home.tmux, "work"):
        assert await told(home) == ("done", "")
        assert await told(home, replace(BUILD, text="more")) == ("suppressed", "too_many")
    assert (await record(home))[-1] == ("outcome", "suppressed", "too_many")


async def test_a_user_who_types_in_the_pane_is_not_notified(home):
    pane = await home.pane("%0")
    about = replace(BUILD, pane=pane)
    with attach_client(home.tmux, "work") as person:
        person.press(b"x")
        await person.wait_for_output(b"x")
        assert await told(home, about) == ("suppressed", "looking")
        home.tmux("select-window", "-t", home.tmux.open_window("work", "cat"))
        assert await told(home, about) == ("done", "")
        await person.wait_for_output(f"pane {pane} (local/work:0.0".encode())


async def test_an_idle_user_is_notified(home):
    set_up(home, notify_looking=0.0)
    pane = await home.pane("%0")
    with attach_client(home.tmux, "work"):
        assert await told(home, replace(BUILD, pane=pane)) == ("done", "")


async def test_a_notification_may_be_about_a_missing_or_reserved_pane(home):
    gone = replace(BUILD, pane=PaneId(4711))
    with attach_client(home.tmux, "work"):
        assert await told(home, gone) == ("done", "")


async def test_a_sent_notification_is_redacted_and_sanitized(home, tmp_path):
    set_up(home, notify_command=(write_script(tmp_path, "tell", f"cat > {tmp_path}/got"),))
    key = "ghp_" + "a1B2c3" * 6
    text = f"\x1b]0;owned\x07token {key[:10]}\x1b[1m{key[10:]}\x00"
    assert await told(home, Notify(title="x\x1b[2J", text=text, way="command")) == ("done", "")
    got = (tmp_path / "got").read_text()
    assert key not in got and "\\u001b" not in got and '"title":"x"' in got


@pytest.mark.parametrize("way", ["webhook", "command"])
async def test_an_unconfigured_channel_fails(home, way):
    assert await told(home, replace(BUILD, way=way)) == ("failed", "not_set_up")


async def test_a_configured_channel_may_be_used(home):
    with run_receiver(200) as there:
        set_up(home, notify_webhook_url=there.url)
        assert await told(home, replace(BUILD, way="webhook")) == ("done", "")
    assert len(there.received) == 1


def rules(home: GateScene, text: str) -> None:
    os.makedirs(home.places.config_dir, exist_ok=True)
    with open(f"{home.places.config_dir}/policy.toml", "w") as file:
        file.write(text)


async def test_in_quiet_hours_nothing_is_sent_or_requested(home):
    rules(home, '[[quiet_hours]]\nfrom = "00:00"\nto = "00:00"\n')
    with attach_client(home.tmux, "work"):
        assert await told(home) == ("suppressed", "policy_asks")
        assert await told(home, actor=ME) == ("done", "")
    assert await home.store.approvals.list() == []
    assert ("outcome", "suppressed", "policy_asks") in await record(home)


async def test_a_policy_denial_is_obeyed(home):
    rules(home, '[[rule]]\nid = "hush"\nanswer = "deny"\nwhen = { kind = ["notify"] }\n')
    with pytest.raises(Refused, match="hush"):
        await told(home)
    assert (await record(home))[-1][1] == "denied"


async def test_a_failed_notification_may_be_repeated_at_once(home):
    assert await told(home) == ("failed", "nobody_attached")
    with attach_client(home.tmux, "work"):
        assert await told(home) == ("done", "")
