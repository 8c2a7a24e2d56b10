"""Reading MLIR's text: lexer, parser, constants, locations."""
