"""What a notifier does with its recipients and channels, without tmux."""

import pytest

from termvisor.actions.notifications.channels import NotificationResult
from termvisor.actions.notifications.notifier import Notifier, build_channels, build_notice_id
from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import NS, format_timestamp
from termvisor.errors import MuxError
from termvisor.model.action.action import Notify
from termvisor.model.action.notification import UserNotification
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.testing.fake_clock import NOON, FakeClock

DONE = NotificationResult("done")
BUILD = Notify(title="build", text="it is done", pane=PaneId(7))


class ScriptedRecipients:
    """``typed_ago`` are the seconds since the key presses of the clients that show the pane."""

    def __init__(self, *typed_ago: float, error: MuxError | None = None):
        self._typed_ago, self._error = typed_ago, error

    async def list_viewers(self, _pane: PaneId) -> list[AttachedClient]:
        if self._error is not None:
            raise self._error
        return [AttachedClient("/dev/pts/1", "%1", NOON - int(ago * NS), True) for ago in self._typed_ago]

    async def describe_pane(self, pane: PaneId) -> str:
        return f"pane {pane} (work)"


async def notify(recipients: ScriptedRecipients, result: NotificationResult = DONE):
    sent: list[UserNotification] = []

    async def send(notice: UserNotification, _settings: NotificationSettings) -> NotificationResult:
        sent.append(notice)
        return result

    settings = NotificationSettings(notify_looking=30)
    notifier = Notifier(recipients, {"terminal": send}, lambda: settings, FakeClock())
    return await notifier.send_notification(BUILD, "c"), sent


@pytest.mark.parametrize(
    "recipients", [ScriptedRecipients(), ScriptedRecipients(30.0), ScriptedRecipients(error=MuxError("x"))]
)
async def test_a_user_who_is_not_known_to_look_is_notified(recipients):
    outcome, sent = await notify(recipients)
    assert outcome == Outcome(status="done", pane=PaneId(7))
    assert sent == [
        UserNotification(
            id=build_notice_id(BUILD, "c"), correlation="c", at=format_timestamp(NOON), title="build",
            text="it is done", pane=PaneId(7), place="pane 7 (work)",
        )
    ]  # fmt: skip


async def test_a_user_who_looks_at_the_pane_is_not_notified():
    outcome, sent = await notify(ScriptedRecipients(60.0, 29.9))
    text = "a user is looking at that pane (notify_looking)"
    assert (outcome, sent) == (Outcome(status="suppressed", why="looking", text=text, pane=PaneId(7)), [])


async def test_the_result_of_the_channel_is_the_outcome():
    outcome, _ = await notify(ScriptedRecipients(), NotificationResult("failed", "no_answer", "tmux hangs"))
    assert outcome == Outcome(status="failed", why="no_answer", text="tmux hangs", pane=PaneId(7))


def test_an_id_depends_on_everything_that_is_sent():
    changed = [
        Notify(title="b", text="it is done"),
        Notify(title="build", text="x"),
        Notify(title="build", text="it is done", way="desktop"),
    ]
    ids = {build_notice_id(BUILD, "c"), build_notice_id(BUILD, "d"), *(build_notice_id(one, "c") for one in changed)}
    assert len(ids) == 5
    assert build_notice_id(Notify(title="\ud800", text=""), "c")


def test_every_way_has_its_channel():
    assert list(build_channels(ScriptedRecipients(), FakeClock())) == ["terminal", "desktop", "webhook", "command"]
