"""A small UNet of a diffusion model: what noise is in these latents, at this time?"""

import math

import torch
from torch.nn import functional

import tripyapi as tp

CHANNELS, GROUPS, LATENT = 16, 4, 3


def same(kernel):
    """The padding that keeps the size of an image."""
    return ((kernel // 2, kernel // 2),) * 2


class ResBlock(tp.Module):
    def __init__(self, before, after, embedded):
        self.norm1 = tp.GroupNorm(GROUPS, before)
        self.conv1 = tp.Conv(before, after, (3, 3), padding=same(3))
        self.time = tp.Linear(embedded, after)
        self.norm2 = tp.GroupNorm(GROUPS, after)
        self.conv2 = tp.Conv(after, after, (3, 3), padding=same(3))
        self.shortcut = tp.Conv(before, after, (1, 1)) if before != after else lambda x: x

    def __call__(self, x, time):
        h = self.conv1(tp.silu(self.norm1(x)))
        h = h + tp.reshape(self.time(tp.silu(time)), (h.shape[0], h.shape[1], 1, 1))
        return self.shortcut(x) + self.conv2(tp.silu(self.norm2(h)))


class Attention(tp.Module):
    def __init__(self, channels):
        self.norm = tp.GroupNorm(GROUPS, channels)
        self.qkv = tp.Conv(channels, 3 * channels, (1, 1))
        self.out = tp.Conv(channels, channels, (1, 1))

    def __call__(self, x):
        b, c, h, w = x.shape
        q, k, v = tp.split(tp.reshape(self.qkv(self.norm(x)), (b, 3 * c, h * w)), 3, dim=1)
        weights = tp.softmax(tp.permute(q, (0, 2, 1)) @ k / math.sqrt(c), dim=2)
        mixed = v @ tp.permute(weights, (0, 2, 1))
        return x + self.out(tp.reshape(mixed, (b, c, h, w)))


class Upsample(tp.Module):
    def __init__(self, channels):
        self.conv = tp.Conv(channels, channels, (3, 3), padding=same(3))

    def __call__(self, x):
        b, c, h, w = x.shape
        x = tp.expand(tp.reshape(x, (b, c, h, 1, w, 1)), (-1, -1, -1, 2, -1, 2))
        return self.conv(tp.reshape(x, (b, c, h * 2, w * 2)))


def time_embedding(steps, size):
    half = size // 2
    frequencies = tp.exp(-math.log(10000.0) * tp.arange(half) / float(half))
    angles = tp.unsqueeze(steps, 1) * tp.unsqueeze(frequencies, 0)
    return tp.concatenate([tp.cos(angles), tp.sin(angles)], dim=1)


class UNet(tp.Module):
    def __init__(self, channels=CHANNELS):
        wide, embedded = 2 * channels, 4 * channels
        self.channels = channels
        self.time = [tp.Linear(channels, embedded), tp.silu, tp.Linear(embedded, embedded)]
        self.begin = tp.Conv(LATENT, channels, (3, 3), padding=same(3))
        self.down = [ResBlock(channels, channels, embedded), ResBlock(channels, wide, embedded)]
        self.smaller = tp.Conv(channels, channels, (3, 3), stride=(2, 2), padding=same(3))
        self.middle = {"first": ResBlock(wide, wide, embedded), "attention": Attention(wide)}
        self.up = [
            ResBlock(2 * wide, wide, embedded),
            ResBlock(wide + channels, channels, embedded),
        ]
        self.larger = Upsample(wide)
        self.norm = tp.GroupNorm(GROUPS, channels)
        self.end = tp.Conv(channels, LATENT, (3, 3), padding=same(3))

    def __call__(self, latents, steps):
        time = time_embedding(steps, self.channels)
        for each in self.time:
            time = each(time)
        x = self.begin(latents)
        skips = [x := self.down[0](x, time)]
        skips.append(x := self.down[1](self.smaller(x), time))
        x = self.middle["attention"](self.middle["first"](x, time))
        x = self.up[0](tp.concatenate([x, skips.pop()], dim=1), time)
        x = self.up[1](tp.concatenate([self.larger(x), skips.pop()], dim=1), time)
        return self.end(tp.silu(self.norm(x)))


class TorchResBlock(torch.nn.Module):
    def __init__(self, before, after, embedded):
        super().__init__()
        self.norm1, self.norm2 = (torch.nn.GroupNorm(GROUPS, n) for n in (before, after))
        self.conv1 = torch.nn.Conv2d(before, after, 3, padding=1)
        self.time = torch.nn.Linear(embedded, after)
        self.conv2 = torch.nn.Conv2d(after, after, 3, padding=1)
        other = before != after
        self.shortcut = torch.nn.Conv2d(before, after, 1) if other else torch.nn.Identity()

    def forward(self, x, time):
        h = self.conv1(functional.silu(self.norm1(x)))
        h = h + self.time(functional.silu(time))[:, :, None, None]
        return self.shortcut(x) + self.conv2(functional.silu(self.norm2(h)))


class TorchAttention(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.GroupNorm(GROUPS, channels)
        self.qkv = torch.nn.Conv2d(channels, 3 * channels, 1)
        self.out = torch.nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        parts = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, -1)
        mixed = functional.scaled_dot_product_attention(*parts)
        return x + self.out(mixed.transpose(1, 2).reshape(x.shape))


class TorchUNet(torch.nn.Module):
    def __init__(self, channels=CHANNELS):
        super().__init__()
        wide, embedded = 2 * channels, 4 * channels
        self.time = torch.nn.Sequential(
            torch.nn.Linear(channels, embedded),
            torch.nn.SiLU(),
            torch.nn.Linear(embedded, embedded),
        )
        self.begin = torch.nn.Conv2d(LATENT, channels, 3, padding=1)
        sizes = [(channels, channels), (channels, wide)]
        self.down = torch.nn.ModuleList(TorchResBlock(*each, embedded) for each in sizes)
        self.smaller = torch.nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        first, attention = TorchResBlock(wide, wide, embedded), TorchAttention(wide)
        self.middle = torch.nn.ModuleDict({"first": first, "attention": attention})
        sizes = [(2 * wide, wide), (wide + channels, channels)]
        self.up = torch.nn.ModuleList(TorchResBlock(*each, embedded) for each in sizes)
        self.larger = torch.nn.ModuleDict({"conv": torch.nn.Conv2d(wide, wide, 3, padding=1)})
        self.norm = torch.nn.GroupNorm(GROUPS, channels)
        self.end = torch.nn.Conv2d(channels, LATENT, 3, padding=1)

    def forward(self, latents, steps):
        half = self.begin.out_channels // 2
        angles = steps[:, None] * torch.exp(-math.log(10000.0) * torch.arange(half) / half)
        time = self.time(torch.cat([angles.cos(), angles.sin()], 1))
        first = self.down[0](self.begin(latents), time)
        second = self.down[1](self.smaller(first), time)
        x = self.middle["attention"](self.middle["first"](second, time))
        x = self.up[0](torch.cat([x, second], 1), time)
        x = self.larger["conv"](functional.interpolate(x, scale_factor=2))
        x = self.up[1](torch.cat([x, first], 1), time)
        return self.end(functional.silu(self.norm(x)))
