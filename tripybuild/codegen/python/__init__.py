"""Python source text: expressions, statements and files as the formatter would print them."""
