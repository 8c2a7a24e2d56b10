"""An image encoder as in SAM2: attention in windows, pooled queries, and a pyramid of features."""

import torch
from torch.nn import functional

import tripyapi as tp

WIDTH, FEATURES = 12, 8
# The blocks: width before, width after, heads, rows and columns of a window; 0 for one window.
BLOCKS = [(WIDTH, WIDTH, 2, 3), (WIDTH, 2 * WIDTH, 4, 3), (2 * WIDTH, 2 * WIDTH, 4, 0)]


def windows(x, size):
    """Cut images into windows: what is missing at the ends is zero."""
    B, H, W, C = x.shape
    bottom, right = (size - H % size) % size, (size - W % size) % size
    x = tp.pad(x, [(0, 0), (0, bottom), (0, right), (0, 0)])
    rows, columns = (H + bottom) // size, (W + right) // size
    x = tp.permute(tp.reshape(x, (B, rows, size, columns, size, C)), (0, 1, 3, 2, 4, 5))
    return tp.reshape(x, (-1, size, size, C)), (rows, columns)


def joined(x, size, counts, shape):
    """Put windows together again, and cut off what was put at the ends."""
    B, H, W, C = shape
    rows, columns = counts
    x = tp.reshape(x, (B, rows, columns, size, size, C))
    x = tp.reshape(tp.permute(x, (0, 1, 3, 2, 4, 5)), (B, rows * size, columns * size, C))
    return x[:, :H, :W, :]


def pooled(x):
    """The greatest of each four neighbours; channels are last."""
    x = tp.maxpool(tp.permute(x, (0, 3, 1, 2)), kernel_dims=(2, 2), stride=(2, 2))
    return tp.permute(x, (0, 2, 3, 1))


class Attention(tp.Module):
    def __init__(self, before, after, heads):
        self.heads, self.pools = heads, before != after
        self.qkv = tp.Linear(before, 3 * after)
        self.proj = tp.Linear(after, after)

    def __call__(self, x):
        B, H, W, _ = x.shape
        parts = tp.reshape(self.qkv(x), (B, H * W, 3, self.heads, -1))
        q, k, v = (parts[:, :, index] for index in range(3))
        if self.pools:
            q = pooled(tp.reshape(q, (B, H, W, -1)))
            _, H, W, _ = q.shape
            q = tp.reshape(q, (B, H * W, self.heads, -1))
        q, k, v = (tp.transpose(each, 1, 2) for each in (q, k, v))
        scale = float(int(q.shape[-1])) ** -0.5
        mixed = tp.softmax(q * scale @ tp.transpose(k, -2, -1), dim=-1) @ v
        return self.proj(tp.reshape(tp.transpose(mixed, 1, 2), (B, H, W, -1)))


class Block(tp.Module):
    def __init__(self, before, after, heads, window):
        self.window, self.grows = window, before != after
        self.norm1 = tp.LayerNorm(before, eps=1e-6)
        self.attn = Attention(before, after, heads)
        self.norm2 = tp.LayerNorm(after, eps=1e-6)
        self.mlp = tp.Sequential(tp.Linear(after, 2 * after), tp.gelu, tp.Linear(2 * after, after))
        if self.grows:
            self.proj = tp.Linear(before, after)

    def __call__(self, x):
        seen = self.norm1(x)
        shortcut = pooled(self.proj(seen)) if self.grows else x
        if self.window:
            parts, counts = windows(seen, self.window + self.grows)
            size = (self.window + self.grows) // (2 if self.grows else 1)
            x = shortcut + joined(self.attn(parts), size, counts, shortcut.shape)
        else:
            x = shortcut + self.attn(seen)
        return x + self.mlp(self.norm2(x))


class Encoder(tp.Module):
    def __init__(self):
        self.patches = tp.Conv(3, WIDTH, (7, 7), stride=(4, 4), padding=((3, 3), (3, 3)))
        self.places = tp.Parameter((1, WIDTH, 4, 4))
        self.blocks = [Block(*each) for each in BLOCKS]
        self.neck = [tp.Conv(WIDTH, FEATURES, (1, 1)), tp.Conv(2 * WIDTH, FEATURES, (1, 1))]

    def forward(self, images):
        x = self.patches(images)
        _, _, H, W = x.shape
        places = tp.resize(self.places, output_shape=(1, WIDTH, H, W), mode="cubic")
        x = tp.permute(x + places, (0, 2, 3, 1))
        stages = []
        for block in self.blocks:
            if block.grows:
                stages.append(x)
            x = block(x)
        fine, coarse = (
            conv(tp.permute(each, (0, 3, 1, 2)))
            for conv, each in zip(self.neck, [*stages, x], strict=True)
        )
        return fine + tp.resize(coarse, scales=(1, 1, 2, 2), mode="nearest"), coarse


def torch_pooled(x):
    return functional.max_pool2d(x.movedim(-1, 1), 2).movedim(1, -1)


class TorchBlock(torch.nn.Module):
    def __init__(self, before, after, heads, window):
        super().__init__()
        self.heads, self.grows = heads, before != after
        self.window = window + self.grows if window else 0
        self.norm1 = torch.nn.LayerNorm(before, eps=1e-6)
        qkv, proj = torch.nn.Linear(before, 3 * after), torch.nn.Linear(after, after)
        self.attn = torch.nn.ModuleDict({"qkv": qkv, "proj": proj})
        self.norm2 = torch.nn.LayerNorm(after, eps=1e-6)
        up, down = torch.nn.Linear(after, 2 * after), torch.nn.Linear(2 * after, after)
        self.mlp = torch.nn.Sequential(up, torch.nn.GELU(), down)
        if self.grows:
            self.proj = torch.nn.Linear(before, after)

    def attend(self, x):
        q, k, v = self.attn["qkv"](x).chunk(3, -1)
        q = torch_pooled(q) if self.grows else q
        flat = (p.flatten(1, 2).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (q, k, v))
        mixed = functional.scaled_dot_product_attention(*flat).transpose(1, 2).flatten(2)
        return self.attn["proj"](mixed.unflatten(1, q.shape[1:3]))

    def forward(self, x):
        seen = self.norm1(x)
        shortcut = torch_pooled(self.proj(seen)) if self.grows else x
        size = self.window or max(x.shape[1:3])
        rows = [seen[:, i : i + size] for i in range(0, x.shape[1], size)]
        tiles = [[row[:, :, j : j + size] for j in range(0, x.shape[2], size)] for row in rows]
        if self.window:
            tiles = [[self.attend(self.filled(tile, size)) for tile in row] for row in tiles]
        else:
            tiles = [[self.attend(seen)]]
        whole = torch.cat([torch.cat(row, 2) for row in tiles], 1)
        x = shortcut + whole[:, : shortcut.shape[1], : shortcut.shape[2]]
        return x + self.mlp(self.norm2(x))

    @staticmethod
    def filled(tile, size):
        return functional.pad(tile, (0, 0, 0, size - tile.shape[2], 0, size - tile.shape[1]))


class TorchEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, WIDTH, 7, stride=4, padding=3)
        self.places = torch.nn.Parameter(torch.randn(1, WIDTH, 4, 4))
        self.blocks = torch.nn.ModuleList(TorchBlock(*each) for each in BLOCKS)
        convs = (torch.nn.Conv2d(n, FEATURES, 1) for n in (WIDTH, 2 * WIDTH))
        self.neck = torch.nn.ModuleList(convs)

    def forward(self, images):
        x = self.patches(images)
        places = functional.interpolate(self.places, size=x.shape[-2:], mode="bicubic")
        x = (x + places).movedim(1, -1)
        first = self.blocks[0](x)
        last = self.blocks[2](self.blocks[1](first))
        fine, coarse = (c(e.movedim(-1, 1)) for c, e in zip(self.neck, (first, last), strict=True))
        return fine + functional.interpolate(coarse, scale_factor=2), coarse
