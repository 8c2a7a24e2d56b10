"""MLIR reader: lexer, parser, constants, locations."""
