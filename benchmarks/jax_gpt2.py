"""YAML text to StableHLO for `specs/gpt2.yaml`, beside JAX tracing and lowering the same network.

JAX is timed as its users meet it (nothing cached but what an earlier trace in the process left)
and from cleared caches; ours is measured in the same process, from the text of the file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import engine
from table import Table, arguments, best, machine, optional, report

SPEC = Path(__file__).parent.parent / "specs" / "gpt2.yaml"
VOCAB, CONTEXT, WIDTH, HEADS, DEPTH = 50257, 1024, 768, 12, 12
BATCH, SEQUENCE = 8, 256

jax = optional("jax")
jnp = optional("jax.numpy")

Weights = Mapping[str, Any]


def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight by its path in `gpt2.yaml`."""
    found: dict[str, tuple[int, ...]] = {
        "wte.weight": (VOCAB, WIDTH),
        "wpe.weight": (CONTEXT, WIDTH),
    }
    for at in range(DEPTH):
        for part, rows, columns in (
            ("attn.c_attn", WIDTH, 3 * WIDTH),
            ("attn.c_proj", WIDTH, WIDTH),
            ("mlp.c_fc", WIDTH, 4 * WIDTH),
            ("mlp.c_proj", 4 * WIDTH, WIDTH),
        ):
            found[f"h.{at}.{part}.weight"] = (rows, columns)
            found[f"h.{at}.{part}.bias"] = (columns,)
    for norm in ("ln_f", *(f"h.{at}.{name}" for at in range(DEPTH) for name in ("ln_1", "ln_2"))):
        found |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
    return found


def layernorm(weights: Weights, path: str, x: Any) -> Any:
    """Normalise the last dimension."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt(variance + 1e-5)
    return scaled * weights[f"{path}.weight"] + weights[f"{path}.bias"]


def linear(weights: Weights, path: str, x: Any) -> Any:
    """Multiply by a weight that is stored input first."""
    return x @ weights[f"{path}.weight"] + weights[f"{path}.bias"]


def attention(weights: Weights, path: str, x: Any, causal: Any) -> Any:
    """Let every position gather from those before it."""
    batch, sequence, _ = x.shape
    q, k, v = (
        part.reshape(batch, sequence, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
        for part in jnp.split(linear(weights, f"{path}.c_attn", x), 3, axis=2)
    )
    scores = q @ k.swapaxes(-2, -1) * (WIDTH // HEADS) ** -0.5
    mixed = jax.nn.softmax(jnp.where(causal, scores, -10000.0), axis=-1) @ v
    joined = mixed.transpose(0, 2, 1, 3).reshape(batch, sequence, WIDTH)
    return linear(weights, f"{path}.c_proj", joined)


def gpt2(weights: Weights, tokens: Any) -> Any:
    """Score the next token, with the operations of `gpt2.yaml` in JAX's usual style."""
    sequence = tokens.shape[1]
    x = weights["wte.weight"][tokens] + weights["wpe.weight"][:sequence]
    causal = jnp.arange(sequence) <= jnp.arange(sequence)[:, None]
    for at in range(DEPTH):
        block = f"h.{at}"
        x = x + attention(weights, f"{block}.attn", layernorm(weights, f"{block}.ln_1", x), causal)
        inner = linear(weights, f"{block}.mlp.c_fc", layernorm(weights, f"{block}.ln_2", x))
        x = x + linear(weights, f"{block}.mlp.c_proj", jax.nn.gelu(inner, approximate=True))
    return layernorm(weights, "ln_f", x) @ weights["wte.weight"].T


def traced() -> Any:
    """Trace a new copy of the function, so that JAX has not met it before."""
    weights = {path: jax.ShapeDtypeStruct(s, jnp.float32) for path, s in shapes().items()}
    tokens = jax.ShapeDtypeStruct((BATCH, SEQUENCE), jnp.int32)
    return jax.jit(lambda w, t: gpt2(w, t)).trace(weights, tokens)  # noqa: PLW0108


def lowered() -> Any:
    """Trace and lower a new copy."""
    return traced().lower()


def operations(text: str) -> int:
    """Count the StableHLO operations of a module's text."""
    return sum("stablehlo." in line for line in text.splitlines())


def jax_rows(repeats: int) -> list[dict[str, str | float | int | None]]:
    """Time JAX, warm and from cleared caches."""
    if jax is None:
        return [{"from text to StableHLO": "jax.jit: not installed"}]
    count = operations(lowered().as_text())
    warm = best(lowered, repeats)
    cold = best(lambda: (jax.clear_caches(), lowered()), repeats)
    return [
        {"from text to StableHLO": "jax.jit trace + lower", "best ms": warm * 1e3, "ops": count},
        {"from text to StableHLO": "the same, caches cleared", "best ms": cold * 1e3, "ops": count},
    ]


def our_rows(repeats: int) -> list[dict[str, str | float | int | None]]:
    """Time the spec's text to StableHLO."""
    sizes = {"B": BATCH, "S": SEQUENCE}
    name = {"from text to StableHLO": "tripybuild, gpt2.yaml"}
    count = operations(engine.stablehlo(SPEC, sizes))
    seconds = best(lambda: engine.stablehlo_module(SPEC, sizes), repeats)
    return [{**name, "best ms": seconds * 1e3, "ops": count}]


def main() -> None:
    """Print the comparison."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    title = f"GPT-2 ({DEPTH} layers, {WIDTH} wide), batch {BATCH}, sequence {SEQUENCE}"
    rows = [*our_rows(options.repeats), *jax_rows(options.repeats)]
    table = Table(title, ("from text to StableHLO", "best ms", "ops"), list(rows))
    report([table], machine("jax", "jaxlib"), options.json)


if __name__ == "__main__":
    main()
