"""The ground: the array seam, validation, dispatch, tables of names and cells, words of messages, files on disk."""
