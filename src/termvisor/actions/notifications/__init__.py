"""Notify people through four channels: terminal, desktop, webhook, command.

In: a ``Notify`` action from the gate, the only caller. Out: an outcome. Read ``notifier`` first.
"""
