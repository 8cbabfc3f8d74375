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
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def change_settings(scene: GateScene, **settings) -> None:
    parts = scene.services._components
    parts.settings = replace(parts.settings, **settings)


async def send_notification(scene: GateScene, action: Notify = BUILD, actor: Actor = ROBOT) -> tuple[str, str]:
    outcome = await scene.services.gate_components.gate.run(action, actor, Preconditions())
    return outcome.status, outcome.why


async def list_audit(scene: GateScene) -> list[tuple[str, str, str]]:
    return [(entry.stage, entry.outcome, entry.why) for entry in await scene.store.audit.list()]


async def test_a_robot_may_notify_the_attached_user_and_it_is_logged(scene):
    with attach_client(scene.tmux, "work") as person:
        assert await send_notification(scene) == ("done", "")
        await person.wait_for_output(b"\x07\x1b]9;Termvisor: build: it is done\x07")
    assert await list_audit(scene) == [("intent", "", ""), ("outcome", "done", "")]


async def test_no_attached_client_is_logged_as_the_outcome(scene):
    assert await send_notification(scene) == ("failed", "nobody_attached")
    assert (await list_audit(scene))[-1] == ("outcome", "failed", "nobody_attached")


async def test_a_repeated_notification_is_suppressed_and_counted(scene):
    with attach_client(scene.tmux, "work") as person:
        assert await send_notification(scene) == ("done", "")
        assert await send_notification(scene) == ("suppressed", "repeated")
        assert await send_notification(scene, replace(BUILD, text="and tested")) == ("done", "")
        await person.wait_for_output(b"and tested (1 more held back)")
    assert ("outcome", "suppressed", "repeated") in await list_audit(scene)


async def test_too_many_notifications_are_suppressed_and_logged(scene):
    change_settings(scene, notify_rate=1)
    with attach_client(scene.tmux, "work"):
        assert await send_notification(scene) == ("done", "")
        assert await send_notification(scene, replace(BUILD, text="more")) == ("suppressed", "too_many")
    assert (await list_audit(scene))[-1] == ("outcome", "suppressed", "too_many")


async def test_a_user_who_types_in_the_pane_is_not_notified(scene):
    pane = await scene.wait_for_capture("%0")
    about = replace(BUILD, pane=pane)
    with attach_client(scene.tmux, "work") as person:
        person.press(b"x")
        await person.wait_for_output(b"x")
        assert await send_notification(scene, about) == ("suppressed", "looking")
        scene.tmux("select-window", "-t", scene.tmux.open_window("work", "cat"))
        assert await send_notification(scene, about) == ("done", "")
        await person.wait_for_output(f"pane {pane} (local/work:0.0".encode())


async def test_an_idle_user_is_notified(scene):
    change_settings(scene, notify_looking=0.0)
    pane = await scene.wait_for_capture("%0")
    with attach_client(scene.tmux, "work"):
        assert await send_notification(scene, replace(BUILD, pane=pane)) == ("done", "")


async def test_a_notification_may_be_about_a_missing_or_reserved_pane(scene):
    gone = replace(BUILD, pane=PaneId(4711))
    with attach_client(scene.tmux, "work"):
        assert await send_notification(scene, gone) == ("done", "")


async def test_a_sent_notification_is_redacted_and_sanitized(scene, tmp_path):
    change_settings(scene, notify_command=(write_script(tmp_path, "tell", f"cat > {tmp_path}/got"),))
    key = "ghp_" + "a1B2c3" * 6
    text = f"\x1b]0;owned\x07token {key[:10]}\x1b[1m{key[10:]}\x00"
    assert await send_notification(scene, Notify(title="x\x1b[2J", text=text, way="command")) == ("done", "")
    got = (tmp_path / "got").read_text()
    assert key not in got and "\\u001b" not in got and '"title":"x"' in got


@pytest.mark.parametrize("way", ["webhook", "command"])
async def test_an_unconfigured_channel_fails(scene, way):
    assert await send_notification(scene, replace(BUILD, way=way)) == ("failed", "not_set_up")


async def test_a_configured_channel_may_be_used(scene):
    with run_receiver(200) as there:
        change_settings(scene, notify_webhook_url=there.url)
        assert await send_notification(scene, replace(BUILD, way="webhook")) == ("done", "")
    assert len(there.received) == 1


def write_policy(scene: GateScene, text: str) -> None:
    os.makedirs(scene.places.config_dir, exist_ok=True)
    with open(f"{scene.places.config_dir}/policy.toml", "w") as file:
        file.write(text)


async def test_in_quiet_hours_nothing_is_sent_or_requested(scene):
    write_policy(scene, '[[quiet_hours]]\nfrom = "00:00"\nto = "00:00"\n')
    with attach_client(scene.tmux, "work"):
        assert await send_notification(scene) == ("suppressed", "policy_asks")
        assert await send_notification(scene, actor=ME) == ("done", "")
    assert await scene.store.approvals.list() == []
    assert ("outcome", "suppressed", "policy_asks") in await list_audit(scene)


async def test_a_policy_denial_stops_the_notification(scene):
    write_policy(scene, '[[rule]]\nid = "hush"\nanswer = "deny"\nwhen = { kind = ["notify"] }\n')
    with pytest.raises(Refused, match="hush"):
        await send_notification(scene)
    assert (await list_audit(scene))[-1][1] == "denied"


async def test_a_failed_notification_may_be_repeated_at_once(scene):
    assert await send_notification(scene) == ("failed", "nobody_attached")
    with attach_client(scene.tmux, "work"):
        assert await send_notification(scene) == ("done", "")
