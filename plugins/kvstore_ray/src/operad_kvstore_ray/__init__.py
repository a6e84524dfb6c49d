"""Distributed stores on Ray: values live in actors, the parameter servers, which workers push to and pull from.

Nothing here is called by a program: `od.kv.create("dist_sync")` finds it where `operad launch` started the
process. It needs Ray, which is imported with the first store.
"""
