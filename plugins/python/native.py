# SPDX-License-Identifier: Apache-2.0
"""The library behind the package: errors, objects of the C interface, texts and arrays on their way in and out."""
import ctypes
import operator
import os
import threading

import numpy

from . import declarations
from .place import LIBRARY

structs, _functions = declarations.read()
constants = declarations.CONSTANTS


class _Library:
    """The functions of libstiction by their C names."""

    def __init__(self):
        path = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARY))
        try:
            loaded = ctypes.CDLL(path)
        except OSError as missing:
            raise ImportError(f"libstiction does not load: {missing}") from missing
        for name, (result, parameters) in _functions.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)


library = _Library()


class Error(Exception):
    """What Stiction refuses or fails at: one line that names object, value, bound and unit.

    status: which kind of failure, such as "invalid argument" or "simulation diverged", as the C interface says it.
    """

    def __init__(self, text, status="invalid argument"):
        super().__init__(" ".join(text.splitlines()))
        self.status = status


def fail(error, status):
    """Raises what the C interface said."""
    raise Error(error.text.decode("utf-8", "replace"), library.stn_status_text(status).decode())


def check(status, error):
    """`status`, unless it says that the call failed."""
    if status < 0:
        fail(error, status)
    return status


class Native:
    """An object of the C interface, destroyed when nobody holds it any more.

    `with native as pointer:` gives its address, to one caller at a time: a second thread, or a callback out of the object's own call,
    is refused. What it was made from, its parents, is destroyed later than it, also where Python's collector of circles finalizes both
    at once, in whatever order.
    """

    __slots__ = ("what", "error", "_pointer", "_destroy", "_parents", "_lock", "_left", "_children", "_dead", "__weakref__")

    def __init__(self, what, pointer, destroy, *parents):
        self.what = what
        self.error = structs["stn_error"]()  # of the call that holds the object
        self._pointer = pointer
        self._destroy = destroy
        self._parents = parents
        self._lock = threading.Lock()
        self._left = [pointer]  # to be destroyed; whoever pops it does
        self._children = {}
        self._dead = False
        for parent in parents:
            if isinstance(parent, Native):
                parent._children[id(self)] = True

    def __enter__(self):
        if not self._lock.acquire(False):
            raise Error(f"this {self.what} is at work in another call, of a thread or of a callback: one at a time",
                        "called in the wrong order")
        return self._pointer

    def __exit__(self, kind, value, trace):
        self._lock.release()

    def __del__(self):
        self._dead = True
        self._end()

    def _end(self):
        if not self._dead or self._children:
            return
        try:
            pointer = self._left.pop()
        except IndexError:
            return
        self._destroy(pointer)
        for parent in self._parents:
            if isinstance(parent, Native):
                parent._children.pop(id(self), None)
                parent._end()


class Shared(Native):
    """One that any number of threads may use at once."""

    __slots__ = ()

    def __enter__(self):
        return self._pointer

    def __exit__(self, kind, value, trace):
        pass


class Closed:
    """In place of an object that was closed."""

    __slots__ = ("what",)

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        raise Error(f"this {self.what} was closed", "called in the wrong order")

    def __exit__(self, kind, value, trace):
        pass


def make(what, destroy, parents, create, *arguments, kind=Native):
    """The object that `create(*arguments, &out, &err)` makes."""
    out, error = ctypes.c_void_p(), structs["stn_error"]()
    check(create(*arguments, ctypes.byref(out), ctypes.byref(error)), error)
    return kind(what, out.value, destroy, *parents)


# ------------------------------------------------------------------------------------------------------------------- texts and numbers


def text(value, what):
    """`value` as a C text."""
    if not isinstance(value, str):
        raise Error(f"{what}: a text is needed, got {type(value).__name__}")
    return _encoded(value, what, lambda: value.encode("utf-8", "surrogateescape"))


def path(value, what):
    """A path as a C text."""
    if not isinstance(value, (str, os.PathLike)):
        raise Error(f"{what}: a path is needed, got {type(value).__name__}")
    return _encoded(value, what, lambda: os.fsencode(value))


def _encoded(value, what, encode):
    try:
        encoded = encode()
    except UnicodeError:
        raise Error(f"{what}: {value!r} cannot be written in UTF-8") from None
    if b"\0" in encoded:
        raise Error(f"{what}: a text without zero bytes is needed")
    return encoded


def listed(value, what):
    """The entries of a list."""
    if isinstance(value, (str, bytes)):
        raise Error(f"{what}: a list is needed, got {type(value).__name__}")
    try:
        return list(value)
    except TypeError:
        raise Error(f"{what}: a list is needed, got {type(value).__name__}") from None


def found(value, what):
    """The same of a file that is there, or that comes along with Stiction ("models/panda/panda.urdf")."""
    named, place = path(value, what), ctypes.create_string_buffer(4096)
    return library.stn_find_shipped(named, ctypes.addressof(place))


def told(value):
    """A C text, which may be absent, as a text."""
    return None if value is None else value.decode("utf-8", "surrogateescape")


def shown(value):
    """A value for a message: a text, or what else it is."""
    return repr(value) if isinstance(value, str) else type(value).__name__


def whole(value, what, least=-2**31, most=2**31 - 1):
    """A whole number within bounds."""
    try:
        if isinstance(value, (bool, numpy.bool_)):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise Error(f"{what}: a whole number is needed, got {type(value).__name__}") from None
    if not least <= value <= most:
        said = value if abs(value) < 2**64 else f"a number of {value.bit_length()} bits"
        raise Error(f"{what} = {said} is not within {least} to {most}")
    return value


def number(value, what):
    """A number; NaN and infinity are for the C interface to judge."""
    if isinstance(value, (bool, numpy.bool_)) or not isinstance(value, (int, float, numpy.integer, numpy.floating)):
        raise Error(f"{what}: a number is needed, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise Error(f"{what}: the number is too large") from None


def flag(value, what):
    """True or False."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise Error(f"{what}: True or False is needed, got {type(value).__name__}")
    return bool(value)


# ----------------------------------------------------------------------------------------------------------------------------- arrays


def _array(value, what):
    try:
        return numpy.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise Error(f"{what}: numbers in rows of equal length are needed") from None


def reals(value, shape, what):
    """`value` as a C-contiguous array of float64 of this shape; a copy only where it is none yet."""
    array = _array(value, what)
    if array.dtype.kind not in "fiu":
        raise Error(f"{what}: numbers are needed, got an array of {array.dtype}")
    if array.shape != shape:
        raise Error(f"{what}: an array of shape {shape} is needed, got {array.shape}")
    return numpy.ascontiguousarray(array, dtype=numpy.float64)


def room(array, shape, what):
    """`array`, after a look whether results can be written into it."""
    good = isinstance(array, numpy.ndarray) and array.dtype == numpy.float64 and array.shape == shape
    if not good or not array.flags.c_contiguous or not array.flags.writeable or not array.flags.aligned:
        raise Error(f"{what}: a writable, C-contiguous array of float64 of shape {shape} is needed")
    return array


def address(array):
    """Of the first number of a contiguous array."""
    return array.__array_interface__["data"][0]  # a fifth of the time of array.ctypes


def _buffer(where, kind, count, owner):
    lent = (kind * count).from_address(where)
    lent.owner = owner  # the memory lives as long as the array
    return lent


def lend(where, shape, owner):
    """A read-only array of float64 over memory of `owner`, which it keeps alive. None where there is none."""
    if not where:
        return None
    count = 1
    for n in shape:
        count *= n
    if count == 0:
        return frozen(numpy.zeros(shape))
    array = numpy.frombuffer(_buffer(where, ctypes.c_double, count, owner), dtype=numpy.float64).reshape(shape)
    array.flags.writeable = False
    return array


def copy(where, count):
    """A read-only copy of `count` float64; zeros where there are none."""
    array = numpy.zeros(count)
    if count and where:
        ctypes.memmove(array.ctypes.data, where, 8 * count)
    return frozen(array)


def frozen(array):
    """The array, read-only from now on: writing into a copy would change nothing else."""
    array.flags.writeable = False
    return array


_NUMBERS = {
    ctypes.c_bool: "?", ctypes.c_int32: "<i4", ctypes.c_uint32: "<u4", ctypes.c_int64: "<i8", ctypes.c_uint64: "<u8",
    ctypes.c_float: "<f4", ctypes.c_double: "<f8", ctypes.c_int: "<i4",
}


def _format(kind):
    """The numpy format of a member that holds numbers; vectors and matrices are arrays."""
    if kind in _NUMBERS:
        return _NUMBERS[kind], ()
    if kind is structs["stn_vec3"]:
        return "<f8", (3,)
    if kind is structs["stn_mat3"]:
        return "<f8", (3, 3)
    element, length = _format(kind._type_)
    return element, (kind._length_,) + length


def records(where, kind, count, names, owner):
    """A read-only structured array over `count` structs of `owner`, with the members `names`: a list of names, or a dictionary from
    names to members."""
    names = names if isinstance(names, dict) else {name: name for name in names}
    fields = dict(kind._fields_)
    dtype = numpy.dtype({
        "names": list(names),
        "formats": [_format(fields[member]) for member in names.values()],
        "offsets": [getattr(kind, member).offset for member in names.values()],
        "itemsize": ctypes.sizeof(kind),
    })
    if count == 0:
        return frozen(numpy.zeros(0, dtype))
    array = numpy.frombuffer(_buffer(where, kind, count, owner), dtype=dtype)
    array.flags.writeable = False
    return array


def vector(value, what):
    """Three numbers."""
    return structs["stn_vec3"](*reals(value, (3,), what))


# ---------------------------------------------------------------------------------------------------------------------------- plugins


class Choice:
    """A plugin as a call names it, "sap" or ("sap", {"tolerance": 1e-8}), for as long as the C interface looks at it."""

    def __init__(self, context, error, kind, value, what, settings=None):
        name, given = value, {}
        if isinstance(value, (tuple, list)):
            if len(value) != 2 or not isinstance(value[1], dict):
                raise Error(f'{what}: ("name", {{"parameter": value}}) is needed, got {len(value)} entries')
            name, given = value
        given = dict(given, **(settings or {}))
        self.id = None if name is None else text(name, what)
        self.count = len(given)
        self.settings = (structs["stn_setting"] * max(1, self.count))()
        for setting, (key, entry) in zip(self.settings, given.items()):
            setting.name = text(key, what)
            if isinstance(entry, (bool, numpy.bool_)):
                setting.form, setting.number = constants["STN_SETTING_BOOL"], float(entry)
            elif isinstance(entry, str):
                setting.form, setting.text = constants["STN_SETTING_TEXT"], text(entry, f"{what}: {key}")
            else:
                setting.form, setting.number = constants["STN_SETTING_NUMBER"], number(entry, f"{what}: {key}")
        if self.id is not None:  # a path is loaded, which runs its code; a name loads nothing
            check(library.stn_plugin_load(context, constants[kind], self.id, ctypes.byref(error)), error)

    def fill(self, member):
        """Puts the choice into a stn_plugin_choice, which must not outlive this object."""
        member.id = self.id
        member.settings = ctypes.addressof(self.settings)
        member.setting_count = self.count

    def create(self, context, error, kind):
        """An instance of the plugin, the caller's."""
        out = ctypes.c_void_p()
        check(library.stn_instance_create(context, constants[kind], self.id, ctypes.addressof(self.settings), self.count,
                                          ctypes.byref(out), ctypes.byref(error)), error)
        return out.value
