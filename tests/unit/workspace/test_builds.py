"""`tripybuild build`: what is out of date, and why; order, parts, and what is wrong."""

import json
import sys

import pytest
import workspaces

from tripybuild.cli.main import main
from tripybuild.compiler import session as compiler
from tripybuild.language_server.analysis import Analysis
from tripybuild.language_server.findings import find
from tripybuild.workspace import execution, local_executor, matrix, session
from tripybuild.workspace.state import JobRecord


@pytest.fixture
def root(tmp_path, shared_cache, monkeypatch):
    """A workspace with two specs, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    return workspaces.write(tmp_path)


@pytest.fixture
def build(root, monkeypatch, capfd):
    """Runs `tripybuild build` with jobs in this process, and gives its answer by their names."""
    monkeypatch.setattr(local_executor, "LocalExecutor", workspaces.HereExecutor)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", "build", *words, "--json"])
        with pytest.raises(SystemExit) as end:
            main()
        answer = json.loads(capfd.readouterr().out)
        assert bool(end.value.code) == bool(answer["diagnostics"])
        jobs = {each["name"]: each for each in answer.get("jobs", ())}
        return jobs, answer["diagnostics"]

    return run


def reasons(jobs):
    """Why each job has to be done."""
    return {name: each["reasons"] for name, each in jobs.items() if each["reasons"]}


def test_only_what_changed_is_built_and_named(root, build):
    """By content: a file that is written again as it was changes nothing."""
    jobs, _ = build("-j", "1")
    assert reasons(jobs) == dict.fromkeys(
        ("plain/one-reference", "plain/two-reference"), jobs and ["it was never built"]
    )
    spec, output = root / "specs/one.yaml", root / "build/plain/two-reference.tpb"
    spec.write_text(spec.read_text())
    assert {each["outcome"] for each in build()[0].values()} == {"current"}
    spec.write_text(workspaces.spec("one", "3.0"))
    found = {"plain/one-reference": ["`specs/one.yaml` changed"]}
    assert reasons(build("--dry-run")[0]) == found
    output.write_bytes(output.read_bytes() + b"x")
    found["plain/two-reference"] = ["`build/plain/two-reference.tpb` is not what was built"]
    assert reasons(build("--dry-run")[0]) == found
    output.unlink()
    found["plain/two-reference"] = ["`build/plain/two-reference.tpb` is not there"]
    jobs, _ = build()
    assert reasons(jobs) == found
    assert {each["outcome"] for each in jobs.values()} == {"done"}
    assert {each["outcome"] for each in build()[0].values()} == {"current"}


def test_options_versions_and_used_files_are_named(root, build, monkeypatch):
    """Each by what it was and is."""
    text = workspaces.FLEET.replace("[reference]", "[reference], sizes: [all]")
    text += "sizes: {all: {shapes: [{B: 2}]}}\n"
    (root / "tripybuild.yaml").write_text(text)
    (root / "specs" / "parts.yaml").write_text(
        "tripybuild: 1\ndefine:\n  half: {inputs: {x: 'F[N]'}, outputs: {out: x / 2.0}}\n"
    )
    (root / "tripybuild.yaml").write_text(text.replace("specs/*.yaml", "specs/one.yaml"))
    spec = root / "specs/one.yaml"
    spec.write_text(workspaces.spec("one") + "use: {parts.yaml: [half]}\n")
    name = "plain/one-all-reference"
    assert build()[0][name]["outcome"] == "done"
    parts = root / "specs/parts.yaml"
    parts.write_text(parts.read_text().replace("2.0", "4.0"))
    assert reasons(build("-n")[0]) == {name: ["`specs/parts.yaml` changed"]}
    build()
    text = (root / "tripybuild.yaml").read_text()
    (root / "tripybuild.yaml").write_text(text.replace("B: 2", "B: 3"))
    (found,) = reasons(build("-n")[0]).values()
    assert found == ['its shapes was `[{"B": 2}]`, and is `[{"B": 3}]`']
    (root / "tripybuild.yaml").write_text(text)
    monkeypatch.setattr("tripybuild.workspace.versions.VERSION", "9.9")
    (found,) = reasons(build("-n")[0]).values()
    assert found == ["`tripybuild` was `0.1.0`, and is `9.9`"]


def test_weights_count_by_content(root, build):
    """Those that a spec names, once they are there, and when they change."""
    import numpy as np  # noqa: PLC0415 - for this alone
    from safetensors.numpy import save_file  # noqa: PLC0415 - as above

    (root / "specs/two.yaml").unlink()
    spec = workspaces.spec("one").replace("edges * 2.0", "head(edges)")
    spec += "parts: {head: 'Linear(3, 2)'}\nweights: one.safetensors\n"
    (root / "specs/one.yaml").write_text(spec)
    _, found = build()
    assert [each["code"] for each in found] == ["weights-not-found"]
    path = root / "specs/one.safetensors"
    for value in (1, 2):
        tensors = {"head.weight": np.full((2, 3), value), "head.bias": np.zeros(2)}
        save_file({n: each.astype(np.float32) for n, each in tensors.items()}, path)
        jobs, _ = build()
        why = "it was never built" if value == 1 else "`specs/one.safetensors` changed"
        assert reasons(jobs) == {"plain/one-reference": [why]}


def test_what_needs_a_failure_is_left_out(root, build):
    """What needs a build that failed is left out."""
    text = workspaces.FLEET + "  last: {needs: [plain], targets: [reference]}\n"
    text = text.replace(
        "builds: {plain: {targets: [reference]}}", "builds:\n  plain: {targets: [reference]}"
    )
    (root / "tripybuild.yaml").write_text(text)
    (root / "specs/one.yaml").write_text(workspaces.spec("one").replace("edges *", "edge *"))
    jobs, found = build()
    assert {n: each["outcome"] for n, each in jobs.items()} == {
        "plain/one-reference": "failed",
        "plain/two-reference": "done",
        "last/one-reference": "canceled",
        "last/two-reference": "canceled",
    }
    first = found[0]
    assert (first["code"], first["span"]["path"], first["span"]["line"]) == (
        *("unbound-name", "specs/one.yaml"),
        5,
    )
    assert first["notes"][-1] == "for `plain/one-reference`"
    (root / "specs/one.yaml").write_text(workspaces.spec("one"))
    jobs, _ = build()
    assert [n for n, each in jobs.items() if each["outcome"] == "current"] == [
        "plain/two-reference"
    ]


STRANGE = {
    "/etc/*.yaml": "outside-folder",
    "../*.yaml": "outside-folder",
    "/etc/hostname": "outside-folder",
    "../other.yaml": "outside-folder",
    "link.yaml": "outside-folder",
    "lin*.yaml": "outside-folder",
    "none.yaml": "file-not-found",
    "none/*.yaml": "file-not-found",
    "specs/**.yaml": "wrong-value",
}


@pytest.mark.parametrize("path", STRANGE)
def test_specs_are_below_the_workspace(root, build, path):
    """No path and no link leads out of its folder."""
    other = root.parent / f"{root.name}-other.yaml"
    other.write_text(workspaces.spec("other"))
    (root / "link.yaml").symlink_to(other)
    (root / "tripybuild.yaml").write_text(workspaces.FLEET.replace("specs/*.yaml", path))
    _, found = build()
    assert [(each["code"], each["span"]["line"]) for each in found] == [(STRANGE[path], 3)]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("outputs: /tmp", ["outside-folder"]),
        ("outputs: ../out", ["outside-folder"]),
        ("outputs: linked", ["outside-folder"]),
        ("builds: {p: {output: ../../x}}", ["outside-folder", "output-shared"]),
        ("builds: {p: {output: '{spec.__class__}'}}", ["unbound-name"]),
        ("builds: {p: {output: '{0}'}}", ["unbound-name"]),
        ("builds: {p: {output: 'x{'}}", ["wrong-value"]),
        ("builds: {p: {output: x}}", ["output-shared"]),
        ("builds: {p: {weights: /etc}}", ["outside-folder"]),
        ("builds: {p: {registry: [../ops]}}", ["outside-folder"]),
        ("builds: {p: {config: none.json}}", ["file-not-found"]),
        ("builds: {p: {needs: [q]}, q: {needs: [p]}}", ["build-cycle"]),
        ("builds: {p: {needs: [p]}}", ["build-cycle"]),
        ("builds: {p: {needs: [none]}}", ["unbound-name"]),
        ("builds: {p: {targets: [gpu]}}", ["unknown-target"]),
        ("builds: {p: {specs: [none], sizes: [none]}}", ["unbound-name", "unbound-name"]),
        ("builds: {p: {dtypes: [int8]}}", ["wrong-value"]),
        ("build: {}", ["unknown-key"]),
    ],
)
def test_what_is_wrong_with_a_workspace_has_its_line(root, build, line, codes):
    """All of it in one run."""
    (root / "linked").symlink_to("/tmp")
    key = line.partition(":")[0]
    kept = [e for e in workspaces.FLEET.splitlines() if not e.startswith(f"{key}:")]
    (root / "tripybuild.yaml").write_text("\n".join([*kept, line]) + "\n")
    _, found = build("-n")
    assert [each["code"] for each in found] == codes
    assert {each["span"]["line"] for each in found} == {len(kept) + 1}


def test_a_workspace_is_found_above_and_by_option(root, build, monkeypatch, tmp_path_factory):
    """Places are said as the user stands."""
    monkeypatch.chdir(root / "specs")
    assert len(build("-n")[0]) == 2
    (root / "specs/one.yaml").write_text("tripybuild: 1\nmodel: one\n")
    _, found = build("one")
    assert found[0]["span"]["path"] == "../specs/one.yaml"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert len(build("-n", "-C", str(root))[0]) == 2
    assert [each["code"] for each in build()[1]] == ["workspace-not-found"]


def test_names_and_parts_select(root):
    """The parts of a matrix are all of it, none twice, and what shares a model is in one."""
    text = workspaces.FLEET.replace(
        "{plain: {targets: [reference]}}",
        "{a: {targets: [reference, cpu], dtypes: [float32, float16]}, b: {needs: [a]}, c: {}}",
    )
    workspaces.write(root, text, [f"s{n}" for n in range(7)])
    (root / "specs/one.yaml").unlink()
    (root / "specs/two.yaml").unlink()
    workspace = session.open_workspace(root)
    made = matrix.all_builds(workspace)
    names = [each.name for each in made]
    assert len(names) == 7 * 4 + 7 + 7
    parts = [[e.name for e in matrix.shard(made, number, 3)] for number in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    assert max(map(len, parts)) - min(map(len, parts)) <= 2
    assert parts == [[e.name for e in matrix.shard(made, n, 3)] for n in (1, 2, 3)]
    for part in parts:
        assert ("a/s3-float16-cpu" in part) == ("a/s3-float16-reference" in part)
    chosen = [e.name for e in session.Selection(["c/s1*"]).of(made, workspace)]
    assert chosen == ["c/s1"]
    assert len(session.Selection(["b/s1"]).of(made, workspace)) == 7 * 4 + 1
    assert len(session.Selection(["s5"]).of(made, workspace)) == 7 * 4 + 2


def test_exclusions_leave_out(root):
    """Those that have all that is said."""
    text = workspaces.FLEET.replace(
        "targets: [reference]",
        "targets: [reference, cpu], exclude: [{spec: one, target: cpu}, {spec: t*, target: ref*}]",
    )
    workspace = session.open_workspace(workspaces.write(root, text))
    names = [each.name for each in matrix.all_builds(workspace)]
    assert names == ["plain/one-reference", "plain/two-cpu"]


def test_a_torn_log_is_read_as_far_as_it_is_whole(root, build):
    """What a killed process left costs one job; and what is no record is none."""
    build()
    log = root / "build/.tripybuild/log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines)[:-40])
    jobs, _ = build()
    assert sorted(each["outcome"] for each in jobs.values()) == ["current", "done"]
    assert {each["outcome"] for each in build()[0].values()} == {"current"}
    for line in (b"", b"{", b"[]", b'{"name": 1}', b'{"name": "a", "key": 1, "parts": {}}'):
        assert JobRecord.read(line) is None
    place = root / "build/.tripybuild/inputs.json"
    damaged = json.loads(place.read_text())
    for known in damaged["reads"].values():
        known |= {"folders": [3], "weights": {"a": 1}}
    for text in ("[1", json.dumps(damaged)):
        place.write_text(text)
        assert {each["outcome"] for each in build()[0].values()} == {"current"}


def test_an_input_that_changes_while_a_job_is_done_is_no_input_of_its_key(root, build, monkeypatch):
    """The job fails, and is done again: its output is of another content than its key says."""
    spec = root / "specs/one.yaml"
    submit = workspaces.HereExecutor.submit

    def change(executor, job):
        spec.write_text(workspaces.spec("one", "5.0"))
        submit(executor, job)

    monkeypatch.setattr(workspaces.HereExecutor, "submit", change)
    jobs, found = build("one")
    assert jobs["plain/one-reference"]["outcome"] == "failed"
    assert [each["code"] for each in found] == ["inputs-changed"]
    monkeypatch.setattr(workspaces.HereExecutor, "submit", submit)
    spec.write_text(workspaces.spec("one"))
    assert build("one")[0]["plain/one-reference"]["outcome"] == "done"


def test_targets_share_a_model_that_was_read(root, build, monkeypatch):
    """It is read once, and each executable is that of a process that read it alone."""
    more = "[reference, cpu, 'cpu:onnxruntime,threads=1', cpu:openvino]"
    (root / "tripybuild.yaml").write_text(workspaces.FLEET.replace("[reference]", more))
    read, read_spec = [], compiler.read_spec

    def count(path, **how):
        read.append(path.name)
        return read_spec(path, **how)

    monkeypatch.setattr(compiler, "read_spec", count)
    jobs, _ = build()
    assert sorted(read) == ["one.yaml", "two.yaml"]
    found = {name: each["digest"] for name, each in jobs.items()}
    for name, digest in found.items():
        execution._last_model.clear()
        (root / "build" / f"{name}.tpb").unlink()
        assert build(name)[0][name]["digest"] == digest


def test_editors_say_what_a_build_would(root):
    """Of the text as it is typed."""
    path = root / "tripybuild.yaml"
    text = workspaces.FLEET.replace("[reference]", "[refrence]")
    (found,) = find(Analysis(path, text), {}).diagnostics
    assert (found.code, found.span.line) == ("unknown-target", 4)
    assert not find(Analysis(path, workspaces.FLEET), {}).diagnostics
