"""From `audit.toml` to an `AuditSpec`: every mistake at once, each with file, key and the nearest right name.

`read` finds and reads a spec, `models` is what the other rooms see, `schema` is the JSON Schema for editors, `find`
says where specs and runs live. Import each from its file.
"""
