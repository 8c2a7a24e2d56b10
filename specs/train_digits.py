"""Train the network of `digits.yaml` and write `digits.safetensors`; run once, on two threads.

The names of the weights are the paths of the spec's parts, and the images come from
`digits_data.training_part`, so the held-out third is never seen here.
"""

from pathlib import Path

import torch
from digits_data import training_part
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

EPOCHS = 60
BATCH = 64
SHIFT = 1  # pixels that a training image may move in each direction


class Digits(nn.Module):
    """The network of `digits.yaml`, under the same names."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.hidden = nn.Linear(64 * 2 * 2, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Score the ten digits; dropout acts in training only."""
        x = functional.max_pool2d(functional.relu(self.conv1(image)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.dropout(functional.relu(self.hidden(x.flatten(1))), 0.3, self.training)
        scores: torch.Tensor = self.head(x)
        return scores


def shifted(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Move every image of a batch by the same few pixels, filling with background."""
    down, right = torch.randint(0, 2 * SHIFT + 1, (2,), generator=generator).tolist()
    padded = functional.pad(images, (SHIFT,) * 4)
    return padded[:, :, down : down + 8, right : right + 8]


def train(images: torch.Tensor, labels: torch.Tensor) -> Digits:
    """Train for a fixed number of epochs, so that no choice rests on the held-out third."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        order = torch.randperm(len(images), generator=generator)
        for start in range(0, len(images), BATCH):
            rows = order[start : start + BATCH]
            scores = model(shifted(images[rows], generator))
            loss = functional.cross_entropy(scores, labels[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
    return model.eval()


def main() -> None:
    """Train on two thirds of the digits and write the weights beside the spec."""
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(mode=True)
    images, labels = training_part()
    model = train(torch.from_numpy(images), torch.from_numpy(labels))
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    path = Path(__file__).with_name("digits.safetensors")
    save_file(weights, path)
    print(f"wrote {path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
