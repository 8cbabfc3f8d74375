"""Contract tests for extensions: subclass one, set your extension, and run it with pytest.

They require `pytest` and `hypothesis`, which Termvisor itself does not need.
"""
