"""Engines that run: on fakes of TensorRT and CUDA, and what is said where there is no GPU."""

import ctypes
import importlib
import json
import sys
import threading

import fake_tensorrt as fake
import ml_dtypes
import numpy as np
import pytest
from fake_tensorrt import Program, Tensor

from tripybuild.compiler.executable import Executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.per_process import process
from tripybuild.targets.tensorrt.target import KernelCache, TensorrtRtx
from tripybuild.tensorrt.runtime import context, gpu, runtime
from tripybuild.tensorrt.runtime.cuda import Cuda
from tripybuild.tensorrt.runtime.runtime import LoadedEngine
from tripybuild.tensorrt.translation.library import Library
from tripybuild.testing.check_counts import skip_empty
from tripybuild.types.dtypes import BY_NAME

PLAN = b"an engine"
F32, I32 = np.float32, np.int32


def port(name, tensor):
    """An input or output as the record has it."""
    names = {np.dtype(each.numpy): name for name, each in BY_NAME.items()}
    profiles = [dict(zip(("min", "opt", "max"), each, strict=True)) for each in tensor.profiles]
    return {
        "name": name,
        "dtype": names[np.dtype(tensor.dtype)],
        "shape": [None if size < 0 else size for size in tensor.shape],
        "host": tensor.on_host,
        "profiles": profiles,
        "of_values": tensor.on_host,
    }


def record(program, capabilities=("sm89",)):
    return {
        "library": {"name": "tensorrt-rtx", "version": "1.7.1.116"},
        "compute_capabilities": list(capabilities),
        "inputs": [port(*each) for each in program.inputs.items()],
        "outputs": [port(*each) for each in program.outputs.items()],
        "layers": [],
    }


class Bench:
    """An engine of a program on a fake device."""

    def __init__(self, program, kernels=None):
        self.memory = fake.Memory()
        self.module = fake.Fake(self.memory, {PLAN: program})
        self.library = Library("tensorrt-rtx", self.module)
        self.cuda = Cuda(fake.cuda(self.memory))
        self.names = list(program.inputs)
        said = record(program)
        self.engine = LoadedEngine(
            self.library, self.cuda, memoryview(PLAN), said, list(program.outputs), kernels
        )

    def run(self, *arrays):
        prepared = self.engine.prepare(self.names, [each.shape for each in arrays])
        return prepared(list(arrays))

    def calls(self):
        found, self.memory.calls[:] = list(self.memory.calls), []
        return found


ROWS = Tensor(F32, (-1, 4), profiles=[((1, 4), (2, 4), (8, 4)), ((16, 4), (16, 4), (16, 4))])
DOUBLED = Program(
    {"x": ROWS},
    {"y": Tensor(F32, (-1, 4)), "s": Tensor(F32, ())},
    lambda shapes: {"y": shapes["x"], "s": ()},
    lambda x: {"y": 2 * x, "s": x.sum()},
    profiles=2,
)


def rows(count, start=0):
    return np.arange(start, start + 4 * count, dtype=F32).reshape(count, 4)


def test_an_engine_computes():
    """Outputs have their sizes, in the order asked for, and own their memory."""
    bench = Bench(DOUBLED)
    y, s = bench.run(rows(3))

    np.testing.assert_array_equal(y, 2 * rows(3))
    assert s.shape == ()
    assert s == rows(3).sum()
    assert y.flags.owndata
    assert y.flags.writeable


def test_a_forked_process_is_told_of_cuda(monkeypatch):
    """CUDA is not inherited: the call is refused before it waits for a lock of the parent."""
    bench = Bench(DOUBLED)
    bench.engine._lock.acquire()
    monkeypatch.setattr(process, "mark", object())

    with pytest.raises(DiagnosticError) as raised:
        bench.run(rows(3))

    (found,) = raised.value.diagnostics
    assert found.code == "engine-failed"
    assert "forked" in found.message
    assert "spawn" in found.hint


def test_what_depends_on_shapes_is_done_once():
    """A second call of the same shapes is a copy, a run and copies back."""
    bench = Bench(DOUBLED)
    bench.run(rows(3))
    first = bench.calls()
    y, _ = bench.run(rows(3, start=5))

    assert "shape x [3, 4]" in first
    assert "malloc 256" in first
    assert bench.calls() == ["copy 1 48", "execute", "copy 2 48", "copy 2 4", "finish"]
    np.testing.assert_array_equal(y, 2 * rows(3, start=5))


def test_other_shapes_choose_another_profile_and_memory_grows():
    """Sizes of another profile select it; memory that is large enough is kept."""
    bench = Bench(DOUBLED)
    bench.run(rows(3))
    bench.calls()
    y, _ = bench.run(rows(16))
    calls = bench.calls()
    assert "profile 1" in calls
    assert not any("malloc" in call for call in calls)  # 16 rows take 256 bytes, the least
    np.testing.assert_array_equal(y, 2 * rows(16))

    np.testing.assert_array_equal(bench.run(rows(1))[0], 2 * rows(1))
    assert "profile 0" in bench.calls()


def test_sizes_that_no_profile_holds():
    """The refusal names the input, its sizes and the ranges."""
    bench = Bench(DOUBLED)
    with pytest.raises(DiagnosticError) as raised:
        bench.run(rows(12))
    (found,) = raised.value.diagnostics
    assert found.code == "size-out-of-range"
    assert found.notes == ("`x` has sizes [12, 4], within [1, 4] to [8, 4] or [16, 4] to [16, 4]",)
    np.testing.assert_array_equal(bench.run(rows(2))[0], 2 * rows(2))


def test_profiles_are_chosen_by_what_is_nearest_then_narrowest():
    """The nearest `opt` first, then the narrowest range, then the first."""

    def choose(size, *profiles):
        entries = [
            {
                "name": "x",
                "profiles": [dict(zip(("min", "opt", "max"), p, strict=True)) for p in profiles],
            }
        ]
        return runtime.select_profile(entries, {"x": (size,)})

    wide, exact, other = ([1], [4], [8]), ([4], [4], [4]), ([1], [7], [8])
    assert choose(4, wide, exact) == 1
    assert choose(4, exact, wide) == 0
    assert choose(6, wide, exact, other) == 2
    assert choose(3, wide, wide) == 0
    assert choose(3) == 0


def test_an_input_with_one_range_has_it_in_each_profile():
    """As when profiles were added to the engine."""
    low, high = {"min": [1], "opt": [1], "max": [2]}, {"min": [3], "opt": [3], "max": [9]}
    entries = [{"name": "a", "profiles": [low, high]}, {"name": "b", "profiles": [low]}]
    assert runtime.select_profile(entries, {"a": (5,), "b": (2,)}) == 1


# Values that are sizes, sizes that only the run knows, and memory that is shared

FILLED = Program(
    {"shape": Tensor(np.int64, (1,), on_host=True, profiles=[((1,), (2,), (9,))])},
    {"y": Tensor(I32, (-1,))},
    lambda shapes, shape: {"y": (int(shape[0]),)},
    lambda shape: {"y": np.arange(shape[0])},
)


def test_values_of_host_tensors_decide_sizes():
    """They are read on the host, and other values of the same shape are other sizes."""
    bench = Bench(FILLED)
    for count in (3, 5, 5, 2):
        (y,) = bench.run(np.array([count]))
        np.testing.assert_array_equal(y, np.arange(count))


def test_values_outside_of_their_bounds():
    """They are checked as sizes are."""
    with pytest.raises(DiagnosticError) as raised:
        Bench(FILLED).run(np.array([10]))
    assert raised.value.diagnostics[0].notes == ("`shape` has values [10], within [1] to [9]",)


FOUND = Program(
    {"x": Tensor(F32, (4,))},
    {"places": Tensor(I32, (-1,))},
    lambda shapes: {"places": (-1,)},
    lambda x: {"places": np.flatnonzero(x)},
)


def test_sizes_that_only_the_run_knows():
    """The engine asks for memory and says the sizes; none at all is a size, too."""
    bench = Bench(FOUND)
    for given in ([0, 1, 0, 2], [1, 1, 1, 1], [0, 0, 0, 0]):
        x = np.array(given, F32)
        (places,) = bench.run(x)
        np.testing.assert_array_equal(places, np.flatnonzero(x))
        assert places.dtype == I32


def test_no_memory_for_such_an_output():
    """No exception goes through TensorRT; the refusal is its own."""
    bench = Bench(FOUND)
    bench.run(np.zeros(4, F32))
    bench.engine._outputs[0]._buffer.release()
    bench.memory.room = 0
    with pytest.raises(DiagnosticError) as raised:
        bench.run(np.ones(4, F32))
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("engine-failed", "TensorRT did not run the engine")
    assert found.notes == ("no memory",)


def _updated(cache, new):
    return {"out": np.concatenate([new, cache[1:]])}


CACHED = Program(
    {"cache": Tensor(F32, (3,)), "new": Tensor(F32, (1,))},
    {"out": Tensor(F32, (3,), alias="cache")},
    lambda shapes: {"out": (3,)},
    _updated,
)


def test_an_output_in_the_memory_of_an_input():
    """The engine writes to a copy: what the caller gave is as it was."""
    bench = Bench(CACHED)
    cache = on_device(bench, np.array([1, 2, 3], F32))
    for given in (np.array([1, 2, 3], F32), cache):
        (out,) = bench.run(given if isinstance(given, np.ndarray) else given.taken, floats(9))
        np.testing.assert_array_equal(out, [9, 2, 3])
    assert cache.read() == [1, 2, 3]


def floats(*values):
    return np.array(values, F32)


class OnDevice:
    """An array of another library in the memory of the fake device, with DLPack."""

    def __init__(self, bench, array):
        status, address = bench.memory.allocate(max(array.nbytes, 1))
        assert status == 0
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
        block = bench.memory.blocks[address]
        self.shape, self.dtype = array.shape, array.dtype
        self.array = np.ndarray(array.shape, array.dtype, block)
        self.streams = []

    device = 0

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()

    @property
    def taken(self):
        return TensorrtRtx("tensorrt-rtx").import_array("x", self)

    def read(self):
        return self.array.tolist()


def on_device(bench, array):
    return OnDevice(bench, array)


def test_arrays_on_the_device_are_used_where_they_lie():
    """Nothing is copied to the device; the producer is told the default stream."""
    bench = Bench(DOUBLED)
    array = OnDevice(bench, rows(3))
    y, _ = bench.run(array.taken)
    np.testing.assert_array_equal(y, 2 * rows(3))
    assert not any(call.startswith("copy 1") for call in bench.calls())
    assert array.streams == [1]

    np.testing.assert_array_equal(bench.run(rows(3, 4))[0], 2 * rows(3, 4))
    assert array.read() == rows(3).tolist()


def test_arrays_on_another_device():
    """Are refused before anything is copied."""
    bench = Bench(DOUBLED)
    array = OnDevice(bench, rows(3))
    array.device = 1
    with pytest.raises(DiagnosticError) as raised:
        bench.run(array.taken)
    (found,) = raised.value.diagnostics
    assert found.message == "the input `x` lies on GPU 1, and the engine on GPU 0"


def test_values_on_the_device_are_fetched():
    """A host tensor may lie on the device."""
    bench = Bench(FILLED)
    np.testing.assert_array_equal(bench.run(OnDevice(bench, np.array([4])).taken)[0], range(4))


def test_arrays_that_do_not_lie_row_by_row():
    """Are refused, and not read as if they did."""
    bench = Bench(DOUBLED)
    turned = OnDevice(bench, rows(4))
    turned.array = turned.array.T
    with pytest.raises(DiagnosticError, match="do not lie one after the other"):
        _ = turned.taken
    single = OnDevice(bench, rows(1))
    single.array = np.lib.stride_tricks.as_strided(single.array, (1, 4), (400, 4))
    assert single.taken.shape == (1, 4)


def test_unknown_elements_on_the_device():
    """A type that no input has."""
    bench = Bench(DOUBLED)
    with pytest.raises(DiagnosticError, match="DLPack's type"):
        _ = OnDevice(bench, np.zeros(2, np.complex64)).taken


def test_empty_inputs():
    """An empty tensor has an address, too."""
    program = Program(
        {"x": Tensor(F32, (-1, 4), profiles=[((0, 4), (1, 4), (2, 4))])},
        {"y": Tensor(F32, (-1, 4))},
        lambda shapes: {"y": shapes["x"]},
        lambda x: {"y": x},
    )
    (y,) = Bench(program).run(np.zeros((0, 4), F32))
    assert y.shape == (0, 4)


# What goes wrong


def test_an_engine_that_tensorrt_does_not_read():
    """The refusal has TensorRT's words."""
    memory = fake.Memory()
    library = Library("tensorrt-rtx", fake.Fake(memory, {}))
    with pytest.raises(DiagnosticError) as raised:
        LoadedEngine(library, Cuda(fake.cuda(memory)), memoryview(PLAN), record(DOUBLED), ["y"])
    (found,) = raised.value.diagnostics
    assert (found.code, found.notes) == ("executable-incompatible", ("bad magic",))


def test_a_device_without_memory():
    """CUDA's words, and the function that said them; a later call may succeed."""
    bench = Bench(DOUBLED)
    bench.memory.room = 0
    with pytest.raises(DiagnosticError) as raised:
        bench.run(rows(3))
    (found,) = raised.value.diagnostics
    assert found.code == "engine-failed"
    assert found.message == "CUDA cannot run the engine: out of memory"
    assert found.notes == ("`cudaMalloc` gave the error 2",)

    bench.memory.room = 1 << 20
    np.testing.assert_array_equal(bench.run(rows(3))[0], 2 * rows(3))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("set_input_shape", "TensorRT does not take the sizes [3, 4] of the input `x`"),
        ("set_tensor_address", "TensorRT does not take the memory of `x`"),
        ("execute_async_v3", "TensorRT did not run the engine"),
    ],
)
def test_what_tensorrt_refuses(method, message, monkeypatch):
    """Each refusal says what was asked, with what TensorRT logged."""
    bench = Bench(DOUBLED)

    def refuse(self, *_):
        self._logger.log(1, "because")
        return False

    monkeypatch.setattr(fake.IExecutionContext, method, refuse)
    with pytest.raises(DiagnosticError) as raised:
        bench.run(rows(3))
    (found,) = raised.value.diagnostics
    assert (found.code, found.message, found.notes) == ("engine-failed", message, ("because",))


def test_threads_take_turns():
    """Calls of several threads give each its own."""
    bench = Bench(DOUBLED)
    wrong = []

    def work(number):
        for count in (1, 2, 3):
            given = rows(count, start=number)
            if not np.array_equal(bench.run(given)[0], 2 * given):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_device_memory_is_given_back():
    """With the engine, all of it goes."""
    bench = Bench(DOUBLED)
    bench.run(rows(3))
    assert bench.memory.blocks
    bench.calls()
    bench.engine = None
    assert bench.memory.blocks == {}
    assert "destroy" in bench.calls()


def test_elements_of_four_bits():
    """Two lie in a byte, the first in its low half."""
    kind = BY_NAME["int4"]
    array = np.array([[1, -2, 7]], np.int8).astype(ml_dtypes.int4)
    lying = context.pack_elements(array, kind)
    assert lying.tolist() == [0xE1, 0x07]
    assert context.size_of(kind, array.shape) == 2
    np.testing.assert_array_equal(context.unpack_elements(lying, kind, (1, 3)), array)


# Kernels that were compiled for this GPU


class Kept:
    def __init__(self):
        self.content = None
        self.writes = 0

    def read(self):
        return self.content

    def keep(self, content):
        self.content, self.writes = content, self.writes + 1


def test_kernels_are_kept_between_processes():
    """They are written after a run with new shapes, and read by the next engine."""
    kept = Kept()
    bench = Bench(DOUBLED, kept)
    for count in (3, 3, 4):
        bench.run(rows(count))
    assert (kept.content, kept.writes) == (b"kernels", 2)

    other = Bench(DOUBLED, kept)
    assert other.module.caches[0]._read == b"kernels"


def test_kernels_in_the_cache(tmp_path, monkeypatch):
    """By what they depend on; equal ones are not written again."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    first = KernelCache({"gpu": "a"})
    assert first.read() is None
    first.keep(b"one")
    assert KernelCache({"gpu": "a"}).read() == b"one"
    assert KernelCache({"gpu": "b"}).read() is None


# Whether it can run here


class Driver:
    """A driver's library with so many devices."""

    def __init__(self, count=1, status=0):
        self.count, self.status = count, status

    def cuInit(self, flags):
        return self.status

    def cuDeviceGetCount(self, count):
        count._obj.value = self.count
        return 0

    def cuDeviceGetName(self, name, length, device):
        name.value = b"NVIDIA L4"
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        value._obj.value = {75: 8, 76: 9}[attribute]
        return 0


def test_a_driver_is_asked():
    """Its first device, or why there is none."""
    assert gpu.query_driver(Driver()) == gpu.Gpu("NVIDIA L4", "sm89")
    assert gpu.query_driver(Driver(count=0)).what == "a CUDA driver, but no GPU"
    assert gpu.query_driver(Driver(count=0, status=100)).what == "a CUDA driver, but no GPU"
    broken = gpu.query_driver(Driver(status=999))
    assert broken.what == "a CUDA driver that does not work"
    assert broken.note.endswith("gives the error 999")


def refusals(monkeypatch, device, said, version="1.7.1.116"):
    """What `fitness` says on a machine with this device and library."""
    module = fake.Fake(fake.Memory(), {})
    module.__version__ = version
    monkeypatch.setattr(gpu, "find_gpu", lambda: device)
    monkeypatch.setattr(Library, "find", staticmethod(lambda name: Library(name, module)))
    try:
        runtime.check_compatibility(said)
    except DiagnosticError as error:
        return [(each.code, each.message) for each in error.diagnostics]
    return []


def test_the_gpu_and_the_library_must_fit(monkeypatch):
    """One report has all that is in the way."""
    l4, none = gpu.Gpu("NVIDIA L4", "sm89"), gpu.Absence("no CUDA driver", "")
    two = record(DOUBLED, ["sm86", "sm120"])
    assert refusals(monkeypatch, l4, record(DOUBLED)) == []
    assert refusals(monkeypatch, l4, record(DOUBLED, [])) == []
    assert refusals(monkeypatch, l4, two) == [
        (
            "executable-incompatible",
            "the executable was built for SM86 and SM120; this machine's GPU is SM89",
        )
    ]
    assert refusals(monkeypatch, none, record(DOUBLED, []), "1.8.0") == [
        ("no-gpu", "the executable was built for NVIDIA GPUs; this machine has no CUDA driver"),
        (
            "executable-incompatible",
            "the engine was built by tensorrt-rtx 1.7.1.116; here is 1.8.0",
        ),
    ]


def test_a_library_that_is_not_here(monkeypatch):
    """Is said beside the missing GPU."""
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Absence("no CUDA driver", ""))
    monkeypatch.setitem(sys.modules, "tensorrt", None)
    said = {**record(DOUBLED), "library": {"name": "tensorrt", "version": "10.9"}}
    with pytest.raises(DiagnosticError) as raised:
        runtime.check_compatibility(said)
    assert [each.code for each in raised.value.diagnostics] == ["no-gpu", "target-unavailable"]


def test_cuda_without_its_bindings(monkeypatch):
    """The diagnostic says what to install."""
    monkeypatch.setitem(sys.modules, "cuda", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings.runtime", None)
    with pytest.raises(DiagnosticError) as raised:
        Cuda.find.__wrapped__()
    (found,) = raised.value.diagnostics
    assert found.code == "target-unavailable"
    assert "tripybuild[cuda]" in found.hint


# From an executable


def manifest(program, **more):
    def entries(ports):
        return [
            {**{key: port(name, each)[key] for key in ("name", "dtype")}, "shape": shape(each)}
            for name, each in ports.items()
        ]

    def shape(tensor):
        return ["B" if size < 0 else size for size in tensor.shape]

    one = {"min": 1, "opt": 2, "max": 16, "multiple_of": 1}
    entry = {
        "name": "",
        "inputs": entries(program.inputs),
        "outputs": entries(program.outputs),
        "ranges": {"B": one},
        "laws": [],
        "engine": {"plan": "plan", "record": "record"},
        **more,
    }
    return {"model": "tiny", "target": "tensorrt-rtx", "entries": [entry]}


def executable(program, said=None, **more):
    members = {"plan": PLAN, "record": json.dumps(said or record(program)).encode()}
    return Executable(manifest(program, **more), members)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with a fake GPU."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    bench = Bench(DOUBLED)
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Gpu("NVIDIA L4", "sm89"))
    monkeypatch.setattr(Library, "find", staticmethod(lambda name: bench.library))
    monkeypatch.setattr(Cuda, "find", staticmethod(lambda: bench.cuda))
    return bench


def test_an_executable_runs_its_engine(machine):
    """Arrays by name, from NumPy or from the device; sizes are checked before."""
    loaded = executable(DOUBLED)
    np.testing.assert_array_equal(loaded(x=rows(3))["y"], 2 * rows(3))
    np.testing.assert_array_equal(loaded(x=OnDevice(machine, rows(5)))["y"], 2 * rows(5))
    with pytest.raises(DiagnosticError) as raised:
        loaded(x=rows(17))
    assert raised.value.diagnostics[0].message == "`B` must be between 1 and 16, but is 17"
    with pytest.raises(DiagnosticError) as raised:
        loaded(x=OnDevice(machine, rows(3).astype(np.float64)))
    assert raised.value.diagnostics[0].code == "input-dtype"


def test_each_entry_runs_its_own_engine(machine):
    """Which is read when the entry is called first."""
    said, members = manifest(DOUBLED), {}
    (only,) = said["entries"]
    said["entries"] = []
    for name, plan in (("once", PLAN), ("never", b"broken")):
        places = {"plan": f"{name}/plan", "record": f"{name}/record"}
        said["entries"].append({**only, "name": name, "engine": places})
        members |= {places["plan"]: plan, places["record"]: json.dumps(record(DOUBLED)).encode()}
    loaded = Executable(said, members)
    np.testing.assert_array_equal(loaded.once(x=rows(3))["y"], 2 * rows(3))
    with pytest.raises(DiagnosticError) as raised:
        loaded.never(x=rows(3))
    assert raised.value.diagnostics[0].code == "executable-incompatible"


def test_nothing_is_read_where_there_is_no_gpu(machine, monkeypatch):
    """The library never sees the bytes."""
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Absence("no CUDA driver", "libcuda"))
    machine.calls()
    with pytest.raises(DiagnosticError) as raised:
        executable(DOUBLED)(x=rows(3))
    assert [each.code for each in raised.value.diagnostics] == ["no-gpu"]
    assert machine.calls() == []


@pytest.mark.parametrize(
    "said",
    [
        {},
        {**record(DOUBLED), "inputs": []},
        {**record(DOUBLED), "outputs": [port("z", Tensor(F32, ()))]},
        {**record(DOUBLED), "library": "tensorrt-rtx"},
        [],
    ],
)
def test_records_of_something_else(machine, said):
    """A record that is none, or that is of another model, is not used."""
    with pytest.raises(DiagnosticError) as raised:
        executable(DOUBLED, said or {"a": 1})(x=rows(3))
    assert raised.value.diagnostics[0].code == "executable-altered"


def test_an_executable_says_what_it_is():
    """In a notebook, its name and types."""
    assert repr(executable(DOUBLED)) == (
        "<Executable tiny for tensorrt-rtx: "
        "(x: float32[B, 4]) -> (y: float32[B, 4], s: float32[()])>"
    )


# The fakes beside what they stand for


@pytest.mark.parametrize(
    "name",
    [
        *("Runtime", "ICudaEngine", "IExecutionContext"),
        *("IRuntimeConfig", "IRuntimeCache", "IOutputAllocator"),
    ],
)
def test_fakes_have_no_methods_of_their_own(name):
    """What a fake offers, the real class has; so what passes here calls what there is."""
    real = getattr(pytest.importorskip("tensorrt_rtx"), name)
    offered = {each for each in vars(getattr(fake, name)) if not each.startswith("_")}
    missing = {each for each in offered if not hasattr(real, each)}
    assert missing == set()
    for method in offered:
        words = getattr(getattr(fake, name), method).__code__.co_varnames
        count = getattr(getattr(fake, name), method).__code__.co_argcount
        said = getattr(real, method).__doc__
        overloaded = "Overloaded function" in said or "buffer" in words
        assert overloaded or all(f"{word}:" in said for word in words[1:count]), (method, said)


def test_the_allocator_has_the_documented_methods():
    """TensorRT calls them by these names, with these arguments."""
    trt = pytest.importorskip("tensorrt_rtx")
    said = trt.IOutputAllocator.__doc__
    for each in ("reallocate_output", "reallocate_output_async", "notify_shape"):
        function = getattr(_allocator_class(trt), each)
        words = function.__code__.co_varnames[: function.__code__.co_argcount]
        assert f"def {each}({', '.join(words)}):" in said


def _allocator_class(module):
    return type(context._allocator(module, None))


def test_the_bindings_have_what_is_called():
    """Names and numbers of arguments of `cuda-bindings`."""
    runtime = pytest.importorskip("cuda.bindings.runtime", reason="cuda-bindings is not installed")
    mine = fake.cuda(fake.Memory())
    for name, function in vars(mine).items():
        if name == "cudaMemcpyKind":
            assert {int(getattr(runtime.cudaMemcpyKind, k)) for k in vars(function)} == {1, 2, 3}
            continue
        said = getattr(runtime, name).__doc__.splitlines()[0]
        given = said.partition("(")[2].rstrip(")")
        count = len(given.split(",")) if given else 0
        assert function.__code__.co_argcount == count, said


def test_the_real_bindings_say_that_there_is_no_driver():
    """An error of the real CUDA is a diagnostic in its words."""
    pytest.importorskip("cuda.bindings.runtime", reason="cuda-bindings is not installed")
    if isinstance(gpu.find_gpu(), gpu.Gpu):
        skip_empty("there is a GPU")
    with pytest.raises(DiagnosticError) as raised:
        Cuda(importlib.import_module("cuda.bindings.runtime")).allocate(16)
    (found,) = raised.value.diagnostics
    assert found.code == "engine-failed"
    assert "driver" in found.message
