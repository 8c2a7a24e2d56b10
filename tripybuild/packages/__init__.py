"""Generated packages of registries: cached plans, and packages built in memory."""
