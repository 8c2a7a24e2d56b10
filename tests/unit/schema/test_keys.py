"""Keys of files: each has a text and an example that holds, and schemas say the same."""

import json

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from tripybuild.process import paths
from tripybuild.schema import keys

MODELS = list(
    dict.fromkeys(each for root in keys.FILE_MODELS.values() for each in keys.models(root))
)


@pytest.mark.parametrize("model", MODELS, ids=keys.title)
def test_examples_hold(model):
    """Each is one key, and nothing is wrong with it."""
    for key in keys.keys(model):
        text = keys.key_text(model, key)
        assert text.doc.endswith((".", "`", ")")), key
        example = yaml.safe_load(text.example)
        assert list(example) == [key]
        try:
            model.model_validate(example)
        except ValidationError as error:
            others = [
                each for each in error.errors() if each["type"] != "missing" or each["loc"][1:]
            ]
            assert not others, f"{key}: {others}"


def test_no_text_is_of_no_key():
    """A key that is gone takes its text along."""
    known = {(title, key) for title, texts in keys._texts().items() for key in texts}
    used = set()
    for model in MODELS:
        for key in keys.keys(model):
            text = keys.key_text(model, key)
            used |= {
                (title, k) for title, k in known if k == key and keys._texts()[title][k] is text
            }
    assert known == used


@pytest.mark.parametrize("kind", keys.FILE_MODELS)
def test_schemas_say_what_explain_says(kind):
    """Every key of every object has a description and an example, and the schema its name."""
    schema = json.loads((paths.schemas() / f"{kind}.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$id"] == f"urn:tripybuild:1:{kind}"
    for model in keys.models(keys.FILE_MODELS[kind]):
        is_root = model is keys.FILE_MODELS[kind]
        properties = (schema if is_root else schema["definitions"][model.__name__])["properties"]
        assert set(properties) == set(keys.keys(model))
        for key, shown in properties.items():
            assert shown["description"] == keys.key_text(model, key).doc
            assert shown["examples"]
