"""Error codes and their explanations, for `tripybuild explain CODE`.

Invariant: each has a case in the tests. The codes of laws, `op/law`, are the registry's.
"""

CODES: dict[str, str] = {
    # Reading a file
    "file-not-found": "There is no file at this path, or it is not a regular file.",
    "outside-folder": "A file uses what is in its own folder or below; nothing leads out.",
    "file-unreadable": "The operating system refused to open or read this file.",
    "not-utf8": "A file must be UTF-8 text; this byte is not.",
    "hidden-character": (
        "The text holds a control, bidirectional or invisible character, which shows a reader "
        "something else than what is read. Write it as an escape, or leave it out."
    ),
    # YAML
    "yaml-syntax": "The text is not YAML; reading stops here.",
    "yaml-documents": "The file must hold exactly one document, so it has no second `---`.",
    "yaml-directive": "Directives such as `%YAML` and `%TAG` are refused; a file needs none.",
    "yaml-anchor": (
        "Anchors, aliases and merge keys are refused: what they bring in is not where it is read."
    ),
    "yaml-tag": "Tags such as `!!str` are refused: a value's type is seen in how it is written.",
    "yaml-implicit-type": (
        "The plain text looks like one type to a reader and another to some YAML readers "
        "(`no`, `010`, `1:30`, dates), or is a key that is not text. Quote it, or write the value."
    ),
    "yaml-key": "A key must be one piece of text, not a list or a mapping.",
    "yaml-missing-colon": (
        "An entry of `{...}` has no `:`. Most often a comma in unquoted text began a new entry."
    ),
    "yaml-too-deep": "Lists and mappings are nested more deeply than any declaration needs.",
    "yaml-too-large": "The file, a text, a number or a count is beyond what is read.",
    "over-budget": (
        "The file asks for more work or memory than one file may: many times what the largest "
        "models need. With `TRIPYBUILD_BUDGET=10` in the environment, it may have ten times as "
        "much of everything."
    ),
    "more-problems": "So many problems are shown of a file, and there are more.",
    "duplicate-key": "A mapping gives the same key twice; each key has one value.",
    # The form of a declaration
    "unknown-key": "The form has no such key here.",
    "missing-key": "The form requires a key that is not given.",
    "not-formatted": (
        "A declaration is not in the form that `tripybuild fmt` gives it: keys in reading order "
        "(name, types, law, meaning, engines, evidence), quotes where YAML needs them, and `true`, "
        "`false` and `null` as YAML writes them. It means the same in any form."
    ),
    "wrong-type": "The value is not of the type that the form requires here.",
    "wrong-value": "The value is of the right type but not one that the form allows.",
    # Snippets
    "snippet-syntax": "The snippet is not in the language: expressions, assignments and `return`.",
    "snippet-grammar": "The snippet uses Python that the language of snippets does not have.",
    "snippet-limit": "The snippet is longer, deeper or larger than one may be.",
    "snippet-evaluation": "The snippet could not be computed with the values that it was given.",
    "unbound-name": "The snippet uses a name that nothing binds.",
    # Names that must be known
    "unknown-operator": "No operator, module or part has this name.",
    "unknown-target": "No target has this name.",
    "not-iterable": "A tensor is no sequence of Python's: how many rows it has, a run may decide.",
    "ambiguous-call": "The name is an operator's on tensors and a function's on all else.",
    "ambiguous-truth": "Of a tensor with several elements nobody knows which one is asked for.",
    "unknown-name": "A module or a tensor has nothing of this name.",
    "unknown-family": "No family of operators has this name.",
    "function-value": (
        "A function or a namespace of a vocabulary is called by its name, and is never a value."
    ),
    "unknown-attribute": "Values of this kind of snippet have no attribute of this name.",
    "unknown-function": "The vocabulary of the snippet has no function of this name.",
    "unknown-argument": "The vocabulary of the snippet has no argument of this name.",
    "unknown-builder": "The dialect has no builder of this name, or the builder no such argument.",
    "unknown-alias": "The other system has no operator of this name.",
    "alias-argument": (
        "An alias gives each argument of the other operator once, says each of our arguments, and "
        "each can be read back from it."
    ),
    "unknown-fact": "A fact of a target without a reason has the name of one in `targets.yaml`.",
    "unknown-law": "The operator has no law, argument or type variable of this name.",
    "unknown-dtype": "No dtype and no type variable has this name.",
    "unknown-size": "The model has no size of this name.",
    # Declarations
    "bad-name": "The name cannot be one here: names become names in Python, or codes.",
    "bad-case": "A choice has several cases, of which the last alone has no condition.",
    "unreached-case": "A case holds for no call for which those before it do not hold.",
    "bad-example": "An example has a `call` and either `gives` a value or `fails` a law.",
    "declared-twice": "Two declarations have the same name, or the same method of a tensor.",
    "given-twice": "An operator gives what its family, or another key, gives already.",
    "doc-summary": "A `doc` begins with one sentence that fits on the line of a docstring.",
    "file-name": "A declaration stands in a file of its own name.",
    "cyclic-family": "A family extends itself, if by way of others.",
    "family-parameters": "An operator gives each parameter of its family, and no other.",
    "no-decompose": "The operator has no way to this engine: no lowering, no decomposition.",
    "cyclic-decomposition": "An operator is decomposed into operators that lead back to it.",
    "unreachable-target": "An engine has no way to the operator, and nothing says that it refuses.",
    "type-syntax": "The text is no type: `T[N, C, *D]`, `int[2]`, `axis(input)` and the like are.",
    # Models
    "bad-range": "A range goes from `min` over `opt` to `max`, all multiples of `multiple_of`.",
    "operator-arguments": "An operator is called with the arguments that its declaration names.",
    "part-arguments": "A part is called with the sizes and inputs that its declaration names.",
    "cyclic-parts": "A part is made of parts that lead back to it.",
    "cyclic-use": "Files use each other in a circle; what both need is a file of its own.",
    "step-count": "A step that is unpacked must give as many values as it has names.",
    "shape-mismatch": "A value has another shape than the part that takes or gives it declares.",
    "dtype-mismatch": "A value has another dtype than the part that takes or gives it declares.",
    "constant-too-large": "A constant is kept in the executable; a step computes it in each call.",
    "region-value": "A tensor that a function made for a region is known nowhere outside of it.",
    "undecided-size": "What is asked here depends on a size that only a call knows.",
    "lowering-failed": "The lowering of an operator did not give what its declaration says.",
    "reference-failed": "The reference of an operator did not give what its declaration says.",
    # Weights and other tensors in files
    "weight-missing": "A weight was not given; in a specification, `rename:` maps names.",
    "weight-unused": (
        "A weight was given that no part wants; in a specification, `unused:` lists those."
    ),
    "weight-shape": "A weight has another shape than the part declares.",
    "weight-dtype": "A weight has another dtype than the part declares.",
    "weight-nan": "A weight holds NaN, which makes NaN of most that is computed with it.",
    "weight-infinite": "A weight holds infinity, which makes NaN of much that is computed with it.",
    "weights-changed": (
        "Somebody wrote to the weights' file while a model was compiled of it; nothing is kept."
    ),
    "weights-not-found": "The model's weights file, or the package that holds it, is not there.",
    "weights-missing": "A safetensors file does not have a tensor that was asked for.",
    "weights-malformed": "A safetensors file breaks the rules of its format.",
    "array-malformed": "A `.npy` or `.npz` file breaks the rules of its format.",
    "array-missing": "A file of several tensors has none of the input's name.",
    "array-raw": "A file holds raw bytes, and nothing says which dtype they stand for.",
    "array-unknown-kind": "Tensors are read from `.npy`, `.npz` and `.safetensors` files.",
    "output-unwritable": "A file or folder cannot be written; what was there is unchanged.",
    # MLIR's text
    "mlir-syntax": "The text is not MLIR, or uses a word that no dialect has.",
    "mlir-invalid": "An operation breaks a rule of its dialect, in the words of its verifier.",
    "mlir-expectation": "A file says which diagnostics it expects, and others were given.",
    "unknown-pass": "No pass has this name, or the pass no such option.",
    "pipeline-syntax": "A pipeline is written `builtin.module(pass{option=x},func.func(pass))`.",
    # Executables
    "executable-not-recognized": "The file is no executable that `tripybuild compile` wrote.",
    "executable-truncated": "The executable is shorter than when it was written.",
    "executable-altered": "A byte of the executable is not the one that was written.",
    "executable-too-new": "A later version of tripybuild wrote the executable.",
    "missing-package": (
        "An executable compiles new sizes from its operators, and must find those of other "
        "registries."
    ),
    "package-changed": (
        "Operators that were declared anew may compute something else than when this was compiled."
    ),
    "cannot-rebuild": "An engine holds its weights; only the model's own files build it again.",
    "executable-version": "Only the version that wrote an executable can compile more sizes of it.",
    "executable-incompatible": "The executable was compiled for another machine or runtime.",
    "missing-input": "A run gives every input of the executable.",
    "unknown-input": "The executable has no input of this name.",
    "input-twice": "A run gives each input once.",
    "input-dtype": "An input has another dtype than the executable takes; nothing is converted.",
    "input-shape": "An input has another shape than the executable takes.",
    "size-out-of-range": "A dynamic size is outside of the model's `ranges`.",
    # Compilers, and what they made before
    "compiler-crashed": "The native compiler ended without an answer; it runs in a process apart.",
    "compiler-failed": "The native compiler refused the model.",
    "out-of-memory": "What was asked for needs more memory than this process can have.",
    "compiler-out-of-memory": "The native compiler needed more memory than there is.",
    "compiler-timeout": "The native compiler took longer than it may.",
    "cache-damaged": "An entry of the cache was not what was stored; it was made again.",
    "cache-unwritable": "The cache could not be written; the result is the same, only slower.",
    # Engines
    "target-unavailable": "The library that builds for this target is not installed here.",
    "target-unfit": "A spec is for any target; a module of the tensorrt dialect is for TensorRT's.",
    "tensorrt-refused": "TensorRT does not take the operation, or the network that holds it.",
    "tensorrt-unsupported": "This TensorRT library has no layer that computes the operation.",
    "tensorrt-profile": "A dynamic size needs a range: a shape profile on the function's argument.",
    "engine-mismatch": "The engine takes or gives something else than the model declares.",
    "engine-failed": "TensorRT or CUDA did not run the engine; their own words are with it.",
    "not-known-yet": (
        "A tensor was asked for its elements while a graph is being recorded, and depends on the "
        "graph's inputs: those are known when the graph runs."
    ),
    "no-gpu": "An engine runs on an NVIDIA GPU with a driver, and there is none here.",
    # The command line
    "file-exists": "Nothing that is there is overwritten.",
    "not-generated": "A file stands where one would be generated, and no generator wrote it.",
    "generated-code": (
        "A generated file would hold Python that no declaration can say; nothing was written."
    ),
    "out-of-date": "A generated file is not what the declarations give; run `tripybuild gen`.",
    "package-name": "A registry's package has a name of its own, which Python can import.",
    "registry-read-only": "The built-in registry of an installed package is not written to.",
    "function-not-found": "The Python file has no function or module of this name.",
    "program-failed": "The user's own Python code, which was run to trace a function, raised this.",
    "internal": "This is a fault of tripybuild itself, not of the file or the command.",
}
