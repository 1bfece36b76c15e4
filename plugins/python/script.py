# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario until its first step and takes the world: the host of docs/embedding.md, as small as it gets."""
import ctypes
import math

from .native import Error, Native, check, constants, flag, library, number, structs, text, told

_Ops = structs["stn_script_host_ops"]
_OK, _REFUSED, _INTERRUPTED = 0, constants["STN_ERR_ARGUMENT"], constants["STN_ERR_INTERRUPTED"]


class _Host:
    """What a script asks, answered. Errors of Python come out of run()."""

    def __init__(self, context, path, parameters, words, fill_options):
        if not isinstance(parameters, dict):
            raise Error("World.from_script: parameters must be a dictionary")
        self.context, self.path, self.words, self.fill_options = context, path, words, fill_options
        self.given = dict(parameters)
        self.unread = set(parameters)
        self.kept = []  # what the script or its worlds still look at
        self.world = self.last = None  # caught at a step; that of a script that ends without one
        self.skipped = self.raised = None
        self.ops = _Ops()
        self.ops.size = ctypes.sizeof(_Ops)
        for name, kind in _Ops._fields_[1:]:
            callback = kind(self._guarded(getattr(self, name), kind._restype_))
            self.kept.append(callback)
            setattr(self.ops, name, callback)

    def _guarded(self, answer, result):
        """`answer` without the host; what it raises ends the script."""
        def call(host, *arguments):
            try:
                return answer(*arguments)
            except BaseException as raised:  # kept: nothing in C could take it
                self.raised = raised
                if result is ctypes.c_int:
                    return self._refuse(arguments[-1], _REFUSED, str(raised))
                return False if result is ctypes.c_bool else None

        return call

    @staticmethod
    def _refuse(error, status, why):
        if error:
            out = structs["stn_error"].from_address(error)
            out.status, out.text = status, why.encode("utf-8", "replace")[:1023]
        return status

    # ----------------------------------------------------------------------------------------------------- what counts

    def parameter(self, parameter, error):
        p = structs["stn_script_parameter"].from_address(parameter)
        name = told(p.name)
        if name not in self.given:
            return _OK
        self.unread.discard(name)
        value, what = self.given[name], f"World.from_script: parameter {name}"
        if p.type == constants["STN_SCRIPT_NUMBER"]:
            value = number(value, what)
            if math.isnan(value) or (p.bounded and not p.min <= value <= p.max):
                bounds = f" within {p.min:g} to {p.max:g}" if p.bounded else ""
                raise Error(f"{what} = {value:g} must be a number{bounds}")
            p.number = value
        elif p.type == constants["STN_SCRIPT_BOOL"]:
            p.number = float(flag(value, what))
        else:
            encoded = text(value, what)
            if p.type == constants["STN_SCRIPT_CHOICE"]:
                choices = list((ctypes.c_char_p * p.choice_count).from_address(p.choices))
                if encoded not in choices:
                    raise Error(f"{what} = {value!r} is none of {', '.join(told(choice) for choice in choices)}")
            kept = ctypes.create_string_buffer(encoded)
            self.kept.append(kept)
            p.text = ctypes.addressof(kept)
        return _OK

    def options(self, options, error):
        if self.unread:
            raise Error(f"World.from_script: the script declares no parameter '{sorted(self.unread)[0]}'")
        own, said = structs["stn_world_options"].from_address(options), structs["stn_error"]()
        self.kept.append(self.fill_options(own, self.context._pointer, said, "World.from_script", self.words))
        return _OK

    def _clone(self, world):
        out, error = ctypes.c_void_p(), structs["stn_error"]()
        check(library.stn_world_clone(world, ctypes.byref(out), ctypes.byref(error)), error)
        return Native("world", out.value, library.stn_world_destroy, self.context)

    def step(self, world, error):
        if self.world is None:
            said = structs["stn_error"]()
            check(library.stn_world_compile(world, ctypes.byref(said)), said)
            self.world = self._clone(world)
        return self._refuse(error, _INTERRUPTED, "the world was taken before its first step")

    def end(self, world, error):
        if not world:
            return _OK
        try:
            said = structs["stn_error"]()
            if self.world is None and library.stn_world_compile(world, ctypes.byref(said)) >= 0:
                self.last = self._clone(world)
        finally:
            library.stn_world_destroy(world)
        return _OK

    def skip(self, reason, error):
        self.skipped = told(reason)
        return _OK

    def stopped(self):
        return self.world is not None

    # ----------------------------------------------------------------------------------------------------- what does not

    def choose(self, kind, choice, error):
        return _OK

    def begin(self, world, opens, user, error):
        return _OK

    def touched(self, world):
        pass

    def until(self, time):
        pass

    def check(self, claim, error):
        return _OK

    def result(self, name, value, unit, error):
        return _OK

    def claim(self, failed):
        pass

    def leave(self, status, why):
        pass

    def declare_test(self, name):
        return False

    def tests(self, batch, error):
        return _OK

    def group(self, group):
        pass

    def run(self):
        context, error, name = self.context._pointer, structs["stn_error"](), ctypes.c_void_p()
        said = ctypes.byref(error)
        check(library.stn_plugin_for_file(context, constants["STN_KIND_SCRIPT"], self.path, ctypes.byref(name), said), error)
        out = ctypes.c_void_p()
        check(library.stn_instance_create(context, constants["STN_KIND_SCRIPT"], ctypes.string_at(name.value), None, 0,
                                          ctypes.byref(out), said), error)
        language = Native("script", out.value, library.stn_instance_destroy, self.context)
        instance = structs["stn_instance"].from_address(out.value)
        ops = structs["stn_script_ops"].from_address(structs["stn_plugin_desc"].from_address(instance.desc).ops)
        host = structs["stn_script_host"]()
        host.size, host.ops, host.context, host.path = ctypes.sizeof(host), ctypes.addressof(self.ops), context, self.path
        host.dt = host.seconds = math.nan
        host.seed = -1
        status = ops.run(instance.self, ctypes.addressof(host), ctypes.addressof(error))
        del language
        if self.raised is not None:
            raise self.raised
        if self.world is None and status < 0:
            check(status, error)
        if self.skipped is not None and self.world is None:
            raise Error(f"World.from_script: the script ended as skipped: {self.skipped}", "not supported")
        if self.world is None and self.last is None:
            raise Error("World.from_script: the script made no world")
        if self.unread:
            raise Error(f"World.from_script: the script declares no parameter '{sorted(self.unread)[0]}'")
        return self.world or self.last


def run_until_first_step(context, path, parameters, words, fill_options):
    """The native world of a script; `words` stand over the options of every world that it makes."""
    return _Host(context, path, parameters, words, fill_options).run()
