"""Static analysis of snippets: names in scope, and bounds on the cost of running them."""
