"""The one line of the table: Python runs this first in each process that finds this folder."""

from tripybuild.targets.options import Number, WordChoice
from tripybuild.targets.table import TARGETS, TargetRegistration

OPTIONS = {"letters": Number(1, 9), "case": WordChoice(("upper", "lower"))}
TARGETS["toy"] = TargetRegistration(
    "toy-text", "toy:Toy", "toy:prepare", "toy:ToyFile", options=OPTIONS
)
