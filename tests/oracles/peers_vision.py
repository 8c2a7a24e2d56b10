"""Peers of vision: networks of torchvision with small tables, and what is made of its parts."""

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
