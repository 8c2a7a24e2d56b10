"""Names and costs of snippets: which names are in scope, and what running one can cost."""
