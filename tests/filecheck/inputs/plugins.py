"""Plugins of TensorRT for tests: what registers them, as `tripybuild opt --plugins` runs it."""

import tensorrt_rtx as trt

INTERFACES = (
    trt.IPluginV3,
    trt.IPluginV3OneCore,
    trt.IPluginV3OneBuild,
    trt.IPluginV3OneRuntime,
)


class Plugin(*INTERFACES):
    """A plugin that says its shapes in the way that its name says."""

    def __init__(self, name):
        for interface in INTERFACES:
            interface.__init__(self)
        self.num_outputs = 1
        self.plugin_namespace, self.plugin_name, self.plugin_version = "", name, "1"

    def get_capability_interface(self, _):
        """Give itself."""
        return self

    def get_output_shapes(self, inputs, _, builder):
        """Give the half of the first size, and the sum of that and the second."""
        shape = trt.DimsExprs(2)
        operation = trt.DimensionOperation
        if self.plugin_name == "Every":
            a, b = inputs[0]
            both = (operation.SUM, operation.PROD, operation.MAX, operation.MIN, operation.SUB)
            for each in (*both, operation.EQUAL, operation.LESS, operation.FLOOR_DIV):
                a = builder.operation(each, a, b)
            return [trt.DimsExprs([a, builder.constant(7)])]
        if self.plugin_name == "Data":
            shape[0] = builder.declare_size_tensor(1, inputs[0][0], inputs[0][1])
        if self.plugin_name == "Asking":
            shape[0] = builder.constant(inputs[0][0].get_constant_value())
        if self.plugin_name == "Number":
            return [[3, 4]]
        assert inputs[0][1].is_constant() != inputs[0][0].is_constant()
        assert not inputs[0][0].is_size_tensor()
        shape[0] = builder.operation(operation.CEIL_DIV, inputs[0][0], builder.constant(2))
        shape[1] = builder.operation(operation.SUM, shape[0], inputs[0][1])
        return [shape]


class Creator(trt.IPluginCreatorV3One):
    """What makes a plugin of a name."""

    def __init__(self, name):
        super().__init__()
        self.name, self.plugin_namespace, self.plugin_version = name, "", "1"
        self.field_names = trt.PluginFieldCollection([])

    def create_plugin(self, name, _fields, _phase):
        """Make it."""
        return Plugin(name)


CREATORS = [Creator(name) for name in ("Half", "Every", "Data", "Asking", "Number")]
for each in CREATORS:
    trt.get_plugin_registry().register_creator(each, "")
