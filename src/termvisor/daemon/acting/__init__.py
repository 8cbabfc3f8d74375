"""The daemon's part of `actions`: access to live panes, and notifications about approvals and events."""
