"""Raw values to decodings, in isolated workers: `session.open_session` starts one for a consumer and environment.

`plan` says what is started, `process` starts and ends it, `exchange` keeps frames in flight and watches the clock,
`supervise` finds the one string that killed or hung a worker, `readiness` and `provenance` say what its processes told
of the consumer. `stop` ends it all from another thread; `folders` and `strays` leave nothing behind.
"""
