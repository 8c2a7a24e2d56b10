"""Python source printer: expressions, statements and files in the formatter's style."""
