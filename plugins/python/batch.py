# SPDX-License-Identifier: Apache-2.0
"""Many worlds of one description, stepped side by side."""
import ctypes

import numpy

from .controller import references
from .native import Closed, Error, _array, address, check, library, listed, make, path, reals, room, shown, structs, told, whole
from .world import World

_STEPS_AT_ONCE = 20000  # of all worlds, between two looks for an interrupt


def _fields():
    names = []
    while (name := library.stn_batch_field_name(len(names))) is not None:
        names.append(told(name))
    return names


FIELDS = _fields()


class Batch:
    """`count` worlds in the present state of a World, whose description they share; each steps with the bits that it would have alone.

    threads: that share the worlds; the result does not depend on how many. outputs: fields of the last step that are kept: "body_pose",
    "contact_force", "energy", "report", "certificate".

    A field is an array of float64 of shape (worlds x columns): q, v, effort, wrench (6 a body: torque about its origin [N m], force [N]),
    reference, mass_factor (one a body) and friction_factor (one a shape) of worlds with varied=True, all of which can be set; time,
    body_pose (7 a body: position, quaternion w, x, y, z), contact_force (6 a body), energy (kinetic, potential, elastic [J]), report
    (status, iterations, contacts, deepest overlap), certificate. "command" is the position reference of all controllers that take one,
    "reference.kp" a channel of all controllers that have it. Worlds are counted from 0.
    """

    def __init__(self, world, count=1, threads=1, outputs=()):
        if not isinstance(world, World):
            raise Error(f"Batch: the first argument must be a stiction.World, got {type(world).__name__}")
        options = structs["stn_batch_options"]()
        options.size = ctypes.sizeof(options)
        options.count = whole(count, "Batch: count", 1, 2**24)
        options.threads = whole(threads, "Batch: threads", 1, 1024)
        for name in listed(outputs, "Batch: outputs"):
            if not isinstance(name, str) or name not in FIELDS:
                raise Error(f"Batch: outputs: {shown(name)} is no field; there are {', '.join(FIELDS)}")
            options.outputs |= 1 << FIELDS.index(name)
        with world._native as pointer:
            state = world._state(pointer)
            self._parts = references(pointer, state.sizes.reference_count)
            self._native = make("batch", library.stn_batch_destroy, (world._context,), library.stn_batch_create, pointer,
                                ctypes.byref(options))
        self._count = options.count
        self._columns = [library.stn_batch_columns(self._native._pointer, field) for field in range(len(FIELDS))]

    @property
    def count(self):
        """How many worlds there are."""
        return self._count

    def close(self):
        """Lets it go; using it afterwards is an Error."""
        self._native = Closed("batch")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    # -------------------------------------------------------------------------------------------------------------- arguments

    def _field(self, name, what):
        """(number of the field, columns within it; None: all of them)."""
        if not isinstance(name, str):
            raise Error(f"{what}: a field's name is needed, got {type(name).__name__}")
        if name in FIELDS:
            return FIELDS.index(name), None
        if name == "command":
            parts = [part for part in self._parts if part[1] == "position" and part[4]]
        elif name.startswith("reference."):
            parts = [part for part in self._parts if part[1] == name[len("reference."):]]
            if not parts:
                raise Error(f"{what}: no controller takes references called '{name[len('reference.'):]}'")
        else:
            raise Error(f"{what}: {name!r} is no field; there are {', '.join(FIELDS)}, command and reference.NAME")
        columns = [start + i for _, _, start, count, _ in parts for i in range(count)]
        return FIELDS.index("reference"), numpy.array(columns, dtype=numpy.intp)

    def _worlds(self, worlds, what):
        """(address of the numbers or None: all, how many, the array that holds them)."""
        if worlds is None:
            return None, self._count, None
        array = numpy.atleast_1d(_array(worlds, what))
        if array.dtype == bool and array.shape == (self._count,):
            array = numpy.nonzero(array)[0]
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size > 0):
            raise Error(f"{what}: numbers of worlds, or {self._count} of True and False, are needed")
        if array.size and not (0 <= array.min() and array.max() < self._count):
            raise Error(f"{what}: world {array.min() if array.min() < 0 else array.max()} is not one of 0 to {self._count - 1}")
        array = numpy.ascontiguousarray(array, dtype=numpy.int32)
        return address(array), len(array), array

    # ------------------------------------------------------------------------------------------------------------------ numbers

    def _kept(self, number, what):
        if self._columns[number] == 0 and FIELDS[number] in ("mass_factor", "friction_factor"):
            raise Error(f"{what}: the field is there in batches of worlds that are made with varied=True")
        if self._columns[number] == 0 and number > FIELDS.index("time"):
            raise Error(f"{what}: the field is not kept; ask for it by outputs=[{FIELDS[number]!r}]")

    def columns(self, field):
        """How many columns a field has; 0 for one that is not kept."""
        number, columns = self._field(field, "Batch.columns")
        return self._columns[number] if columns is None else len(columns)

    def get(self, field, worlds=None, out=None):
        """(worlds x columns) a field's rows, in an array of its own, or in `out`, which is returned.

        worlds: a number, a list of them or a mask; None: all.
        """
        number, columns = self._field(field, "Batch.get")
        what = f"Batch.get {field}"
        self._kept(number, what)
        where, count, kept = self._worlds(worlds, what)
        shape = count, self._columns[number]
        direct = out is not None and columns is None
        array = room(out, shape, f"{what}: out") if direct else numpy.empty(shape)
        with self._native as batch:
            check(library.stn_batch_get(batch, number, where, count, address(array), ctypes.byref(self._native.error)),
                  self._native.error)
        del kept
        if columns is None:
            return array
        if out is None:
            return array[:, columns]
        room(out, (count, len(columns)), f"{what}: out")[:] = array[:, columns]
        return out

    def set(self, field, values, worlds=None):
        """Writes rows of a field: an array (worlds x columns), or one row (columns) for all; what is not finite is refused, naming world
        and joint, and worlds before it have their new values."""
        number, columns = self._field(field, "Batch.set")
        what = f"Batch.set {field}"
        self._kept(number, what)
        where, count, kept = self._worlds(worlds, what)
        width = self._columns[number] if columns is None else len(columns)
        given = _array(values, what)
        array = reals(given, (width,) if given.ndim == 1 else (count, width), what)
        if array.ndim == 1:
            array = numpy.ascontiguousarray(numpy.broadcast_to(array, (count, width)))
        with self._native as batch:
            error = ctypes.byref(self._native.error)
            if columns is not None:
                all_columns = numpy.empty((count, self._columns[number]))
                check(library.stn_batch_get(batch, number, where, count, address(all_columns), error), self._native.error)
                all_columns[:, columns] = array
                array = all_columns
            check(library.stn_batch_set(batch, number, where, count, address(array), error), self._native.error)
        del kept

    # -------------------------------------------------------------------------------------------------------------------- steps

    def step(self, steps=1):
        """Makes steps of every world that stands not still. Returns how many worlds stand still because a step of them failed: errors()
        says why, and reset(), set() and copy() wake them."""
        steps = whole(steps, "Batch.step: steps", 0)
        at_once = max(1, min(steps, _STEPS_AT_ONCE // self._count))
        with self._native as batch:
            error, make_steps = ctypes.byref(self._native.error), library.stn_batch_step
            while steps > 0:
                make_steps(batch, min(steps, at_once), error)  # the tally has what came of it
                steps -= at_once
            return library.stn_batch_count_steps(batch).failed

    def errors(self):
        """Dictionary from worlds that stand still to why."""
        with self._native as batch:
            if library.stn_batch_count_steps(batch).failed == 0:
                return {}
            found = ((i, library.stn_batch_error(batch, i)) for i in range(self._count))
            return {i: told(structs["stn_error"].from_address(why).text) for i, why in found if why}

    def save_capsule(self, world, file):
        """Writes the step that a world failed in as a file that makes it again (docs/capsule.md)."""
        world, encoded = whole(world, "Batch.save_capsule: world", 0, self._count - 1), path(file, "Batch.save_capsule: file")
        with self._native as batch:
            check(library.stn_batch_save_capsule(batch, world, encoded, ctypes.byref(self._native.error)), self._native.error)

    def tally(self):
        """Dictionary of steps, not_converged, stalled (of all worlds since the batch was made) and failed (worlds that stand still now)."""
        with self._native as batch:
            tally = library.stn_batch_count_steps(batch)
            return {name: getattr(tally, name) for name, _ in tally._fields_}

    def reset(self, worlds=None):
        """Back to the model's start, as World.reset(): joints at zero, not where the world was when the batch was made. To begin episodes
        elsewhere, set q and v after it, or copy() from a world that is kept for it."""
        where, count, kept = self._worlds(worlds, "Batch.reset")
        with self._native as batch:
            check(library.stn_batch_reset(batch, where, count, ctypes.byref(self._native.error)), self._native.error)
        del kept

    def copy(self, source, worlds=None):
        """Branches: the worlds go on from the state of `source`, one world for all or one for each, in this order."""
        where, count, kept = self._worlds(worlds, "Batch.copy: worlds")
        _, sources, given = self._worlds(source, "Batch.copy: source")
        if given is None or sources not in (1, count):
            raise Error(f"Batch.copy: source: one world, or {count} of them, are needed, got {0 if given is None else sources}")
        given = numpy.ascontiguousarray(numpy.broadcast_to(given, (count,)))
        kept = numpy.arange(self._count, dtype=numpy.int32) if kept is None else kept
        with self._native as batch:
            check(library.stn_batch_copy(batch, address(given), address(kept), count, ctypes.byref(self._native.error)),
                  self._native.error)

    def hash(self, world):
        """Hash of every byte of a world's state, as World.hash()."""
        world = whole(world, "Batch.hash: world", 0, self._count - 1)
        with self._native as batch:
            return library.stn_batch_hash(batch, world)
