"""Peers of vision: networks of torchvision with small tables, and what is made of its parts."""

import torch

from oracles import libraries


def mobilenet_v3(blocks, hidden, classes):
    """MobileNetV3 of these blocks, each a row of the table in its spec."""
    models = libraries.find("torchvision.models.mobilenetv3")
    rows = [
        models.InvertedResidualConfig(
            rows, kernel, inner, columns, weighed, "HS" if swished else "RE", stride, 1, 1.0
        )
        for rows, kernel, inner, columns, weighed, swished, stride in blocks
    ]
    return models.MobileNetV3(rows, hidden, classes)


def efficientnet(stages, classes):
    """EfficientNet of these stages, each a row of the table in its spec."""
    models = libraries.find("torchvision.models.efficientnet")
    rows = [
        models.MBConvConfig(ratio, kernel, stride, rows, columns, depth, 1.0, 1.0)
        for ratio, kernel, stride, rows, columns, depth in stages
    ]
    return models.EfficientNet(rows, 0.2, num_classes=classes)


def detr(config):
    """DETR, whose queries differ enough for what they tell each other to matter."""
    kind = libraries.find("transformers.DetrForObjectDetection")
    module = kind(kind.config_class(**config))
    queries = module.model.query_position_embeddings.weight
    module.randomize = lambda generator: queries.normal_(generator=generator)
    return module


def resnet(block, depths, classes):
    """A ResNet whose stages have an eighth of the channels; the first convolution has all."""
    models = libraries.find("torchvision.models.resnet")
    kind = getattr(models, block)

    class Narrow(models.ResNet):
        def _make_layer(self, block, planes, blocks, **more):
            return super()._make_layer(block, planes // 8, blocks, **more)

    module = Narrow(kind, depths, classes)
    module.fc = torch.nn.Linear(512 // 8 * kind.expansion, classes)
    return module


def resnet18_int8(depths, classes):
    """ResNet-18 with quantizers in front of all that multiplies, under ModelOpt's names."""
    module = resnet("BasicBlock", depths, classes)
    for each in list(module.modules()):
        if isinstance(each, torch.nn.Conv2d | torch.nn.Linear):
            each.input_quantizer, each.weight_quantizer = Quantizer(), Quantizer(axis=0)
            each.__class__ = type("Quantized", (Quantized, type(each)), {})
    module.randomize = lambda generator: calibrate(module, generator)
    return module


class Quantizer(torch.nn.Module):
    """Round to 8 bits and back, by PyTorch's own rounding; while it is calibrated it measures."""

    def __init__(self, axis=None):
        super().__init__()
        self.axis, self.measures, self.scale = axis, False, 1.0

    def forward(self, x):
        if self.measures:
            kept = [] if self.axis is None else [self.axis]
            others = [i for i in range(x.ndim) if i not in kept]
            self.register_buffer("_amax", x.abs().amax(others, keepdim=self.axis is not None))
            self.scale = float(self._amax.max() / 127)
            return x
        if self.axis is None:
            return torch.fake_quantize_per_tensor_affine(x, self.scale, 0, -128, 127)
        scale = (self._amax / 127).flatten()
        zero = torch.zeros_like(scale, dtype=torch.int32)
        return torch.fake_quantize_per_channel_affine(x, scale, zero, self.axis, -128, 127)


class Quantized:
    """A layer that reads what is rounded, with weights that are."""

    def forward(self, x):
        x, weight = self.input_quantizer(x), self.weight_quantizer(self.weight)
        if isinstance(self, torch.nn.Linear):
            return torch.nn.functional.linear(x, weight, self.bias)
        return self._conv_forward(x, weight, self.bias)


def calibrate(module, generator):
    """Draw statistics for which epsilon matters, and measure what quantizers meet."""
    for each in module.modules():
        if isinstance(each, torch.nn.BatchNorm2d):
            spread = torch.rand(each.running_var.shape, generator=generator)
            each.running_var.copy_(1e-3 * (1 + spread))
            each.weight.mul_(each.running_var.sqrt())
    quantizers = [each for each in module.modules() if isinstance(each, Quantizer)]
    for each in quantizers:
        each.measures = True
    module(torch.randn(2, 3, 64, 64, generator=generator))
    for each in quantizers:
        each.measures = False
