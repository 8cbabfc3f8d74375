"""A Notice is what a person is told: clean, redacted, short. Beside it stand the settings that say how it is told."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.ids import PaneId

_WEBHOOK_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-\"$-~]*)?"
)
_LOOPBACK_HOST = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]", re.IGNORECASE)
_SECRET_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:/.+")


class UserNotification(Struct, frozen=True, kw_only=True):
    """``id`` is the same in every try to deliver it; ``correlation`` finds it in the audit; ``place`` is where the pane
    is.
    """

    id: str
    correlation: str = ""
    at: str
    title: str
    text: str = ""
    pane: PaneId | None = None
    place: str = ""
    held_back: int = 0
    """How many were not told, by this way, since the last one that was."""

    @property
    def body(self) -> str:
        """Everything but the title, for a person."""
        more = f"({self.held_back} more held back)" if self.held_back else ""
        return "\n".join(filter(None, (self.text, self.place, more)))


class PendingNotification(Struct, frozen=True, kw_only=True):
    """A notice of an event that is yet to be told. ``key`` is the same however often that is begun, and no other notice
    anywhere has it; ``at`` is when the event was."""

    id: int = 0
    key: str
    at: int
    action: Notify
    tries: int = 0

    @property
    def summarized_count(self) -> int:
        """How many it sums up; 0 for one of a single event."""
        return int(self.key.split(".")[2]) if self.key.startswith("events.") else 0


class NotificationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How people are told. In `config.toml` they may stand in a table: `[notify]` and `ways = …`."""

    notify_ways: Annotated[
        tuple[NotificationWay, ...],
        Meta(description="How you are told of questions, and of `visor notify` without a way. An empty list: not."),
    ] = ("terminal",)
    notify_terminal: Annotated[
        Literal["both", "bell", "message"],
        Meta(description="What your terminals get: a bell, a message (OSC 9) that many of them show, or both."),
    ] = "both"
    notify_webhook_url: Annotated[
        str, Meta(description="Where webhooks go: https://…; http://… on this machine only. Empty: nowhere.")
    ] = ""
    notify_webhook_secret: Annotated[
        str,
        Meta(description="Where the secret is that signs webhooks: `env:NAME` or `file:/path`. Empty: not signed."),
    ] = ""
    notify_command: Annotated[
        tuple[str, ...],
        Meta(description="The program of the way `command`, with its arguments; it reads the notice as JSON."),
    ] = ()
    notify_timeout: Annotated[float, Meta(description="Seconds that one try of a way may take.", gt=0, le=60)] = 5.0
    notify_window: Annotated[
        float, Meta(description="Seconds in which the same is not told twice.", ge=0, le=86_400)
    ] = 60.0
    notify_rate: Annotated[
        int,
        Meta(
            description="Notifications a minute by each way; the next one says how many were held back.", ge=1, le=600
        ),
    ] = 10
    notify_looking: Annotated[
        float,
        Meta(
            description="Who has the pane before them and pressed a key so many seconds ago is not told. 0: also they.",
            ge=0,
        ),
    ] = 30.0


class WebhookAddress(Struct, frozen=True):
    """Where a webhook goes."""

    is_secure: bool
    host: str
    port: int
    path: str


def parse_webhook_url(url: str) -> WebhookAddress | None:
    """None for what is no address that we send to: names and passwords do not belong in one."""
    found = _WEBHOOK_URL.fullmatch(url)
    if found is None or int(found["port"] or 1) not in range(1, 65_536):
        return None
    is_secure = found["scheme"] == "https"
    if not is_secure and not _LOOPBACK_HOST.fullmatch(found["host"]):
        return None
    port = int(found["port"] or (443 if is_secure else 80))
    return WebhookAddress(is_secure, found["host"].strip("[]"), port, found["path"] or "/")


def find_notification_problems(settings: NotificationSettings) -> Iterator[str]:
    """What is wrong in itself. What is told names no value: an address may hold a token."""
    if settings.notify_webhook_url and parse_webhook_url(settings.notify_webhook_url) is None:
        yield "notify_webhook_url: must be https://host/path, or http:// with a host of this machine, and no password"
    if settings.notify_webhook_secret and not _SECRET_REFERENCE.fullmatch(settings.notify_webhook_secret):
        yield "notify_webhook_secret: must say where the secret is, as env:NAME or file:/path, and not be it"
    if settings.notify_command[:1] == ("",):
        yield "notify_command: the first word must be a program"


def find_missing_settings(settings: NotificationSettings) -> dict[NotificationWay, str]:
    """Ways that cannot work, each with the setting that it lacks."""
    lacks: dict[NotificationWay, str] = {}
    if not settings.notify_webhook_url:
        lacks["webhook"] = "notify_webhook_url"
    if not settings.notify_command:
        lacks["command"] = "notify_command"
    return lacks
