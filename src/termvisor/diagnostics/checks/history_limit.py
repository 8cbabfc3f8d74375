"""The check `history_limit`: tmux keeps enough scrollback to recover output that was not captured."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

MIN_HISTORY_LINES = 50_000


class HistoryLimitCheck:
    name = "history_limit"
    doc = "Every pane's `history-limit` is at least 50,000 lines."

    async def run(self, context: CheckContext) -> CheckFinding:
        panes = [pane for pane in await context.list_panes() or () if pane.facts.history_limit]
        if not panes:
            return CheckFinding(name=self.name, status="skip", message="no panes")
        short = [pane for pane in panes if pane.facts.history_limit < MIN_HISTORY_LINES]
        if short:
            least = min(pane.facts.history_limit for pane in short)
            count = f"{len(short)} of {len(panes)} panes"
            return CheckFinding(
                name=self.name,
                status="warn",
                message=f"{count} keep fewer than {MIN_HISTORY_LINES:,} lines (the shortest {least:,})",
                hint="Put `set -g history-limit 50000` into ~/.tmux.conf; it applies to new panes.",
            )
        return CheckFinding(
            name=self.name, status="ok", message=f"all {len(panes)} panes keep {MIN_HISTORY_LINES:,} lines or more"
        )
