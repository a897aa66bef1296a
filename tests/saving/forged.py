"""Files of models with something changed in them."""

import json
import zipfile

from ecselm.saving.archive import SCHEMA, packed, unpacked


def node(loader, name, **more):
    """Return the description of an object, as skops writes it."""
    module, _, own = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": own, **more}


def json_node(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def tuple_node(*values):
    return node("TupleNode", "builtins.tuple", content=[json_node(value) for value in values])


def attributes(schema):
    """Return the attributes of the model itself."""
    return schema["content"]["content"]


def forge(path, change):
    """Change the schema in the file in place."""
    entries = unpacked(path.read_bytes())
    schema = json.loads(entries[SCHEMA])
    change(schema)
    path.write_bytes(packed({**entries, SCHEMA: json.dumps(schema).encode()}))


def put(path, part, name="solver_"):
    """Put ``part`` in the place of an attribute of the model in the file."""
    forge(path, lambda schema: attributes(schema).update({name: part}))


def zipped(path, entries, compression):
    """Write any archive, ours or not."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
