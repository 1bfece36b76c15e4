# SPDX-License-Identifier: Apache-2.0
"""Contexts: log, plugins and whatever else worlds share."""
import ctypes
import sys

from .native import Closed, Error, Shared, check, library, make, path, shown, structs, told

_LEVELS = ("debug", "note", "warning", "error")


class Context:
    """What worlds and problems are made in: the log and the folders of plugins. Several may be there at once.

    log: called with (level, text) for every message, the level being "debug", "note", "warning" or "error"; None: warnings and errors go
    to stderr. It may be called from several threads, and must not call the object that speaks.
    plugin_path: folders with plugins of your own, colon separated, searched first.

    World and Problem.load make a context of their own where none is given. Objects keep their context alive.
    """

    def __init__(self, log=None, plugin_path=None):
        if log is not None and not callable(log):
            raise Error(f"Context: log must be a function of (level, text), got {type(log).__name__}")
        options = structs["stn_context_options"]()
        kept = ()
        if log is not None:
            def forward(user, level, message):
                try:
                    log(_LEVELS[level], told(message))
                except Exception:  # nothing in C could take it
                    sys.excepthook(*sys.exc_info())

            callback = dict(options._fields_)["log"](forward)
            options.log = callback
            kept = (callback,)
        if plugin_path is not None:
            options.plugin_path = path(plugin_path, "Context: plugin_path")
        self._native = make("context", library.stn_context_destroy, kept, library.stn_context_create_sized, ctypes.byref(options),
                            ctypes.sizeof(options), kind=Shared)

    @property
    def allocations(self):
        """How often memory was asked for since the context was made: a steady step asks for none."""
        with self._native as context:
            return library.stn_context_allocations(context)

    def plugins(self, kind):
        """Names of all plugins of a kind, such as "solver", sorted."""
        kinds = []
        while (name := library.stn_kind_name(len(kinds))) is not None:
            kinds.append(told(name))
        if not isinstance(kind, str) or kind not in kinds:
            raise Error(f"Context.plugins: {shown(kind)} is none of the kinds {', '.join(kinds)}")
        error, infos, count = structs["stn_error"](), ctypes.c_void_p(), ctypes.c_int32()
        with self._native as context:
            check(library.stn_plugins_of_kind(context, kinds.index(kind), ctypes.byref(infos), ctypes.byref(count),
                                              ctypes.byref(error)), error)
            found = (structs["stn_plugin_info"] * count.value).from_address(infos.value) if count.value else ()
            return [told(structs["stn_plugin_desc"].from_address(info.desc).id) for info in found]

    def close(self):
        """Lets it go; it ends when the last object that was made in it does."""
        self._native = Closed("context")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()


def context_of(context):
    """The native context of one that was given, native or not, or of a new one."""
    if isinstance(context, Shared):
        return context
    context = Context() if context is None else context
    if not isinstance(context, Context):
        raise Error(f"context: a stiction.Context is needed, got {type(context).__name__}")
    with context._native:
        return context._native
