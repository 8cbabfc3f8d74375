"""Recordings of agents, read again: the same adapters and the same fold as for a living one, without a daemon.

file ─► scenes.py or cast.py ─► Recording ─► play.py ─► Replayed
"""
