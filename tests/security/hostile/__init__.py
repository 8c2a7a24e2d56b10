"""A stranger's registries: what they may say, what becomes of them, and who watches."""
