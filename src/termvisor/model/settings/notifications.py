"""Notification settings and their validation. In `config.toml` they may be in a table `[notify]`: `ways = …`."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.model.action.action import NotificationWay
from termvisor.model.settings.units import SECONDS

_WEBHOOK_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-\"$-~]*)?"
)
_LOOPBACK_HOST = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]", re.IGNORECASE)
_SECRET_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:/.+")


class NotificationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    notify_ways: Annotated[
        tuple[NotificationWay, ...],
        Meta(
            description="Ways for notifications of approval requests, and of `visor notify` without a way. An empty"
            " list turns them off."
        ),
    ] = ("terminal",)
    notify_terminal: Annotated[
        Literal["both", "bell", "message"],
        Meta(description="What attached terminals get: a bell, a message (OSC 9) that many of them show, or both."),
    ] = "both"
    notify_webhook_url: Annotated[
        str, Meta(description="URL for webhooks: https://…; http://… only on this machine. Empty: no webhooks.")
    ] = ""
    notify_webhook_secret: Annotated[
        str,
        Meta(description="Source of the secret that signs webhooks: `env:NAME` or `file:/path`. Empty: not signed."),
    ] = ""
    notify_command: Annotated[
        tuple[str, ...],
        Meta(description="Program and arguments of the way `command`; it gets the notification as JSON on stdin."),
    ] = ()
    notify_timeout: Annotated[
        float, Meta(description="Timeout of one delivery attempt, in seconds.", gt=0, le=60, extra=SECONDS)
    ] = 5.0
    notify_window: Annotated[
        float,
        Meta(description="Seconds in which the same notification is not repeated.", ge=0, le=86_400, extra=SECONDS),
    ] = 60.0
    notify_rate: Annotated[
        int,
        Meta(description="Notifications per minute and way; the next one says how many were held back.", ge=1, le=600),
    ] = 10
    notify_looking: Annotated[
        float,
        Meta(
            description="No notification for a pane that you are viewing if you pressed a key within this many seconds."
            " 0: always notify.",
            ge=0,
            extra=SECONDS,
        ),
    ] = 30.0


class WebhookAddress(Struct, frozen=True):
    is_secure: bool
    host: str
    port: int
    path: str


def parse_webhook_url(url: str) -> WebhookAddress | None:
    """Parse a webhook URL. Return None if it is invalid, has a user or password, or is http to another machine."""
    match = _WEBHOOK_URL.fullmatch(url)
    if match is None or int(match["port"] or 1) not in range(1, 65_536):
        return None
    is_secure = match["scheme"] == "https"
    if not is_secure and not _LOOPBACK_HOST.fullmatch(match["host"]):
        return None
    port = int(match["port"] or (443 if is_secure else 80))
    return WebhookAddress(is_secure, match["host"].strip("[]"), port, match["path"] or "/")


def find_notification_problems(settings: NotificationSettings) -> Iterator[str]:
    """Yield the problems in the settings. The texts contain no values, because a URL may contain a token."""
    if settings.notify_webhook_url and parse_webhook_url(settings.notify_webhook_url) is None:
        yield "notify_webhook_url: must be https://host/path, or http:// with a host of this machine, and no password"
    if settings.notify_webhook_secret and not _SECRET_REFERENCE.fullmatch(settings.notify_webhook_secret):
        yield "notify_webhook_secret: must be env:NAME or file:/path, not the secret itself"
    if settings.notify_command[:1] == ("",):
        yield "notify_command: the first word must be a program"


def find_missing_settings(settings: NotificationSettings) -> dict[NotificationWay, str]:
    """Return the channels that lack a required setting, with the setting's name."""
    missing: dict[NotificationWay, str] = {}
    if not settings.notify_webhook_url:
        missing["webhook"] = "notify_webhook_url"
    if not settings.notify_command:
        missing["command"] = "notify_command"
    return missing
