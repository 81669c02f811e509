"""The order of phases, as a generator of typed events; the only room that sees all below.

`run` the phases; `units` the distinct raw values; `outcomes` what every consumer made of them; `probing` the fixed
junk and sound strings; `summary` the finished run; `reading` one string through every consumer; `events` what a
listener hears.
"""
