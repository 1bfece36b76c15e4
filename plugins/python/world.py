# SPDX-License-Identifier: Apache-2.0
"""A world: a model, its state and the plugins that move it."""
import collections
import ctypes

import numpy

from .context import context_of
from .controller import Controller
from .describe import Describing, Group
from .native import (Choice, Closed, Error, check, constants, copy, flag, found, frozen, library, listed, make, number, path, reals,
                     records, shown, structs, text, told, vector, whole)
from .problem import Problem
from .script import run_until_first_step

STATUSES = {0: "ok", 1: "not_converged", 2: "stalled"}
_PLUGINS = ("solver", "law", "contact", "integrator", "factor")
_POINTS = ("stiffness", "midpoint", "a", "b")

Joint = collections.namedtuple("Joint", "name group type q_start nq v_start nv lower upper effort velocity parent child")
Joint.__doc__ = """A moving joint: its name and that of its group, "revolute", ...; q[q_start:q_start + nq] and v[v_start:v_start + nv] are
its coordinates and velocities; limits [rad or m, N m or N, rad/s or m/s], infinite where there are none; numbers of the bodies above and
below it."""

Geometry = collections.namedtuple("Geometry", "name body group")
Geometry.__doc__ = """A shape: its name, the number of the body that carries it (-1: nodes of a soft body), the name of the group."""


def fill_options(options, context, error, what, words):
    """Puts words such as dt=1e-3, solver="sap" over a stn_world_options; returns what must outlive it."""
    kept = []
    for word, value in words.items():
        said = f"{what}: {word}"
        if value is None:
            continue
        if word in _PLUGINS:
            choice = Choice(context, error, f"STN_KIND_{word.upper()}", value, said)
            choice.fill(getattr(options, word))
            kept.append(choice)
        elif word in ("dt", "margin", "sleep_velocity", "sleep_time"):
            value = number(value, said)
            if not (value >= 0.0 and value < float("inf")) or (word in ("dt", "sleep_time") and value == 0.0):
                raise Error(f"{said} = {value:g} must be {'>' if word in ('dt', 'sleep_time') else '>='} 0 and finite")
            setattr(options, word, value)
        elif word in ("margin_only", "stiction", "exact_contacts", "varied", "profile"):
            setattr(options, word, flag(value, said))
        elif word == "gravity":
            options.gravity = vector(value, said)
        elif word == "threads":
            options.threads = whole(value, said, 1, 1024)
        elif word == "seed":
            options.seed = whole(value, said, 0, 2**53)
        elif word == "certificate":
            options.certificate_light = _one_of(value, ("full", "light"), said) == 1
        elif word == "contact_point":
            options.contact_point = _one_of(value, _POINTS, said)
        elif word == "relaxation_rule":
            options.relaxation_rule = _one_of(value, ("sum", "series"), said)
        else:
            raise Error(f"{what}: unknown word '{word}'")
    return kept


def _one_of(value, words, what):
    if not isinstance(value, str) or value not in words:
        raise Error(f"{what} = {shown(value)} is none of {', '.join(words)}")
    return words.index(value)


class World(Describing):
    """A model, its state and the plugins that move it.

    dt: step [s]. gravity: (x, y, z) [m/s^2].
    solver, law, contact, integrator, factor: a plugin's name, or ("name", {"parameter": value}); None: "sap", "sap", "point",
        "symplectic_euler" and the solver's own.
    options: threads (1), seed (1), varied (False: True: masses and frictions may change while it runs), stiction, exact_contacts,
        margin [m], margin_only, certificate ("full" or "light"), sleep_velocity [m/s], sleep_time [s], contact_point ("stiffness",
        "midpoint", "a", "b"), relaxation_rule ("sum", "series"), profile: as stn.world of docs/lua.md.
    context: a Context that several worlds share; None: one of its own.

    A world is described first (load, ground, box, ...) and used after that: the first step, the first look at its state and the first
    controller complete the model.

    q, v, effort and reference are read-only copies of the present state (a step writes to other memory in turns, so there is nothing that a
    view could look at); the setters change it, and check what they are given. One thread at a time.
    """

    def __init__(self, *, dt=2e-3, gravity=(0.0, 0.0, -9.81), solver=None, law=None, contact=None, integrator=None, factor=None,
                 context=None, **options):
        self._context = context_of(context)
        o, error = structs["stn_world_options"](), structs["stn_error"]()
        o.size, o.threads, o.seed = ctypes.sizeof(o), 1, 1
        words = dict(options, dt=dt, gravity=gravity, solver=solver, law=law, contact=contact, integrator=integrator, factor=factor)
        kept = fill_options(o, self._context._pointer, error, "World", words)
        self._adopt(make("world", library.stn_world_destroy, (self._context,), library.stn_world_create, self._context._pointer,
                         ctypes.byref(o)))
        del kept

    @classmethod
    def from_script(cls, script, parameters=None, *, context=None, **options):
        """The world that a scenario makes (a Lua script), as it stands before its first step; of a script that makes none, at its end.

        script: path of the file, looked for as load() does. parameters: what the script declares by stn.params, {"task": "stand"}.
        options: those of World that stand over the script's: dt, solver, threads, varied, ...

        Only what belongs to the state comes along, controllers and constraints too; what the script would have done afterwards,
        functions that it gave to controllers, and its checks do not.
        """
        context = context_of(context)
        world = cls.__new__(cls)
        world._context = context
        file, parameters = found(script, "World.from_script: script"), {} if parameters is None else parameters
        world._adopt(run_until_first_step(context, file, parameters, options, fill_options))
        return world

    def _adopt(self, native):
        self._native = native
        self._model = None
        self._unnamed = 0

    def close(self):
        """Ends recordings and lets the world go; what was cloned from it, and batches, stay. Using it afterwards is an Error."""
        native = self._native
        if not isinstance(native, Closed):
            with native as world:
                self._native = Closed("world")
                check(library.stn_world_close_recordings(world, ctypes.byref(native.error)), native.error)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    # ------------------------------------------------------------------------------------------------------------- the model

    def _complete(self, world):
        """Compiles when that was not done; the model, in a call that holds the world."""
        model = library.stn_world_model(world)
        if not model:
            check(library.stn_world_compile(world, ctypes.byref(self._native.error)), self._native.error)
            model = library.stn_world_model(world)
        return structs["stn_model"].from_address(model)

    def _described(self):
        """What never changes of the model, read once."""
        if self._model is None or isinstance(self._native, Closed):
            with self._native as world:
                m = self._complete(world)
                groups = [told(g.name) for g in _items("stn_group", m.groups, m.group_count)]
                named = lambda group: groups[group] if 0 <= group < len(groups) else ""  # noqa: E731
                links = _items("stn_link", m.links, m.link_count)
                self._model = {
                    "sizes": (m.nq, m.nv),
                    "groups": groups,
                    "roots": [max(links[g.root_link].body, 0) if g.root_link >= 0 else 0
                              for g in _items("stn_group", m.groups, m.group_count)],
                    "bodies": [told(b.name) or "world" for b in _items("stn_body", m.bodies, m.body_count)],
                    "joints": [Joint(told(j.name), named(j.group), told(library.stn_joint_type_name(j.type)) or "kinematic", j.q_start,
                                     j.nq, j.v_start, j.nv, j.lower, j.upper, j.effort, j.velocity, j.parent, j.child)
                               for j in _items("stn_joint", m.joints, m.joint_count)],
                    "geometries": [Geometry(told(g.name), g.body, named(links[g.link].group) if g.link >= 0 else "")
                                   for g in _items("stn_geometry", m.geometries, m.geometry_count)],
                }
        return self._model

    @property
    def nq(self):
        """Numbers in q."""
        return self._described()["sizes"][0]

    @property
    def nv(self):
        """Numbers in v."""
        return self._described()["sizes"][1]

    @property
    def joints(self):
        """Moving joints, a list of Joint."""
        return list(self._described()["joints"])

    @property
    def bodies(self):
        """Names of the bodies; number 0 is the world."""
        return list(self._described()["bodies"])

    @property
    def geometries(self):
        """Shapes, a list of Geometry, in the order of the columns of `friction_factor` and the numbers of contacts."""
        return list(self._described()["geometries"])

    @property
    def groups(self):
        """Robots and single bodies, a list of Group."""
        return [Group(self, i, name, []) for i, name in enumerate(self._described()["groups"])]

    def group(self, name):
        """The group of that name."""
        names = self._described()["groups"]
        if not isinstance(name, str) or name not in names:
            raise Error(f"World.group: there is no group {shown(name)}; there are {', '.join(names) or 'none'}")
        return Group(self, names.index(name), name, [])

    def body(self, link):
        """Number of the body that a link, "group/link", is part of; 0: the world."""
        encoded = text(link, "World.body: link")
        with self._native as world:
            m = self._complete(world)
            found = library.stn_model_find_link(ctypes.addressof(m), -1, encoded)
            if found < 0:
                raise Error(f"World.body: there is no link '{link}', or several groups have one; name it as 'group/link'")
            return _items("stn_link", m.links, m.link_count)[found].body

    def _root_body(self, group):
        return self._described()["roots"][group]

    def _keyframe(self, group, name):
        encoded = text(name, "Group.keyframe: name")
        with self._native as world:
            m = self._complete(world)
            found = library.stn_model_find_keyframe(ctypes.addressof(m), group, encoded)
            if found < 0:
                raise Error(f"Group.keyframe: the group has no keyframe '{name}'")
            q = numpy.array(copy(structs["stn_state"].from_address(library.stn_world_state(world)).q, m.nq))
            library.stn_model_keyframe_apply(ctypes.addressof(m), found, q.ctypes.data)
            return q

    # ------------------------------------------------------------------------------------------------------------- controllers

    def controller(self, plugin, target, joints=None, *, priority=0, active=True, **parameters):
        """Adds a controller before the first step, which completes the model; returns it.

        plugin: "joint_pd", "inverse_dynamics", "effort", ...; parameters: those of the plugin, kp=400. target: a Group. joints: names of
        some of its joints; None: all that are driven. priority: of two on one joint the higher one takes it.
        """
        what = "World.controller"
        self._own(target, f"{what}: target")
        numbers, count = None, 0
        if joints is not None:
            names = {joint.name: i for i, joint in enumerate(self.joints) if joint.group == target.name}
            joints = listed(joints, f"{what}: joints")
            missing = [name for name in joints if not isinstance(name, str) or name not in names]
            if missing:
                raise Error(f"{what}: joints must be names of joints of '{target.name}', got {shown(missing[0])}")
            numbers = (ctypes.c_int32 * max(1, len(joints)))(*sorted(names[name] for name in joints))
            count = len(joints)
        priority, active = whole(priority, f"{what}: priority"), flag(active, f"{what}: active")
        with self._native as world:
            error = self._native.error
            self._complete(world)
            choice = Choice(self._context._pointer, error, "STN_KIND_CONTROLLER", plugin, f"{what}: plugin", parameters)
            instance = choice.create(self._context._pointer, error, "STN_KIND_CONTROLLER")
            index = ctypes.c_int32()
            check(library.stn_world_add_controller(world, instance, target.index, None if numbers is None else ctypes.addressof(numbers),
                                                   count, ctypes.byref(index), ctypes.byref(error)), error)
            check(library.stn_world_set_controller(world, index.value, priority, active, ctypes.byref(error)), error)
            return Controller(self, index.value)

    @property
    def controllers(self):
        """All controllers, in the order in which they were added."""
        with self._native as world:
            self._complete(world)
            return [Controller(self, i) for i in range(library.stn_world_controller_count(world))]

    # ------------------------------------------------------------------------------------------------------------- running

    def step(self, steps=1):
        """Makes steps. Returns the worst status: "ok", "not_converged" or "stalled", the latter two of steps that were made and whose
        certificate says how well. A step that fails is an Error, and leaves the state before it."""
        steps = whole(steps, "World.step: steps", 0)
        make_step, worst = library.stn_world_step, 0
        with self._native as world:
            error = ctypes.byref(self._native.error)
            for _ in range(steps):
                status = make_step(world, error)
                if status != 0:
                    worst = max(worst, check(status, self._native.error))
        return STATUSES[worst]

    def _state(self, world):
        self._complete(world)
        return structs["stn_state"].from_address(library.stn_world_state(world))

    def _vector(self, name, size):
        with self._native as world:
            state = self._state(world)
            return copy(getattr(state, name), getattr(state.sizes, size))

    @property
    def q(self):
        """(nq) generalised positions [m, rad, quaternions (w, x, y, z)]; a read-only copy. Setting it is set_q()."""
        return self._vector("q", "nq")

    @q.setter
    def q(self, values):
        self.set_q(values)

    @property
    def v(self):
        """(nv) generalised velocities [m/s, rad/s]; a read-only copy. Setting it is set_v()."""
        return self._vector("v", "nv")

    @v.setter
    def v(self, values):
        self.set_v(values)

    @property
    def effort(self):
        """(nv) applied joint efforts [N, N m]; a read-only copy. Setting it is set_effort()."""
        return self._vector("effort", "nv")

    @effort.setter
    def effort(self, values):
        self.set_effort(values)

    @property
    def reference(self):
        """References of constraints, elements and controllers as the state has them; a read-only copy. Controller.set() writes them."""
        return self._vector("reference", "reference_count")

    @property
    def time(self):
        """Simulated time [s]."""
        with self._native as world:
            return self._state(world).time

    @property
    def steps(self):
        """Steps made."""
        with self._native as world:
            return self._state(world).step

    @property
    def dt(self):
        """Step [s]; may be set between steps."""
        with self._native as world:
            return library.stn_world_dt(world)

    @dt.setter
    def dt(self, value):
        value = number(value, "World.dt")
        with self._native as world:
            check(library.stn_world_set_dt(world, value, ctypes.byref(self._native.error)), self._native.error)

    @property
    def gravity(self):
        """(3) [m/s^2]; may be set between steps."""
        with self._native as world:
            g = self._state(world).gravity
            return frozen(numpy.array([g.x, g.y, g.z]))

    @gravity.setter
    def gravity(self, value):
        value = vector(value, "World.gravity")
        with self._native as world:
            self._complete(world)
            check(library.stn_world_set_gravity(world, value, ctypes.byref(self._native.error)), self._native.error)

    def set_q(self, values):
        """(nq) [m, rad]; quaternions are normalised. NaN, infinity and zero quaternions are refused, naming the joint."""
        self._set_vector(library.stn_world_set_q, values, 0, "World.set_q")

    def set_v(self, values):
        """(nv) [m/s, rad/s]."""
        self._set_vector(library.stn_world_set_v, values, 1, "World.set_v")

    def _set_vector(self, function, values, size, what):
        array = reals(values, (self._described()["sizes"][size],), what)
        with self._native as world:
            check(function(world, array.ctypes.data, ctypes.byref(self._native.error)), self._native.error)

    def set_effort(self, values):
        """(nv) efforts on all velocities [N, N m], which act until they are changed."""
        array = reals(values, (self.nv,), "World.set_effort")
        if not numpy.isfinite(array).all():
            raise Error("World.set_effort: efforts must be finite", "not a number, or a singular matrix")
        with self._native as world:
            for i, value in enumerate(array):
                check(library.stn_world_set_effort(world, i, value, ctypes.byref(self._native.error)), self._native.error)

    def set_wrench(self, body, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), point=None):
        """A force [N] at a point of the world [m] (None: the body's origin) and a torque [N m] on a body, by its number or the Group; world
        axes; until changed."""
        what = "World.set_wrench"
        body = self._body_number(body, what)
        force, torque = vector(force, f"{what}: force"), vector(torque, f"{what}: torque")
        point = None if point is None else vector(point, f"{what}: point")
        with self._native as world:
            self._complete(world)
            if point is None:
                kinematics = structs["stn_kinematics"].from_address(library.stn_world_kinematics(world))
                point = _items("stn_pose", kinematics.body_pose, body + 1)[body].position
            check(library.stn_world_set_wrench(world, body, force, torque, point, ctypes.byref(self._native.error)), self._native.error)

    def set_mass_factor(self, body, factor):
        """Mass and inertia of a body, by its number or the Group, become the model's times a factor > 0; of worlds with varied=True."""
        body, factor = self._body_number(body, "World.set_mass_factor"), number(factor, "World.set_mass_factor: factor")
        with self._native as world:
            check(library.stn_world_set_mass_factor(world, body, factor, ctypes.byref(self._native.error)), self._native.error)

    def set_friction_factor(self, geometry, factor):
        """Friction coefficients of a shape, by its number, become the model's times a factor >= 0; of worlds with varied=True."""
        what = "World.set_friction_factor"
        geometry = whole(geometry, f"{what}: geometry", 0, len(self.geometries) - 1)
        factor = number(factor, f"{what}: factor")
        with self._native as world:
            check(library.stn_world_set_friction_factor(world, geometry, factor, ctypes.byref(self._native.error)), self._native.error)

    def _body_number(self, body, what):
        if isinstance(body, Group):
            self._own(body, what)
            return body.body
        return whole(body, f"{what}: body", 0, len(self._described()["bodies"]) - 1)

    def reset(self):
        """Back to the model's start: joints at zero or the nearest limit, bases at their pose, time 0."""
        with self._native as world:
            self._complete(world)
            library.stn_world_reset(world)

    def clone(self):
        """A second world in the same state; groups and controllers of it are asked of it anew."""
        with self._native as world:
            self._complete(world)
            native = make("world", library.stn_world_destroy, (self._context,), library.stn_world_clone, world)
        copied = type(self).__new__(type(self))
        copied._context = self._context
        copied._adopt(native)
        return copied

    def hash(self):
        """Hash of every byte of the state, 64 bits."""
        with self._native as world:
            self._complete(world)
            return library.stn_world_hash(world)

    def snapshot(self):
        """The present state by value, for restore()."""
        with self._native as world:
            self._complete(world)
            return Snapshot(make("snapshot", library.stn_snapshot_destroy, (self._context,), library.stn_world_snapshot, world))

    def restore(self, snapshot):
        """Goes back to a snapshot, of this world or of a clone; going on gives the same bits."""
        if not isinstance(snapshot, Snapshot):
            raise Error(f"World.restore: a stiction.Snapshot is needed, got {type(snapshot).__name__}")
        with self._native as world, snapshot._native as state:
            self._complete(world)
            check(library.stn_world_restore(world, state, ctypes.byref(self._native.error)), self._native.error)

    def record(self, file, **parameters):
        """Records the steps to come until close(): "run.html" with its viewer, "run.csv"; parameters: those of the recorder."""
        encoded = path(file, "World.record: file")
        with self._native as world:
            error, context, name = self._native.error, self._context._pointer, ctypes.c_void_p()
            check(library.stn_plugin_for_file(context, constants["STN_KIND_RECORDER"], encoded, ctypes.byref(name), ctypes.byref(error)),
                  error)
            choice = Choice(context, error, "STN_KIND_RECORDER", told(ctypes.string_at(name.value)), "World.record", parameters)
            recorder = choice.create(context, error, "STN_KIND_RECORDER")
            check(library.stn_world_record(world, recorder, encoded, ctypes.byref(error)), error)

    # ------------------------------------------------------------------------------------------------------------- what it is like

    @property
    def parameters(self):
        """Every plugin and parameter in use, "name = value unit" a line."""
        with self._native as world:
            return told(library.stn_world_parameters(world))

    @property
    def body_position(self):
        """(bodies x 3) origins of all bodies in the world [m]; a read-only copy."""
        return self._poses("position")

    @property
    def body_rotation(self):
        """(bodies x 3 x 3) rotation of each body's axes into the world's; a read-only copy."""
        return self._poses("rotation")

    def _poses(self, part):
        with self._native as world:
            count = self._complete(world).body_count
            kinematics = structs["stn_kinematics"].from_address(library.stn_world_kinematics(world))
            return frozen(numpy.array(records(kinematics.body_pose, structs["stn_pose"], count, [part], None)[part]))

    @property
    def energy(self):
        """Dictionary of kinetic_J, potential_J (gravity) and elastic_J at the present state [J]."""
        with self._native as world:
            gravity = self._state(world).gravity
            elastic = library.stn_world_elastic_energy(world)
            kinematics = library.stn_world_kinematics(world)
            return {"kinetic_J": library.stn_kinetic_energy(kinematics),
                    "potential_J": library.stn_gravitational_energy(kinematics, gravity), "elastic_J": elastic}

    def _observation(self, world):
        """Of the last step; None before the first."""
        self._complete(world)
        observation = structs["stn_observation"].from_address(library.stn_world_observation(world))
        return observation if observation.problem else None

    @property
    def report(self):
        """Dictionary of what the last step did: status, iterations, contact_count, constraint_count, island_count, not_converged, reason,
        cost, overlap_m, step_us, kinetic_J, potential_J, elastic_J, input_work_J, contact_J, sleeping_count. None before the first."""
        with self._native as world:
            observation = self._observation(world)
            if observation is None:
                return None
            report = structs["stn_step_report"].from_address(observation.report)
            names = ("iterations", "contact_count", "constraint_count", "island_count", "not_converged", "cost", "overlap_m", "step_us",
                     "kinetic_J", "potential_J", "elastic_J", "input_work_J", "contact_J", "sleeping_count")
            return dict({"status": STATUSES[report.status], "reason": told(report.reason)}, **{n: getattr(report, n) for n in names})

    @property
    def certificate(self):
        """Dictionary of the residuals of the last step (docs/certificate.md), NaN where one does not apply. None before the first."""
        with self._native as world:
            observation = self._observation(world)
            if observation is None:
                return None
            return certificate_of(structs["stn_certificate"].from_address(observation.certificate))

    @property
    def contacts(self):
        """Contacts of the last step, a structured array (contacts): geometry_a, geometry_b (numbers of `geometries`), point (3) [m] and
        normal (3) from a into b at the step's start, distance [m], mu, state (0 open, 1 stick, 2 slip), normal_part (3) and friction_part
        (3): force on b [N], slip_speed and separation_speed [m/s]. A copy; empty before the first step."""
        found = {"geometry_a": "geometry_a", "geometry_b": "geometry_b", "point": "point", "normal": "normal", "distance": "phi0"}
        did = ["state", "normal_part", "friction_part", "slip_speed", "separation_speed"]
        with self._native as world:
            observation = self._observation(world)
            given = structs["stn_contact_set"].from_address(observation.contacts) if observation is not None else None
            count = 0 if given is None else given.count
            reports = (structs["stn_contact_report"] * max(1, count))()
            size = ctypes.sizeof(structs["stn_contact_report"])
            for i in range(count):
                library.stn_observation_contact(ctypes.addressof(observation), i, ctypes.addressof(reports) + i * size)
            first = records(given.contacts if count else None, structs["stn_contact"], count, found, None)
            second = records(ctypes.addressof(reports), structs["stn_contact_report"], count, did, reports)
            kinds = [(n, first.dtype[n]) for n in found] + [("mu", "<f8")] + [(n, second.dtype[n]) for n in did]
            contacts = numpy.zeros(count, numpy.dtype([(n, k.base, k.shape) if isinstance(k, numpy.dtype) else (n, k) for n, k in kinds]))
            for name in found:
                contacts[name] = first[name]
            for name in did:
                contacts[name] = second[name]
            for i in range(count):
                contacts["mu"][i] = _items("stn_contact", given.contacts, count)[i].material.mu
            return contacts

    def problem(self):
        """A copy of the last step's contact problem, before which there is none: a Problem to save, to look at and to solve."""
        with self._native as world:
            observation = self._observation(world)
            if observation is None:
                raise Error("World.problem: no step was made yet", "called in the wrong order")
            return Problem._copy_of(self._context, observation.problem)

    @property
    def solution(self):
        """(v, gamma) of the last step's contact problem: (nv) [m/s, rad/s] and (rows) [N s, N m s]; read-only copies. None before the
        first."""
        with self._native as world:
            observation = self._observation(world)
            if observation is None:
                return None
            problem = structs["stn_problem"].from_address(observation.problem)
            return copy(observation.solution_v, problem.nv), copy(observation.gamma, problem.row_count)


def certificate_of(certificate):
    """A stn_certificate as a dictionary."""
    return {name: getattr(certificate, name) for name, _ in certificate._fields_}


def _items(kind, where, count):
    return (structs[kind] * count).from_address(where) if count else ()


class Snapshot:
    """A state of a world by value."""

    def __init__(self, native):
        self._native = native
