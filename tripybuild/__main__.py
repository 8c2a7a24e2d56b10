"""`python -m tripybuild` is the command `tripybuild`."""

from tripybuild.cli.entry import main

main()
