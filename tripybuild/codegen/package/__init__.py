"""Package generation: index, plan, and synchronization with disk."""
