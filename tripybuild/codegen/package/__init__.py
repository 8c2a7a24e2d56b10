"""The package around all declarations: its index, its plan, and its synchronization with disk."""
