"""The check `history_limit`: tmux keeps enough scrollback to bridge a time when nobody listened."""

from termvisor.diagnostics.checks.check import Finding, Sight

ENOUGH = 50_000


class HistoryIsLong:
    name = "history_limit"
    doc = "Every pane's `history-limit` is at least 50,000 lines."

    async def look(self, sight: Sight) -> Finding:
        panes = [pane for pane in await sight.panes() or () if pane.facts.history_limit]
        if not panes:
            return Finding(name=self.name, status="skip", message="no panes are known")
        short = [pane for pane in panes if pane.facts.history_limit < ENOUGH]
        if short:
            least = min(pane.facts.history_limit for pane in short)
            return Finding(
                name=self.name,
                status="warn",
                message=f"{len(short)} of {len(panes)} panes keep fewer than {ENOUGH:,} lines (the shortest {least:,})",
                hint="Put `set -g history-limit 50000` into ~/.tmux.conf; it holds for new panes.",
            )
        return Finding(name=self.name, status="ok", message=f"all {len(panes)} panes keep {ENOUGH:,} lines or more")
