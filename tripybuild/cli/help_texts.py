"""Texts of `--help` that are of no single option: examples of each command, and the environment.

Lines stand as they are: click wraps no paragraph that begins with a backspace.
"""

from collections.abc import Iterable, Iterator

KEPT = "\b\n"
EXAMPLES = {
    "gen": ["tripybuild gen", "tripybuild gen --registry my_registry --package my_ops"],
    "fmt": ["tripybuild fmt specs/", "tripybuild fmt --check ops_registry specs"],
    "new": ["tripybuild new model volumes"],
    "cache": ["tripybuild cache path"],
    "new op": ["tripybuild new op cube --folder math"],
    "new model": ["tripybuild new model volumes"],
    "schema": ["tripybuild schema model", "tripybuild schema check"],
    "explain": ["tripybuild explain softmax", "tripybuild explain unbound-name"],
    "check": [
        "tripybuild check specs/minilm.yaml --shapes B=1,S=128",
        "tripybuild check model.py:forward --input 'x=float32[B=1:4:8,3]' --watch",
    ],
    "compile": [
        "tripybuild compile specs/digits.yaml -o digits.tpb",
        "tripybuild compile specs/digits.yaml --target cpu:xla --explain-cache",
        "tripybuild compile specs/digits.yaml --target tensorrt-rtx --set F=float16",
        "tripybuild compile model.py:forward --input 'x=float32[B=1:4:8,3]'",
    ],
    "build": [
        "tripybuild build",
        "tripybuild build cpu 'minilm*' --dry-run",
        "tripybuild build --keep-going --shard 2/4",
    ],
    "test": ["tripybuild test", "tripybuild test minilm --junit results.xml"],
    "import": [
        "tripybuild import model.onnx -o model",
        "tripybuild import model.py:model -o model --input 'x=float32[B=1:4:8,3]'",
    ],
    "export": ["tripybuild export specs/digits.yaml -o digits.onnx --opset 20"],
    "trace": ["tripybuild trace model.py:forward --input 'x=float32[2,3]'"],
    "run": [
        "tripybuild run digits.tpb --input image=images.npy --output digits.npz",
        "tripybuild run digits.tpb --random --shapes B=4",
    ],
    "generate": ["tripybuild generate gpt2.tpb --tokenizer tokenizer.json --prompt 'One day'"],
    "bench": [
        "tripybuild bench digits.tpb specs/digits.yaml --shapes B=1",
        "tripybuild bench specs/digits.yaml@cpu:xla @cpu:openvino --plot latency.svg",
        "tripybuild bench digits.tpb --compare onnx:digits.onnx --clients 4",
    ],
    "compare": ["tripybuild compare digits.tpb specs/digits.yaml --shapes B=4"],
    "bisect": ["tripybuild bisect specs/digits.yaml@cpu:xla @cpu:onnxruntime"],
    "reduce": ["tripybuild reduce specs/digits.yaml --target cpu:openvino --rtol 1e-7"],
    "cache path": ["tripybuild cache path"],
    "cache list": ["tripybuild cache list --spec digits.yaml"],
    "cache show": ["tripybuild cache show 3f2a9c41"],
    "cache verify": ["tripybuild cache verify"],
    "cache prune": [
        "tripybuild cache prune --older 30d --size 2GB",
        "tripybuild cache prune --keep 100",
    ],
    "cache clear": ["tripybuild cache clear"],
    "cache export": ["tripybuild cache export team.tbcache --spec digits.yaml"],
    "cache import": ["tripybuild cache import team.tbcache"],
    "lsp": ["tripybuild lsp"],
    "inspect": ["tripybuild inspect digits.tpb"],
    "sign": ["tripybuild sign digits.tpb --key private.pem"],
    "verify": ["tripybuild verify digits.tpb --key public.pem"],
    "graph": [
        "tripybuild graph specs/digits.yaml --as mermaid",
        "tripybuild graph specs/minilm.yaml --part encoder --as svg -o encoder.svg",
    ],
    "view": [
        "tripybuild view specs/digits.yaml",
        "tripybuild view specs/digits.yaml --times profile.json",
    ],
    "profile": [
        "tripybuild profile specs/digits.yaml --target cpu:openvino --flame flame.svg",
        "tripybuild profile specs/digits.yaml --random --shapes B=1",
    ],
    "opt": ["tripybuild opt model.mlir --passes tensorrt-expand-ops"],
    "doctor": ["tripybuild doctor"],
}
SECTIONS = {
    "Write": ("new", "fmt", "check", "explain", "schema", "gen", "lsp"),
    "Compile and run": ("compile", "run", "generate", "build", "test", "cache"),
    "Other systems": ("import", "export", "trace", "opt"),
    "Look and measure": ("inspect", "graph", "view", "bench", "profile"),
    "Trust": ("sign", "verify"),
    "Find what differs": ("compare", "bisect", "reduce"),
    "This machine": ("doctor",),
}
"""The commands in the order of the help, by what they are for."""
ENVIRONMENT = {
    "TRIPYBUILD_CACHE_DIR": "the folder of what was compiled before",
    "TRIPYBUILD_REMOTE_CACHE": "the address of a cache that machines share",
    "TRIPYBUILD_REMOTE_CACHE_MODE": "read, or read-write to add to it",
    "TRIPYBUILD_COMPILER_TIMEOUT": "seconds that a compiler may take: 1800",
    "TRIPYBUILD_LOG": "what is logged: timing; trace,mlir",
    "TRIPYBUILD_LOG_OUTPUT": "where it goes: stderr, stdout or logging",
    "TRIPYBUILD_PROGRESS": "off shows no phases",
    "TRIPYBUILD_KEY_PASSWORD": "opens the private key of `sign`",
    "TRIPYBUILD_BUDGET": "10 lets files be ten times as large",
    "TRIPYBUILD_TRACEBACK": "1 shows the traceback of a bug",
    "NO_COLOR, FORCE_COLOR": "no color, or color in a pipe",
}


def command_sections(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Commands by the title of their section; those of none come last."""
    left = list(names)
    for title, section in SECTIONS.items():
        found = [each for each in section if each in left]
        left = [each for each in left if each not in found]
        if found:
            yield title, found
    if left:
        yield "Commands", left


def examples(command: str) -> str | None:
    """The paragraph below a command's options."""
    lines = EXAMPLES.get(command)
    if lines is None:
        return None
    return KEPT + "\n".join(["Examples:", *(f"  {line}" for line in lines)])


def environment() -> str:
    """The paragraphs below the commands."""
    width = max(map(len, ENVIRONMENT))
    rows = [f"  {name.ljust(width)}  {text}" for name, text in ENVIRONMENT.items()]
    example = f"{KEPT}Example:\n  tripybuild check specs/digits.yaml"
    return f"{example}\n\n{KEPT}" + "\n".join(["Environment:", *rows])
