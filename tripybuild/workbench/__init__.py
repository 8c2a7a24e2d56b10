"""Workbench: what users ask of models that compile: are they right, and where do they part."""
