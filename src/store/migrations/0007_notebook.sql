-- What the agent notes for itself in one chat.
CREATE TABLE chat_notes (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  body TEXT NOT NULL,
  -- NULL: the note has had no other body.
  prev_body TEXT,
  pinned INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (chat_id, name)
) STRICT;

-- The notebook as it was before its last rebuild: JSON list of whole notes.
CREATE TABLE chat_notes_archive (
  chat_id TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
  notes TEXT NOT NULL,
  archived_at INTEGER NOT NULL
) STRICT;

-- inline, index: how the notebook was shown to the newest turn; NULL: to none yet.
ALTER TABLE chats ADD COLUMN notes_mode TEXT;
-- When somebody last looked at the notebook.
ALTER TABLE chats ADD COLUMN notes_seen_at INTEGER;
