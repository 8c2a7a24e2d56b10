"""Which models are compared, at which sizes; spec and peer get the same random weights.

How both are made, and what they are called with, is that of the proof: `tests/helpers/spec_tests`
and the `test:` sections of specs. Here is the full size in the place of the small variant.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """One entry of a spec.

    Args:
        name: The spec, and behind a dot the entry.
        sizes: Its dynamic sizes.
        config: What its configuration has beside that of the spec; all of it where it has none.
        set: Sizes to put in the place of the spec's own.
        arguments: Those of the peer, in the place of the small variant's.
        reduced: What `--full` leaves as published, and else takes too long.
        note: What to know of the peer.
    """

    name: str
    sizes: Values
    config: Values = field(default_factory=dict)
    set: Values = field(default_factory=dict)
    arguments: Values | None = None
    reduced: Values = field(default_factory=dict)
    note: str = ""

    @property
    def spec(self) -> str:
        """The spec's name."""
        return self.name.partition(".")[0]

    @property
    def entry(self) -> str:
        """The entry's name."""
        return self.name.partition(".")[2]


# A prompt; the states hold so much, which a peer without a cache does not pay for.
PROMPT = {"B": 1, "S": 32}
CONTEXT = {"max_position_embeddings": 64}
DECODER = {**CONTEXT, "num_hidden_layers": 4}
MINILM = {
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "hidden_size": 384,
    "intermediate_size": 1536,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
}
LSTM = {"input_size": 80, "hidden_size": 256, "num_layers": 2}
MIXTRAL = {"hidden_size": 1024, "intermediate_size": 3584, "num_attention_heads": 16}
SIZED_224 = {"B": 1, "H": 224, "W": 224}
TEXT = {"B": 1, "S": 128}
# Those of all entries, which are compiled together.
ANSWER = {"B": 1, "L": 128, "Q": 32}
CLIP = {"B": 1, "S": 77, "N": 1}
CLIP_REDUCED = {"vision_config": {"num_hidden_layers": 6}}
HEARD = {"B": 1, "S": 16}
WHISPER_REDUCED = {"encoder_layers": 4, "decoder_layers": 4}

JOBS = [
    Job("bart.encode", ANSWER),
    Job("bart.decode", ANSWER),
    Job("bert.encode", TEXT),
    Job("clip.text", CLIP, reduced=CLIP_REDUCED),
    Job("clip.image", CLIP, reduced=CLIP_REDUCED),
    Job("convnext", SIZED_224),
    Job("detr", {"B": 1, "H": 480, "W": 640}),
    Job("dinov2", SIZED_224),
    Job("efficientnet", SIZED_224),
    Job("gemma3", PROMPT, reduced=DECODER),
    Job("gpt2", TEXT, config={"vocab_size": 50257}),
    Job("gpt2_cached", PROMPT, reduced={"n_positions": 64}),
    Job("llama", PROMPT, reduced=DECODER),
    Job(
        "llama_int4",
        PROMPT,
        arguments={"group": 128},
        reduced=DECODER,
        note="the peer rounds its weights at each call",
    ),
    Job("lstm", TEXT, arguments={**LSTM, "batch_first": True, "bidirectional": True}),
    Job("mamba", PROMPT, reduced={"num_hidden_layers": 4}, note="the peer unrolls its loop"),
    Job("minilm", TEXT, config=MINILM),
    Job("mixtral", PROMPT, config=MIXTRAL | CONTEXT | {"num_hidden_layers": 2}),
    Job("mobilenet_v3", SIZED_224),
    Job("modernbert.encode", TEXT),
    Job("qwen3", PROMPT, reduced=DECODER),
    Job(
        "resnet18_int8",
        SIZED_224,
        set={"widths": [8, 16, 32, 64]},
        arguments={"depths": [2, 2, 2, 2], "classes": 1000},
        note="stages have an eighth of the channels",
    ),
    Job("resnet50", SIZED_224),
    Job("roberta.encode", TEXT),
    Job("sam_encoder", {"B": 1}, reduced={"image_size": 512}),
    Job("segformer", {"B": 1, "H": 512, "W": 512}),
    Job("swin", {"B": 1}),
    Job("t5.encode", ANSWER),
    Job("t5.decode", ANSWER),
    Job("text_encoder", {"B": 1, "S": 77}),
    Job(
        "unet",
        {"B": 1, "H": 32, "W": 32, "L": 77},
        reduced={"block_out_channels": [128, 256, 512, 512]},
    ),
    Job("vae_decoder", {"B": 1, "H": 16, "W": 16}),
    Job("vit", {"B": 1}),
    Job("wav2vec2", {"B": 1, "T": 16000}),
    Job("whisper.encode", HEARD, reduced=WHISPER_REDUCED),
    Job("whisper.decode", HEARD, reduced=WHISPER_REDUCED),
]

FORMS = ("small", "usual", "full")


def comparison(job: Job, form: str, folder: Path) -> Any:
    """The spec with its peer: of the `small` variant, as published or with less of it.

    It is a `spec_tests.Comparison`.
    """
    tests: Any = import_module("spec_tests")
    merge = tests.merge_values

    class Sized(tests.Comparison):  # type: ignore[misc]  # tests have no types
        """The variant that the job says."""

        fixed: Values = job.set

        @cached_property
        def config(self) -> dict[str, Any]:
            base = merge(self.section.config, self.declared) if self.declared else {}
            reduced = {} if form == "full" else job.reduced
            found: dict[str, Any] = merge(merge(base, dict(job.config)), dict(reduced))
            return found

        @cached_property
        def peer(self) -> Any:
            peers = import_module("oracles.peers")
            section = self.section
            if section.published is not None:
                return peers.Peer(section.published, {}, {}, section.seed)
            arguments = section.arguments if job.arguments is None else job.arguments
            return peers.Peer(section.against, self.config, arguments, section.seed)

        @cached_property
        def built(self) -> Any:
            return tests.build(self.path, self.fixed, config=tests.ConfigChoice(self.own_config))

    class Small(tests.Comparison):  # type: ignore[misc]
        """The variant of the tests."""

        @property
        def fixed(self) -> Values:
            found: Values = self.section.sizes
            return found

    return (Small if form == "small" else Sized)(tests.SPECS / f"{job.spec}.yaml", folder)


def call_of(compared: Any, job: Job) -> Any:
    """The call of the entry that is timed, a `spec_tests.Call`."""
    return next(call for call in compared.calls if call.name == job.entry)


def sizes_of(call: Any, job: Job, form: str) -> dict[str, int]:
    """The dynamic sizes: batch 1, also of the small variant."""
    if form != "small":
        return dict(job.sizes)
    return {name: 1 if name in "BN" else size for name, size in call.section.shapes[0].items()}


def choose(names: str) -> list[Job]:
    """The jobs that are named, by spec or by entry."""
    if names == "all":
        return JOBS
    wanted = names.split(",")
    unknown = [n for n in wanted if not any(n in (job.name, job.spec) for job in JOBS)]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(j.name for j in JOBS)}")
    return [job for job in JOBS if job.name in wanted or job.spec in wanted]
