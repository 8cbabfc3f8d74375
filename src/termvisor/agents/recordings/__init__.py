"""Replay recordings of agents without a daemon, using the same adapters and the same fold as for a running agent.

file → `scene_files` or `asciicast` → AgentRecording → `replay` → ReplayResult
"""
