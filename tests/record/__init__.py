"""What the library answers: calls over all it can do, their numbers, and files that an earlier version wrote."""
