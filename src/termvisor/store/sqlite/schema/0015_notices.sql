-- Notices of events that are owed to people and programs; one goes once it came to its end, whatever that was.
CREATE TABLE notice (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
);

-- Up to which event they were made; no row while nobody wants to be told.
CREATE TABLE notice_cursor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    event INTEGER NOT NULL
);
