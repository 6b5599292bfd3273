"""The rows of whole tables: which of them a study uses, what it learns of them first, and their coordinates."""
