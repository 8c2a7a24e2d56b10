"""The emitters of operators: the function, the operation, its lowerings, suite and page."""
