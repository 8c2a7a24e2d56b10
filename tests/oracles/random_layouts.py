"""Random functions of layouts: transposes, reshapes and broadcasts between sums and products.

A size is a number and whether the text says it; those that it does not say (`?`) are 2 or more when
the function runs, and the shapes that broadcasts and reshapes need then are constants.
"""

import math
from random import Random

MOST_DIMENSIONS, MOST_ELEMENTS = 5, 400
UNARY = ("kABS", "kNEG", "kSIN", "kATAN")
ACTIVATIONS = ("kRELU", "kTANH", "kSIGMOID")
BINARY = ("kSUM", "kSUB", "kPROD", "kMAX")
PRODUCTS = ("kNONE", "kTRANSPOSE")


class Layouts:
    """A function that grows by one op after another."""

    def __init__(self, seed, *, dynamic=False):
        self.random = Random(seed)
        self.dynamic = dynamic
        self.lines, self.arguments, self.values, self.count = [], [], [], 0
        for _ in range(self.random.randint(1, 3)):
            shape = self.shape(self.random.randint(1, 4))
            name = f"%a{len(self.arguments)}"
            self.arguments.append((name, shape))
            self.values.append((name, shape))
        for _ in range(self.random.randint(4, 14)):
            self.random.choice(STEPS)(self)

    def size(self):
        number = self.random.choice((1, 1, 2, 3, 4))
        hidden = self.dynamic and number > 1 and self.random.random() < 0.4
        return number, not hidden

    def shape(self, rank):
        return tuple(self.size() for _ in range(rank))

    def pick(self, least=0):
        """A value of at least so many dimensions; the last ones are likely."""
        known = [value for value in self.values if len(value[1]) >= least]
        if not known:
            return None
        return known[-1] if self.random.random() < 0.6 else self.random.choice(known)

    def add(self, text, shape):
        """A line whose result has a shape; gives the result."""
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape))
        return self.values[-1]

    def constant(self, shape, kind="f32", numbers=None):
        self.count += 1
        name = f"%{self.count}"
        found = numbers or [self.random.randint(-8, 8) / 4 for _ in range(volume(shape))]
        if self.random.random() < 0.2 and numbers is None:
            text = f"dense<{found[0]}>" if found else "dense<0.0>"
        else:
            text = f"dense<{nested(found, [number for number, _ in shape])}>"
        self.lines.append(f"{name} = tensorrt.constant {text} : {type_of(shape, kind)}")
        return name, shape

    def sizes(self, shape):
        """A constant that says a shape."""
        name, _ = self.constant([(len(shape), True)], "i32", [number for number, _ in shape])
        return f" shape({name} : tensor<{len(shape)}xi32>)"

    def text(self):
        """The module; its function gives the last values."""
        results = self.values[-min(3, self.count or 1) :]
        head = ", ".join(f"{name}: {type_of(shape)}" for name, shape in self.arguments)
        types = ", ".join(type_of(shape) for _, shape in results)
        body = "\n  ".join(self.lines)
        end = f"return {', '.join(name for name, _ in results)} : {types}"
        return f"func.func @main({head}) -> ({types}) {{\n  {body}\n  {end}\n}}"

    def inputs(self):
        """The sizes of the arguments when the function runs."""
        return {i: [n for n, _ in shape] for i, (_, shape) in enumerate(self.arguments)}


def volume(shape):
    return math.prod(number for number, _ in shape)


def type_of(shape, kind="f32"):
    sizes = [f"{number}x" if said else "?x" for number, said in shape]
    return f"tensor<{''.join(sizes)}{kind}>"


def nested(numbers, sizes):
    if not sizes:
        return str(numbers[0])
    step = len(numbers) // sizes[0]
    rows = [nested(numbers[i * step : (i + 1) * step], sizes[1:]) for i in range(sizes[0])]
    return f"[{', '.join(rows)}]"


def unsaid(shape):
    return sum(not said for _, said in shape)


def transpose(made):
    value = made.pick(2)
    if value is None:
        return
    name, shape = value
    order = list(range(len(shape)))
    made.random.shuffle(order)
    turned = tuple(shape[i] for i in order)
    dims = ", ".join(f"d{i}" for i in range(len(shape)))
    there = ", ".join(f"d{i}" for i in order)
    made.add(
        f"tensorrt.transpose {{permutation = affine_map<({dims}) -> ({there})>}} {name} : "
        f"{type_of(shape)} to {type_of(turned)}",
        turned,
    )


def reshape(made):
    name, shape = made.pick()
    new = list(shape)
    for _ in range(made.random.randint(1, 3)):
        change(made, new)
    if tuple(new) == shape or len(new) > MOST_DIMENSIONS:
        return
    extra = made.sizes(new) if unsaid(new) > 1 else ""
    made.add(f"tensorrt.reshape {name}{extra} : {type_of(shape)} to {type_of(new)}", tuple(new))


def change(made, shape):
    """Merge two sizes, split one, or put a 1 in."""
    place, kind = made.random.randrange(len(shape) + 1), made.random.randrange(3)
    if kind == 0 and place + 1 < len(shape):
        (a, said), (b, told) = shape[place : place + 2]
        shape[place : place + 2] = [(a * b, said and told)]
    elif kind == 1 and place < len(shape) and shape[place][1]:
        number = shape[place][0]
        factors = [n for n in range(2, number) if number % n == 0]
        if factors:
            factor = made.random.choice(factors)
            shape[place : place + 1] = [(factor, True), (number // factor, True)]
    elif kind == 2:
        shape.insert(place, (1, True))


def rank(made):
    name, shape = made.pick()
    ones = [i for i, size in enumerate(shape) if size == (1, True)]
    if ones and made.random.random() < 0.5:
        gone = made.random.choice(ones)
        new, op = shape[:gone] + shape[gone + 1 :], "collapse_rank"
    elif len(shape) < MOST_DIMENSIONS:
        place = made.random.randrange(len(shape) + 1)
        new, op = (*shape[:place], (1, True), *shape[place:]), "expand_rank"
    else:
        return
    made.add(f"tensorrt.{op} {name} : {type_of(shape)} to {type_of(new)}", new)


def broadcast(made):
    name, shape = made.pick()
    new = [made.size() if size == (1, True) else size for size in shape]
    places = list(range(len(new)))
    for _ in range(made.random.randrange(3)):
        if len(new) < MOST_DIMENSIONS:
            at = made.random.randrange(len(new) + 1)
            new.insert(at, made.size())
            places = [place + (place >= at) for place in places]
    if made.random.random() < 0.3:
        order = list(range(len(new)))
        made.random.shuffle(order)
        new = [new[i] for i in order]
        places = [order.index(place) for place in places]
    if volume(new) > MOST_ELEMENTS:
        return
    extra = made.sizes(new) if unsaid(new) else ""
    dims = ", ".join(map(str, places))
    made.add(
        f"tensorrt.broadcast {name} broadcast_dims<{dims}>{extra} : {type_of(shape)} to "
        f"{type_of(new)}",
        tuple(new),
    )


def fitting(made, shape, *, whole=False):
    """A value that broadcasts with a shape, or a new constant, whose sizes are known."""
    found = [v for v in made.values if len(v[1]) == len(shape) and fits(v[1], shape)]
    if found and made.random.random() < 0.7:
        return made.random.choice(found)
    sizes = [(n, True) if said and made.random.random() < 0.6 else (1, True) for n, said in shape]
    return made.constant(sizes)


def fits(one, other):
    return all(a == b or (1, True) in {a, b} for a, b in zip(one, other, strict=True))


def joined(*shapes):
    return tuple(
        next((size for size in sizes if size != (1, True)), (1, True))
        for sizes in zip(*shapes, strict=True)
    )


def element_wise(made):
    value = made.pick()
    other = fitting(made, value[1])
    pair = [value, other]
    made.random.shuffle(pair)
    (a, left), (b, right) = pair
    new = joined(left, right)
    if volume(new) <= MOST_ELEMENTS:
        made.add(
            f"tensorrt.element_wise <{made.random.choice(BINARY)}>({a}, {b} : {type_of(left)}, "
            f"{type_of(right)}) -> {type_of(new)}",
            new,
        )


def select(made):
    a, left = made.pick()
    b, right = fitting(made, left)
    zero, none = made.constant([(1, True)] * len(left))
    made.count += 1
    truth = f"%{made.count}"
    made.lines.append(
        f"{truth} = tensorrt.element_wise <kGREATER>({a}, {zero} : {type_of(left)}, "
        f"{type_of(none)}) -> {type_of(left, 'i1')}"
    )
    new = joined(left, right)
    made.add(
        f"tensorrt.select ins({truth}, {a}, {b} : {type_of(left, 'i1')}, {type_of(left)}, "
        f"{type_of(right)}) -> {type_of(new)}",
        new,
    )


def unary(made):
    name, shape = made.pick()
    kind = made.random.randrange(3)
    if kind == 0:
        operation = made.random.choice(UNARY)
        text = f"unary {{unaryOperation = #tensorrt.unary_operation<{operation}>}} {name}"
    elif kind == 1:
        operation = made.random.choice(ACTIVATIONS)
        text = f"activation {{activationType = #tensorrt.activation_type<{operation}>}} {name}"
    else:
        text = f"identity {name}"
    to = f" to {type_of(shape)}" if kind == 2 else ""
    made.add(f"tensorrt.{text} : {type_of(shape)}{to}", shape)


def softmax(made):
    value = made.pick(1)
    if value is not None:
        name, shape = value
        axis = made.random.randrange(len(shape))
        made.add(f"tensorrt.softmax {{axis = {axis} : i64}} {name} : {type_of(shape)}", shape)


def matrix_multiply(made):
    value = made.pick(2)
    if value is None or volume(value[1]) > MOST_ELEMENTS // 4:
        return
    a, left = value
    op0, op1 = made.random.choice(PRODUCTS), made.random.choice(PRODUCTS)
    rows, summed = left[-2:] if op0 == "kNONE" else (left[-1], left[-2])
    batch, columns = left[:-2], made.size()
    right = next(
        (
            (name, shape)
            for name, shape in reversed(made.values)
            if len(shape) == len(left)
            and fits(shape[:-2], batch)
            and shape[-2 if op1 == "kNONE" else -1] == summed
        ),
        None,
    )
    if right is None:
        if not summed[1]:
            return
        columns = (columns[0], True)
        ones = [
            (n, True) if said and made.random.random() < 0.5 else (1, True) for n, said in batch
        ]
        matrix = [summed, columns] if op1 == "kNONE" else [columns, summed]
        right = made.constant([*ones, *matrix])
    b, other = right
    columns = other[-1 if op1 == "kNONE" else -2]
    new = (*joined(batch, other[:-2]), rows, columns)
    made.add(
        f"tensorrt.matrix_multiply {{op0 = #tensorrt.matrix_operation<{op0}>, "
        f"op1 = #tensorrt.matrix_operation<{op1}>}} ins({a}, {b} : {type_of(left)}, "
        f"{type_of(other)}) -> {type_of(new)}",
        new,
    )


def quantize(made):
    value = made.pick(1)
    if value is None:
        return
    name, shape = value
    scale, none = made.constant([], numbers=[0.25])
    made.count += 1
    small = f"%{made.count}"
    made.lines.append(
        f"{small} = tensorrt.quantize in({name} : {type_of(shape)}) scale({scale} : "
        f"{type_of(none)}) -> {type_of(shape, 'i8')}"
    )
    made.add(
        f"tensorrt.dequantize in({small} : {type_of(shape, 'i8')}) scale({scale} : "
        f"{type_of(none)}) -> {type_of(shape)}",
        shape,
    )


def convolution(made):
    value = made.pick(4)
    if value is None or len(value[1]) != 4 or not value[1][1][1]:
        return
    name, shape = value
    kernel, sizes = made.constant([(2, True), shape[1], (1, True), (1, True)])
    zero = "array<i64: 0, 0>"
    new = (shape[0], (2, True), *shape[2:])
    made.add(
        f"tensorrt.convolution {{post_padding = {zero}, pre_padding = {zero}, stride = "
        f"array<i64: 1, 1>}} in({name} : {type_of(shape)}) kernel({kernel} : {type_of(sizes)}) -> "
        f"{type_of(new)}",
        new,
    )


STEPS = (
    *[transpose] * 4,
    *[reshape] * 4,
    *[element_wise] * 4,
    *[broadcast] * 3,
    *[matrix_multiply] * 3,
    *[unary] * 2,
    rank,
    select,
    softmax,
    quantize,
    convolution,
)
