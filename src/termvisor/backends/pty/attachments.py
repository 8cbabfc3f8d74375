"""Prepare terminals of people for showing own terminals: permission from the host, and the screen as it is.

A viewer changes the size of the terminal when it connects, so the screen is written again when the host reports that.
"""

import glob
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress

from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.pane_ids import parse_mux_id
from termvisor.backends.pty.pane_screen import PaneScreen
from termvisor.backends.pty.viewer.attach_file import AttachFile, write_attach_file
from termvisor.errors import MuxError, Unavailable
from termvisor.model.ids import MuxPaneId
from termvisor.model.paths import Paths

_FILE_PREFIX = "attach-"


class PaneAttachments:
    """Attach files that no viewer has read yet."""

    def __init__(self, paths: Paths, client: PtyHostClient, screens: Mapping[int, PaneScreen]):
        self._paths, self._client, self._screens = paths, client, screens
        self._pending: dict[str, tuple[int, AttachFile]] = {}
        """By path: the terminal's number, and what does not change."""

    def prepare(self, pane: MuxPaneId, detach_key: str, size_rule: str) -> str:
        """Allow one more viewer and return the path of its attach file. Raises MuxError if the pane is gone."""
        number = parse_mux_id(pane)
        if number not in self._screens or number not in self._client.programs:
            raise MuxError(f"pane {pane} is gone")
        token = secrets.token_hex(16)
        try:
            self._client.send_grant(number, token, size_rule)
        except Unavailable as error:
            raise MuxError(str(error)) from error
        path = f"{self._paths.runtime_dir}/{_FILE_PREFIX}{token}"
        attach = AttachFile(
            host_socket=self._paths.pty_host_socket, token=token, raw_dir=self._paths.raw_dir, detach_key=detach_key
        )
        self._pending[path] = (number, attach)
        self._write(path, number, attach)
        return path

    def refresh(self, number: int) -> None:
        """Write the screen of a terminal again for viewers that wait for it."""
        for path, (pending, attach) in list(self._pending.items()):
            if not os.path.exists(path):
                # The viewer has begun.
                del self._pending[path]
            elif pending == number:
                self._write(path, number, attach)

    def close(self) -> None:
        for path in self._pending:
            with suppress(OSError):
                os.unlink(path)
        self._pending.clear()

    def _write(self, path: str, number: int, attach: AttachFile) -> None:
        program, screen = self._client.programs.get(number), self._screens.get(number)
        if program is None or screen is None:
            return
        offset = screen.update()
        write_attach_file(
            path,
            AttachFile(
                host_socket=attach.host_socket,
                token=attach.token,
                raw_dir=attach.raw_dir,
                detach_key=attach.detach_key,
                stream=screen.stream,
                offset=offset,
                rows=program.rows,
                columns=program.columns,
                state=screen.model.encode_state(),
            ),
        )


def delete_attach_files(folder: str) -> None:
    """Delete files that an earlier daemon left: they hold screens."""
    for path in glob.glob(f"{glob.escape(folder)}/{_FILE_PREFIX}*"):
        with suppress(OSError):
            os.unlink(path)
