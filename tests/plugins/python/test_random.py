# SPDX-License-Identifier: Apache-2.0
"""test_random.py PROGRAMS [FIRST]: random programs of calls, with arguments good and bad, of objects open, closed and forgotten.

Each ends in numbers or in a stiction.Error of one line; nothing else is raised, and nothing crashes. A program is told by its seed:
`test_random.py 1 SEED` makes it again.
"""
import gc
import math
import random
import sys
import tempfile

import numpy

import stiction

CALLS = 60


class Program:
    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)
        self.folder = folder
        self.things = {kind: [] for kind in ("context", "world", "group", "controller", "batch", "problem", "solver", "snapshot", "array")}
        self.done = self.refused = 0
        begin = [self.open_world]
        if self.chance(0.7):
            begin += [self.describe_more, self.ask_groups, self.control, self.step, self.open_batch, self.take_problem, self.open_solver]
        for call in begin:
            self.attempt(call)

    # ------------------------------------------------------------------------------------------------------------------- arguments

    def chance(self, p):
        return self.random.random() < p

    def pick(self, kind):
        things = self.things[kind]
        if not things or self.chance(0.01):
            return self.nonsense()
        return self.random.choice(things)

    def nonsense(self):
        return self.random.choice([None, 3, -1, 2**31, 2**63, 10**400, 10**5000, 1.5, math.nan, -math.inf, "", "x", "a\0b", "\udce4",
                                   "\ud800", b"q", [], [1, "a"],
                                   {}, object(), True, [[1], [1, 2]], numpy.zeros(0), numpy.zeros((2, 2), "M8[s]"), "world", ("sap", {}),
                                   ("sap", {"tolerance": "a"})])

    def number(self):
        return self.nonsense() if self.chance(0.1) else self.random.choice([0, 1, 0.1, 2, 1e-3, -1, 1e300, 5e-324])

    def vector(self, size=3):
        if self.chance(0.1):
            return self.nonsense()
        values = self.numbers.normal(size=size) * self.random.choice([0.1, 1.0, 1.0, 10.0])
        if self.chance(0.05):
            values[self.random.randrange(size) if size else ...] = self.random.choice([math.nan, math.inf, 1e300])
        return values

    def rows(self, batch, field, worlds):
        columns = batch.columns(field)
        if self.chance(0.1) or not isinstance(worlds, (type(None), int, list)):
            return self.vector(self.random.randrange(1, 9))
        count = batch.count if worlds is None else 1 if isinstance(worlds, int) else len(worlds)
        noise = self.numbers.normal(size=(count, columns)) * self.random.choice([0, 1e-3, 0.1])
        values = numpy.atleast_1d(batch.get(field, worlds)) + noise
        if self.chance(0.05) and values.size:
            values.flat[self.random.randrange(values.size)] = self.random.choice([math.nan, 1e300, -1.0])
        return self.random.choice([values, values[0] if count else values, numpy.asfortranarray(values), values.tolist()])

    def worlds(self):
        return self.nonsense() if self.chance(0.05) else self.random.choice([None, None, 0, 1, [0], [0, 1], [1, 1], []])

    def field(self):
        return self.nonsense() if self.chance(0.05) else self.random.choice(stiction.FIELDS + ["command", "reference.kp", "reference.x"])

    # ------------------------------------------------------------------------------------------------------------------------ calls

    def open_world(self):
        options = {}
        if self.chance(0.3):
            options["solver"] = self.random.choice(["sap", "nsgs", "apgd", ("sap", {"tolerance": 1e-8}), "none", self.nonsense()])
        if self.chance(0.3):
            options[self.random.choice(["dt", "gravity", "threads", "seed", "margin", "varied", "stiction", "certificate", "law", "x"])] = \
                self.random.choice([True, 2, 0.01, "light", (0, 0, -1), self.nonsense()])
        context = self.random.choice(self.things["context"]) if self.things["context"] and self.chance(0.5) else None
        world = stiction.World(context=context, varied=self.chance(0.5), **{k: v for k, v in options.items() if k != "varied"})
        self.things["world"].append(world)
        if self.chance(0.9):
            world.ground()
        for _ in range(self.random.randrange(3)):
            self.describe(world)

    def describe(self, world=None):
        world = self.pick("world") if world is None else world
        pose = {"xyz": self.vector()} if self.chance(0.8) else {}
        if self.chance(0.3):
            pose[self.random.choice(["quat", "rpy"])] = self.vector(self.random.choice([3, 4]))
        words = {self.random.choice(["mu", "stiffness", "mass", "density", "name", "fixed", "material", "y"]): self.number()
                 for _ in range(self.random.randrange(2))}
        made = self.random.choice([
            lambda: world.box(abs(self.numbers.normal(size=3)) + 0.01, **pose, **words), lambda: world.sphere(0.1, **pose, **words),
            lambda: world.capsule(0.1, 0.2, **pose, **words), lambda: world.cylinder(self.number(), 0.2, **pose, **words),
            lambda: world.ellipsoid(self.vector(), **pose, **words),
            lambda: world.load(self.random.choice(["models/wsg50/wsg50.urdf", "models/none", "README.md", self.nonsense()]), **pose),
            lambda: world.contact_material(mu=self.number()), lambda: world.disable_collisions(self.pick("group")),
            lambda: world.attach(self.pick("group"), self.random.choice(["box1", "world", "x"]), **pose),
        ])()
        if isinstance(made, stiction.Group):
            self.things["group"].append(made)

    def describe_more(self):
        self.describe()

    def control(self):
        self.things["controller"].append(self.pick("world").controller(
            self.random.choice(["joint_pd", "effort", "inverse_dynamics", self.nonsense()]), self.pick("group"),
            **({"kp": self.number()} if self.chance(0.5) else {})))

    def steer(self):
        controller = self.pick("controller")
        if controller is None or not isinstance(controller, stiction.Controller):
            return
        for name, (count, _) in controller.channels.items():
            if self.chance(0.5):
                controller.set(**{name: self.vector(count) if count else []})
                self.keep(controller.get(name))
        controller.activate(self.chance(0.5), self.number())

    def keep(self, array):
        if isinstance(array, numpy.ndarray):
            self.things["array"].append(array)

    def step(self):
        self.pick("world").step(self.random.choice([0, 1, 1, 5, 10, self.nonsense() if self.chance(0.1) else 1]))

    def look(self):
        self.keep(getattr(self.pick("world"), self.random.choice(
            ["q", "v", "effort", "reference", "contacts", "report", "certificate", "energy", "body_position", "body_rotation", "joints",
             "nq", "bodies", "geometries", "groups", "controllers", "parameters", "time", "steps", "gravity", "solution", "dt"])))

    def change(self):
        world = self.pick("world")
        self.random.choice([
            lambda: world.set_q(world.q + self.numbers.normal(size=world.nq) * 0.01 if self.chance(0.7) else self.vector(world.nq)),
            lambda: world.set_v(self.vector(world.nv)), lambda: world.set_effort(self.vector(world.nv)),
            lambda: world.set_wrench(self.random.choice([0, 1, 2, self.pick("group")]), self.vector(), self.vector()),
            lambda: world.set_mass_factor(1, self.number()), lambda: world.set_friction_factor(0, self.number()),
            lambda: setattr(world, "dt", self.number()), lambda: setattr(world, "gravity", self.vector()), world.reset])()

    def copy(self):
        world = self.pick("world")
        self.random.choice([lambda: self.things["world"].append(world.clone()), lambda: self.things["snapshot"].append(world.snapshot()),
                            lambda: world.restore(self.pick("snapshot")), world.hash])()

    def ask_groups(self):
        group = self.pick("group")
        for name in ("joints", "q_index", "v_index", "body"):
            getattr(group, name)
        self.things["group"].append(self.pick("world").group(group.name))

    def open_batch(self):
        self.things["batch"].append(stiction.Batch(self.pick("world"), self.random.choice([1, 2, 5, self.nonsense()]),
                                                   self.random.choice([1, 2]), [f for f in stiction.FIELDS if self.chance(0.3)]))

    def use_batch(self):
        batch = self.pick("batch")
        field, worlds = self.field(), self.worlds()
        self.random.choice([
            lambda: self.keep(batch.get(field, worlds)), lambda: batch.set(field, self.rows(batch, field, worlds), worlds),
            lambda: batch.step(self.random.choice([0, 1, 3, self.number()])), lambda: batch.reset(worlds),
            lambda: batch.copy(self.worlds(), worlds), batch.errors, batch.tally, lambda: batch.hash(self.random.choice([0, 1, 9])),
            lambda: batch.get(field, worlds, self.pick("array"))])()

    def take_problem(self):
        self.things["problem"].append(self.pick("world").problem())

    def use_problem(self):
        problem = self.pick("problem")
        self.random.choice([
            lambda: self.keep(getattr(problem, self.random.choice(
                ["v_star", "R", "phi", "constraints", "A", "J", "W", "q", "free_impulse"]))),
            lambda: self.keep(stiction.solve(problem, self.random.choice(["sap", "nsgs", "apgd", "qp", "x"])).gamma),
            lambda: self.keep(self.pick("solver").solve(problem).v), lambda: self.things["problem"].append(problem.local()),
            lambda: problem.save(f"{self.folder}/p.json"),
            lambda: self.things["problem"].append(stiction.Problem.load(f"{self.folder}/p.json")),
            lambda: self.keep(problem.contact_velocity(self.vector(problem.nv)))])()

    def open_solver(self):
        self.things["solver"].append(stiction.Solver(self.random.choice(["sap", "nsgs", "ipm", self.nonsense()]),
                                                     threads=self.random.choice([1, 2])))

    def open_context(self):
        self.things["context"].append(stiction.Context(log=lambda level, text: None))

    def close(self):
        thing = self.pick(self.random.choice(["context", "world", "batch", "problem", "solver"]))
        if hasattr(thing, "close") and self.chance(0.3):
            thing.close()

    def forget(self):
        things = self.things[self.random.choice(list(self.things))]
        if things:
            things.pop(self.random.randrange(len(things)))

    def read_what_was_kept(self):
        for array in self.things["array"]:
            array.tobytes()

    def attempt(self, call):
        try:
            call()
            self.done += 1
        except stiction.Error as error:
            self.refused += 1
            if not str(error) or "\n" in str(error):
                raise AssertionError(f"an error of {str(error).count(chr(10)) + 1} lines: {error}") from error
        except AttributeError as error:  # of nonsense in the place of an object
            if "object has no attribute" not in str(error):
                raise

    def run(self):
        calls = ([self.step, self.look, self.change, self.use_batch, self.use_problem] * 3 +
                 [self.open_world, self.describe_more, self.control, self.steer, self.copy, self.ask_groups, self.open_batch,
                  self.take_problem, self.open_solver, self.open_context, self.close, self.forget, self.read_what_was_kept])
        for _ in range(CALLS):
            self.attempt(self.random.choice(calls))
        self.read_what_was_kept()


def main():
    programs, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    done = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + programs):
            try:
                program = Program(seed, folder)
                program.run()
            except Exception:
                print(f"program {seed}:", file=sys.stderr)
                raise
            done, refused = done + program.done, refused + program.refused
            del program
            gc.collect()
    print(f"{programs} programs: {done} calls made, {refused} refused")
    if done < 10 * programs or refused < programs:
        sys.exit("too few calls were made, or refused, for a test")


if __name__ == "__main__":
    main()
