"""Entry point of `python -m tripybuild`, the same as the command `tripybuild`."""

from tripybuild.cli.entry import main

main()
