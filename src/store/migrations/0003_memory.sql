-- What is remembered. AUTOINCREMENT: the id of a record that is gone never comes back as another.
CREATE TABLE memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- core, fact, event
  kind TEXT NOT NULL,
  importance INTEGER NOT NULL,
  private INTEGER NOT NULL,
  content TEXT NOT NULL,
  -- Where it came from: a chat, a file, a session. Neighbours of one source are each other's context.
  source TEXT,
  -- Who says it, in stems, when the content is a line of a conversation such as `Anna: hello`.
  speaker TEXT,
  -- How often it was asked for or said again.
  hits INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The age of a record counts from here.
  accessed_at INTEGER NOT NULL,
  -- Sleep has settled it: older than updated_at means changed since.
  consolidated_at INTEGER
) STRICT;
CREATE INDEX memories_core ON memories (importance) WHERE kind = 'core';
CREATE INDEX memories_private ON memories (id) WHERE private = 1;

-- Stems, and their first letters with less weight; the row is that of the memory. What is deleted leaves the
-- file, too.
CREATE VIRTUAL TABLE memory_index USING fts5(
  stems, roots, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
INSERT INTO memory_index (memory_index, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memory_terms USING fts5vocab('memory_index', 'col');

-- A vector belongs to the model that made it: those of two models cannot be compared. The signs of its parts
-- stand first, since they are read without it.
CREATE TABLE memory_vectors (
  memory_id INTEGER PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  signs BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;

-- What was forgotten and can still come back.
CREATE TABLE memory_archive (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  importance INTEGER NOT NULL,
  private INTEGER NOT NULL,
  content TEXT NOT NULL,
  source TEXT,
  hits INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  accessed_at INTEGER NOT NULL,
  consolidated_at INTEGER,
  archived_at INTEGER NOT NULL,
  -- Who let it go: tool, api, sleep.
  archived_by TEXT NOT NULL,
  reason TEXT
) STRICT;
CREATE INDEX memory_archive_by_time ON memory_archive (archived_at);
