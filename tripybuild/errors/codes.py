"""Error codes and their explanations, for `tripybuild explain CODE`.

Invariant: each has a case in the tests. The codes of laws, `op/law`, are the registry's.
"""

CODES: dict[str, str] = {
    # The command line
    "unknown-command": "The program has no command of this name.",
    "unknown-option": "The command has no option of this name.",
    "missing-argument": "The command needs an argument, or an option its value.",
    "extra-argument": "The command takes no further argument.",
    "argument-value": "A value on the command line is not one that its option or argument takes.",
    "conflicting-options": "Options or arguments on the command line do not go together.",
    # Reading a file
    "file-not-found": "There is no file at this path, or it is not a regular file.",
    "outside-folder": "A file may reference files in its own folder or below only.",
    "file-unreadable": "The operating system denied access to this file.",
    "not-utf8": "A file must be UTF-8 text; this byte is not.",
    "hidden-character": (
        "The file contains a control, bidirectional or invisible character, so it displays "
        "differently from how it is parsed. Write it as an escape, or remove it."
    ),
    # YAML
    "yaml-syntax": "The file is not valid YAML; parsing stops here.",
    "yaml-documents": "The file must contain exactly one document, without a second `---`.",
    "yaml-directive": "Directives such as `%YAML` and `%TAG` are rejected; a file needs none.",
    "yaml-anchor": (
        "Anchors, aliases and merge keys are rejected: every value must be written where it "
        "is used."
    ),
    "yaml-tag": "Tags such as `!!str` are rejected: the type of a value follows from its notation.",
    "yaml-implicit-type": (
        "The unquoted scalar has different types in different YAML versions (`no`, `010`, `1:30`, "
        "dates), or is a key that is not a string. Quote it, or write the value."
    ),
    "yaml-key": "A key must be a string, not a list or a mapping.",
    "yaml-missing-colon": (
        "An entry of `{...}` has no `:`. The usual cause is a comma in an unquoted string."
    ),
    "yaml-too-deep": "Lists and mappings are nested more deeply than any declaration needs.",
    "yaml-too-large": "The file, a string, a number or a count exceeds the reader's limit.",
    "over-budget": (
        "The file exceeds the work or memory budget, which is many times what the largest models "
        "need. `TRIPYBUILD_BUDGET=10` in the environment multiplies the budget by ten."
    ),
    "more-problems": "The file has more problems than the number shown.",
    "duplicate-key": "A mapping has the same key twice; each key has one value.",
    # The form of a declaration
    "unknown-key": "The schema has no such key here.",
    "missing-key": "The schema requires a key that is missing.",
    "not-formatted": (
        "A declaration is not formatted as by `tripybuild fmt`: keys in canonical order "
        "(name, types, law, meaning, engines, evidence), quotes where YAML needs them, and `true`, "
        "`false` and `null` in YAML's spelling. Formatting never changes the meaning."
    ),
    "wrong-type": "The value does not have the type that the schema requires here.",
    "wrong-value": "The value has the right type but is not allowed by the schema.",
    # Snippets
    "snippet-syntax": "The snippet is not in the language: expressions, assignments and `return`.",
    "snippet-grammar": "The snippet uses Python syntax that the snippet language does not support.",
    "snippet-limit": "The snippet exceeds the limits of length, nesting or size.",
    "snippet-evaluation": "The evaluation of the snippet failed for these values.",
    "unbound-name": "The snippet uses a name that is not bound.",
    # Names that must be known
    "unknown-operator": "No operator, module or part has this name.",
    "unknown-target": "No target has this name.",
    "not-iterable": (
        "A tensor is not a Python sequence: its number of rows may be known only at run time."
    ),
    "ambiguous-call": "The name is an operator for tensors and a function for all other values.",
    "ambiguous-truth": "The truth value of a tensor with several elements is ambiguous.",
    "unknown-name": "A module or a tensor has no attribute of this name.",
    "unknown-family": "No family of operators, or module, has this name.",
    "function-value": (
        "A function or a namespace of a vocabulary can only be called by name; it is not a value."
    ),
    "unknown-attribute": "Values of this kind of snippet have no attribute of this name.",
    "unknown-function": "The vocabulary of the snippet has no function of this name.",
    "unknown-argument": "The vocabulary of the snippet has no argument of this name.",
    "unknown-builder": "The dialect has no builder of this name, or the builder no such argument.",
    "unknown-alias": "The other system has no operator of this name.",
    "alias-argument": (
        "An alias sets each argument of the foreign operator once, uses each of our arguments, and "
        "is invertible for each of them."
    ),
    "unknown-fact": (
        "A target exception without a reason must have the name of one in `targets.yaml`."
    ),
    "unknown-law": "The operator has no law, argument or type variable of this name.",
    "unknown-dtype": "No dtype and no type variable has this name.",
    "unknown-size": "The model has no size of this name.",
    "unknown-entry": "The model has no entry of this name, or several and none is named.",
    "size-missing": "A declared size has neither a default nor a value.",
    "state-unchanged": "A state begins as a number, and no entry says what is next.",
    "config-default": (
        "A configuration file lacks keys that the model reads; the specification's values are used."
    ),
    "config-key": (
        "The specification reads a key that its configuration does not have. `config.get(name, "
        "default)` reads one that may be left out."
    ),
    "config-malformed": (
        "A configuration is a JSON object, or a mapping of plain data: numbers, booleans, strings, "
        "null, lists and objects, with each key once and no NaN or infinity."
    ),
    # Declarations
    "bad-name": "The name is invalid: names become Python identifiers, or error codes.",
    "bad-case": "`cases` needs several cases, of which only the last has no condition.",
    "unreached-case": "A case is unreachable: the cases before it cover all of its calls.",
    "bad-example": "An example has a `call` and either `gives` a value or `fails` a law.",
    "declared-twice": "Two declarations have the same name, or the same method of a tensor.",
    "given-twice": "A declaration repeats an entry of what it extends, or of another key.",
    "doc-summary": "A `doc` begins with one sentence that fits on the first line of a docstring.",
    "file-name": "The file name of a declaration must be its name.",
    "cyclic-family": "A family or a module extends itself, directly or through others.",
    "family-parameters": "An operator must bind each parameter of its family, and no other.",
    "no-decompose": "The operator has neither a lowering nor a decomposition for this engine.",
    "cyclic-decomposition": "The decomposition of an operator is cyclic.",
    "unreachable-target": (
        "The operator has no lowering for an engine, and no exception declares that."
    ),
    "type-syntax": (
        "The string is not a type: `T[N, C, *D]`, `int[2]`, `axis(input)` and the like are."
    ),
    # Models
    "bad-range": "A range goes from `min` over `opt` to `max`, all multiples of `multiple_of`.",
    "bad-mesh": "An axis of `mesh:` has a size of 1 or more, which is fixed when a model is built.",
    "bad-sharding": (
        "`sharding:` splits dimensions of tensors of the model over axes of its `mesh:`, each axis "
        "once in a tensor, and the size of an axis divides what it splits."
    ),
    "unused-axis": "An axis of `mesh:` splits no tensor: its devices all compute the same.",
    "mesh-left-out": "A file of ONNX says nothing of the model's `mesh:`.",
    "mesh-devices": "The machine cannot make as many devices as the `mesh:` has.",
    "operator-arguments": "An operator is called with the arguments that its declaration names.",
    "part-arguments": "A part is called with the sizes and inputs that its declaration names.",
    "cyclic-parts": "A part contains itself, directly or through others.",
    "cyclic-use": (
        "Files include each other in a cycle; move shared definitions to a file of their own."
    ),
    "step-count": "An unpacked step must return as many values as it has names.",
    "shape-mismatch": (
        "The shape of a value differs from the declaration of the part that takes or returns it."
    ),
    "dtype-mismatch": (
        "The dtype of a value differs from the declaration of the part that takes or returns it."
    ),
    "constant-too-large": (
        "A constant is too large to be stored in the executable; compute it in a step."
    ),
    "region-value": "A tensor created inside a region is not visible outside of it.",
    "undecided-size": "The condition depends on a size that is known only at run time.",
    "onnx-unavailable": "An operation has no form in the opset of ONNX, and no decomposition.",
    "onnx-too-large": "A file of ONNX has less than 2 GB; weights beside it may have more.",
    "onnx-malformed": "The file is no model of ONNX, or what is in it contradicts itself.",
    "onnx-unsupported": "The model is of ONNX, and is or has what cannot be imported.",
    "onnx-input": "The model of ONNX has no such input, or one of another type.",
    "lowering-failed": "The result of an operator's lowering differs from its declaration.",
    "reference-failed": "The result of an operator's reference differs from its declaration.",
    # Weights and other tensors in files
    "weight-missing": "A weight is missing; in a specification, `rename:` maps names.",
    "weight-unused": (
        "A weight is not used by any part; in a specification, `unused:` lists such weights."
    ),
    "weight-shape": "The shape of a weight differs from the part's declaration.",
    "weight-dtype": "The dtype of a weight differs from the part's declaration.",
    "weight-nan": "A weight contains NaN, which propagates to most results.",
    "weight-infinite": "A weight contains infinity, which turns many results into NaN.",
    "scores-not-finite": "A model gives no finite score for the next token.",
    "weights-changed": (
        "The weights file was modified while the model was being compiled; the result is discarded."
    ),
    "weights-not-found": (
        "The model's weights file, or the package that contains it, does not exist."
    ),
    "weights-missing": "A safetensors file lacks a requested tensor.",
    "weights-malformed": "A safetensors file is malformed.",
    "array-malformed": "A `.npy` or `.npz` file is malformed.",
    "array-missing": "A file of several tensors has no tensor of the input's name.",
    "array-raw": "A file contains raw bytes without a dtype.",
    "array-unknown-kind": "Tensors are read from `.npy`, `.npz` and `.safetensors` files.",
    "output-unwritable": "A file or folder cannot be written; what was there is unchanged.",
    # MLIR's text
    "mlir-syntax": (
        "The file is not valid MLIR, or uses an unregistered operation, type or attribute."
    ),
    "mlir-invalid": "An operation fails verification; the message is the dialect verifier's.",
    "mlir-expectation": "The diagnostics differ from those that the file expects.",
    "unknown-pass": "No pass has this name, or the pass has no such option.",
    "pipeline-syntax": "A pipeline is written `builtin.module(pass{option=x},func.func(pass))`.",
    # Executables
    "executable-not-recognized": "The file is not an executable that `tripybuild compile` wrote.",
    "executable-truncated": "The executable is truncated.",
    "executable-altered": "The executable was modified after it was written.",
    "signature-missing": "An executable that has to be signed has no signature beside it.",
    "signature-mismatch": (
        "The executable is not the file that was signed, or changed while it was verified."
    ),
    "signature-untrusted": "The signature was not made with the key that is trusted.",
    "signature-malformed": "The file is not a signature of `tripybuild sign` or `model_signing`.",
    "key-unusable": "The file is not a key or certificate that signatures are made with.",
    "executable-too-new": "A later version of tripybuild wrote the executable.",
    "missing-package": (
        "An executable specializes new sizes from its operators, and a package of another registry "
        "is not available."
    ),
    "package-changed": ("The declarations of a package changed after the executable was compiled."),
    "cannot-rebuild": (
        "An engine contains its weights; it can be rebuilt only from the model's files."
    ),
    "executable-version": (
        "Only the version that wrote an executable can specialize it for more sizes, and an "
        "earlier one wrote other files."
    ),
    "executable-incompatible": "The executable was compiled for another machine or runtime.",
    "missing-input": "A run needs every input of the executable.",
    "missing-size": "The state of a session has a size that nothing tells.",
    "state-lost": "A call of a session was stopped after it had taken the memory of the state.",
    "unknown-input": "The executable has no input of this name.",
    "not-installed": "A command needs a package that is not installed.",
    "input-twice": "A run takes each input once.",
    "input-dtype": (
        "The dtype of an input differs from the signature; there is no implicit conversion."
    ),
    "input-shape": "The shape of an input differs from the signature.",
    "size-out-of-range": "A dynamic size is outside of the model's `ranges`.",
    "bucket-changes-result": "A size that is padded to a bucket would change what is computed.",
    # Compilers, and what they made before
    "compiler-crashed": "The native compiler crashed in its subprocess.",
    "contestant-ended": "What `tripybuild bench` measures ended its process.",
    "compiler-failed": "The native compiler rejected the model.",
    "out-of-memory": "The request needs more memory than this process can allocate.",
    "compiler-out-of-memory": "The native compiler ran out of memory.",
    "compiler-timeout": "The native compiler exceeded its time limit.",
    "cache-damaged": "A cache entry was corrupted; it was rebuilt.",
    "cache-unwritable": "The cache is not writable; results are the same, but slower.",
    "cache-entry": "The cache has no entry, or several, of a key or a name.",
    "cache-archive": "The file is not a cache that `tripybuild cache export` wrote, or is damaged.",
    "cache-remote": (
        "The shared cache that `TRIPYBUILD_REMOTE_CACHE` names cannot be used, or gave what is not "
        "the entry that was asked for; everything is made here."
    ),
    # Engines
    "openvino-refused": (
        "OpenVINO has no kernel for an operation, or one that computes something else than the "
        "operation's declaration says."
    ),
    "target-unavailable": "The library of this target is not installed.",
    "target-unfit": "A spec is for any target; a module of the tensorrt dialect is for TensorRT's.",
    "onnxruntime-refused": "ONNX Runtime has no kernel for the operation, or rejects the model.",
    "tensorrt-refused": "TensorRT rejects the operation, or the network that contains it.",
    "tensorrt-unsupported": "This TensorRT library has no layer that computes the operation.",
    "tensorrt-profile": "A dynamic size needs a range: a shape profile on the function's argument.",
    "engine-mismatch": "The engine's inputs or outputs differ from the model's declaration.",
    "engine-failed": "What runs the engine failed; the message of that library is included.",
    "not-known-yet": (
        "The elements of a tensor were requested while a graph is being recorded, and depend "
        "on the "
        "graph's inputs, which are known only at run time."
    ),
    "no-gpu": "An engine needs an NVIDIA GPU with a driver, and none is available.",
    # Workspaces
    "workspace-not-found": "There is no `tripybuild.yaml` in the folder, or in one above it.",
    "unknown-build": "No build, spec or executable of the workspace has this name.",
    "output-shared": "Two jobs of a workspace would write the same file.",
    "build-cycle": "Builds of a workspace need each other, so that none can be first.",
    "capability-missing": "A job requires something that this machine does not have.",
    "inputs-changed": "A file that a job reads was written to while the job was done.",
    "test-differs": "A target computes something else than the references, in the test of a spec.",
    "job-crashed": "The process that did a job of a workspace ended before the job was done.",
    "job-canceled": "A job of a workspace was ended, or not begun, because the build ended.",
    "cluster-address": "`--on` takes the address of a Dask scheduler, its file, or `local:N`.",
    "cluster-unreachable": "No Dask scheduler answers at this address.",
    "cluster-empty": "The scheduler has no worker.",
    "cluster-unable": "No worker of the cluster has the versions, or the library, of a job.",
    "cluster-lost": "The scheduler did not answer any more while jobs were done.",
    "cluster-file": "A file came from a worker, or went to one, as another one than was sent.",
    # The command line
    "file-exists": "An existing file is never overwritten.",
    "not-generated": "A file that was not generated is in the place of a generated file.",
    "generated-code": (
        "A generated file would contain Python that no declaration can produce; nothing was "
        "written."
    ),
    "out-of-date": "A generated file differs from the declarations; run `tripybuild gen`.",
    "package-name": "A registry's package needs a unique name that Python can import.",
    "registry-read-only": "The built-in registry of an installed package is read-only.",
    "function-not-found": "The Python file has no function or module of this name.",
    "program-failed": "The user's Python code raised this exception while it was traced.",
    # Importing a program
    "import-malformed": "The program to import is damaged, or of a form that is not known.",
    "import-pickled": (
        "The file is pickled, and pickled data runs code when it is read. The hint has the line "
        "that converts it, for a file that you trust."
    ),
    "import-disagreement": (
        "What an alias or a composition reads of a call is of another type than the source states. "
        "It is a mistake of the registry, or of tripybuild; nothing is imported with it."
    ),
    "import-unread": (
        "Operators of PyTorch and ONNX are read by the aliases of operators, and by the "
        "compositions of `foreign/`. None of them says this call. Declare one; `--scaffold` writes "
        "a file to begin with."
    ),
    "import-mismatch": "The imported program computes other values than its source.",
    "import-architecture": "`transformers` has no model of this architecture, or cannot make it.",
    "import-static-dimension": "A dimension that should vary has one size that the model fixes.",
    "export-failed": "PyTorch cannot export the module; the message is PyTorch's, or the module's.",
    "import-unsupported": (
        "The program to import uses something that a specification cannot say: sizes that depend "
        "on the values of tensors, inputs that are numbers, or objects."
    ),
    "import-not-decomposed": (
        "The exported program holds calls that change what they are given, or that only PyTorch "
        "can break up. Save it decomposed."
    ),
    "internal": "This is a bug of tripybuild, not of the file or the command.",
}
