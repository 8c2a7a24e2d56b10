"""Raising: call programs said with fewer and larger calls, which mean the same.

What foreign systems spell out, such as masks that follow from sizes alone, becomes what a person
would write. Each step is proved on values before it is taken.
"""
