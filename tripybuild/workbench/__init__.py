"""Workbench: what users ask of models that compile: are they right, what do they look like."""
