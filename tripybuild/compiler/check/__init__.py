"""Check of a model without a compiler: shapes, laws, weights' headers, costs, roofline times."""
