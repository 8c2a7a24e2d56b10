"""Latencies of programs that take turns: processes that call them, statistics, and a picture."""
