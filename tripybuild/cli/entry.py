"""Entry point of the program: handles Ctrl-C before it imports anything slow."""

import os
import signal


def main() -> None:
    """Run the command line as a process of its own."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # until there is more to do
    from tripybuild.cli.interrupts import Interrupts, end_amid_work, leave  # noqa: PLC0415 - see above

    interrupts = Interrupts()
    interrupts.install()
    from tripybuild.cli.main import main as command  # noqa: PLC0415 - see above

    interrupts.working = True
    try:
        command()
    except KeyboardInterrupt:
        leave()
    except SystemExit as end:
        end_amid_work(end.code)
        raise
    finally:
        interrupts.working = False
        if interrupts.seen:  # whatever became of the exception
            leave()
