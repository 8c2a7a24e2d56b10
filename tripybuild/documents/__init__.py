"""YAML documents as text: what changes a file and keeps its comments, quoting and layout."""
