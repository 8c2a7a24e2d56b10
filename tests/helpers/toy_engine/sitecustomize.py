"""The one line of the table: Python runs this first in each process that finds this folder."""

from tripybuild.targets.table import TARGETS, TargetRegistration

TARGETS["toy"] = TargetRegistration("toy-text", "toy:Toy", "toy:prepare", "toy:ToyFile")
