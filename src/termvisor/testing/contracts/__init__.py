"""Contract tests for extensions: subclass one, name your extension, and run it with pytest.

They need `pytest` and `hypothesis`, which Termvisor itself does not.
"""
