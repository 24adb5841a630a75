CREATE TABLE messages (
  store_id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  source TEXT DEFAULT '',
  role TEXT NOT NULL,
  content TEXT,
  tool_call_id TEXT,
  tool_calls TEXT,
  tool_name TEXT,
  timestamp REAL NOT NULL,
  token_estimate INTEGER DEFAULT 0,
  pinned INTEGER DEFAULT 0
);
CREATE TABLE summary_nodes (
  node_id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  depth INTEGER NOT NULL DEFAULT 0,
  summary TEXT NOT NULL,
  token_count INTEGER DEFAULT 0,
  source_ids TEXT NOT NULL DEFAULT '[]',
  source_type TEXT NOT NULL DEFAULT 'messages',
  created_at REAL NOT NULL
);
