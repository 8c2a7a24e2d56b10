"""`python -m tripybuild` is the command `tripybuild`."""

from tripybuild.cli.main import main

main()
