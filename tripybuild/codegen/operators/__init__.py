"""Emitters of operators: function, trace operation, lowerings, suite and page."""
