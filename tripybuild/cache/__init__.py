"""The compilation cache: entries, what is known of them, and the remote one."""
