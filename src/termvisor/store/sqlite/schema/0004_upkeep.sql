-- One row a run: masking, compressing, deleting, copies, checks.
CREATE TABLE maintenance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    operation TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    duration REAL NOT NULL,
    "rows" INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    detail TEXT NOT NULL
);
