"""What was found to run code, and plants that the watch must see; prints a verdict for each.

`test_fuzz_registry.py` runs this in a process of its own: a hook for audits stays for ever.
"""

import json
import sys
import tempfile
from copy import deepcopy
from pathlib import Path

from fuzz_registry import warm_up
from hostile.bases import DIRECT, FAMILY, MEMBER, MODULE
from hostile.cases import Case, case, written
from hostile.texts import CANARY
from hostile.trial import Laboratory, Verdict
from hostile.watch import Caught

TOUCH = f"__import__('os').system('touch {CANARY}')"


def operator(**parts: object) -> dict[str, str]:
    """An operator with other parts."""
    data = deepcopy(DIRECT)
    for name, value in parts.items():
        data[name] = value
    return {"math/direct.yaml": written(data)}


def lowered(code: str) -> dict[str, str]:
    return operator(lower={**DIRECT["lower"], "stablehlo": code})


def typed(text: str) -> dict[str, str]:
    return operator(inputs={**DIRECT["inputs"], "input": {"type": text, "doc": "The values."}})


ATTACKS = {
    "a text in a type": typed(f'T[N, *S, len(" + str({TOUCH}) + ")]'),
    "a function by another name": operator(
        reference=f"f = np.load\nreturn f('{CANARY}', allow_pickle=True)"
    ),
    "a function in a list": operator(reference=f"[np.save][0]('{CANARY}', input)"),
    "a function in a choice": operator(reference=f"{{1: np.save}}[1]('{CANARY}', input)"),
    "a function under a condition": operator(
        reference=f"(np.save if True else np.abs)('{CANARY}', input)"
    ),
    "a method": operator(reference=f"input.tofile('{CANARY}')"),
    "a method of a result": operator(reference=f"np.abs(input).T.tofile('{CANARY}')"),
    "a namespace by another name": lowered(
        f"h = hlo\nf = h.module.io.open('{CANARY}', 'w')\nreturn hlo.add(input, input)"
    ),
    "a module of a namespace": lowered(f"hlo.module.io.open('{CANARY}', 'w')"),
    "a folder": {
        f'a" + str({TOUCH.replace("/", "")}) + "/direct.yaml': operator()["math/direct.yaml"]
    },
    "a registry's folder": operator(),
    "an output of a module": {
        "modules/block.yaml": written(
            {**MODULE, "outputs": {f"self.__dict__[{TOUCH}]": "x * weight", "z": "x + weight"}}
        )
    },
    "a method of the Tensor": {
        "families/kin.yaml": written(FAMILY),
        "math/member.yaml": written(
            {**MEMBER, "aliases": {"tensor": f"m(self): return 1\n    {TOUCH}\n    def n"}}
        ),
    },
    "a law's message": operator(
        requires={"positive": {"that": "count > 0", "message": f"{{{TOUCH}}}"}}
    ),
    "the name of an operator": {"math/class.yaml": operator(op="class")["math/direct.yaml"]},
}
# What generated code might hold if everything else failed; the watch must see each.
PLANTS = {
    "a process": f"__import__('os').system('touch {CANARY}')",
    "a file": f"open('{CANARY}', 'w')",
    "a file that is read": "open('/etc/passwd')",
    "an import": "import ctypes.wintypes",
    "code": "exec('1')",
    "a socket": "import socket; socket.socket()",
    "a child": "import subprocess; subprocess.run(['true'])",
    "a folder": f"__import__('os').mkdir('{CANARY}')",
    "an array": f"import numpy; numpy.ones(2).tofile('{CANARY}')",
}


def attacked(laboratory: Laboratory) -> dict[str, Verdict]:
    """What becomes of each attack."""
    folders = {"a registry's folder": f'a" + str({TOUCH.replace("/", "")}) + "'}
    return {
        name: laboratory.tried(Case(name, folders.get(name, "mine"), files))
        for name, files in ATTACKS.items()
    }


def planted(laboratory: Laboratory) -> dict[str, bool]:
    """Whether the watch sees each plant, and whether it is stopped."""
    seen = {}
    for index, (name, code) in enumerate(PLANTS.items()):
        package = f"stranger_plant{index}"
        text = code.replace(CANARY, str(laboratory.canary))
        seen[name] = False
        try:
            with laboratory.watch.armed():
                laboratory._imported(
                    package, {f"{package}/__init__.py": "", f"{package}/x.py": text}
                )
        except Caught:
            seen[name] = bool(laboratory.watch.events) and not laboratory.canary.exists()
        laboratory.watch.events.clear()
    return seen


def main() -> None:
    """Print a line of JSON: the verdicts on attacks, with the reader alone and with all; plants."""
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        warm_up(laboratory)
        verdicts = attacked(laboratory)
        fuzzed = [vars(laboratory.tried(case(0, number))) for number in range(int(sys.argv[1]))]
        found = {
            "attacks": {name: vars(each) for name, each in verdicts.items()},
            "plants": planted(laboratory),
            "fuzzed": fuzzed,
        }
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
