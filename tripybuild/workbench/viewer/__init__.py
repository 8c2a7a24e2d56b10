"""The viewer: drawings in Model Explorer's own page, from files of this machine alone."""
