"""Distributed stores on Ray: values live in actors, which are the parameter servers.

Nothing here is called by a program: `od.kv.create("dist_sync")` finds it where `operad launch` started the
process. It needs Ray, which is imported with the first store.
"""
