-- What a file was before a turn (or an undo) first wrote it, so that its writes can be taken back.
CREATE TABLE checkpoints (
  chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
  -- The turn that wrote, or the undo.
  writer_id TEXT NOT NULL,
  -- turn, restore
  writer TEXT NOT NULL,
  -- client, server, or the ssh host.
  machine TEXT NOT NULL,
  path TEXT NOT NULL,
  -- absent (there was no file), kept, dropped (too large to keep)
  former TEXT NOT NULL,
  former_sha256 TEXT,
  -- Compressed (zstd); NULL unless kept.
  former_content BLOB,
  -- Permission bits of the former file, where the machine tells them.
  former_mode INTEGER,
  -- What stood there right before the writer's last write, and what that write left. NULL: no file.
  replaced_sha256 TEXT,
  left_sha256 TEXT,
  created_at INTEGER NOT NULL,
  -- The instant of an undo; it is not undone twice by default.
  restored_at INTEGER,
  UNIQUE (chat_id, writer_id, machine, path)
) STRICT;
CREATE INDEX checkpoints_by_age ON checkpoints (created_at);
