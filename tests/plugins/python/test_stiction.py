# SPDX-License-Identifier: Apache-2.0
"""test_stiction.py COMMAND SOURCE: the package beside Lua, bit by bit; what it lends and copies; what it refuses, and how."""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import stiction

COMMAND, SOURCE = sys.argv[1:3]

SCENE = """
local stn = require "stiction"
local p = stn.params { mu = 0.8, kind = stn.choice { "both", "box" }, arm = true }
local world = stn.world { dt = 0.002 }
world:ground { mu = p.mu }
world:box { size = { 0.1, 0.2, 0.1 }, mass = 1.5, xyz = { 0.6, 0.4, 0.3 }, rpy = { 0.2, -0.3, 0.5 } }
if p.kind == "both" then world:sphere { radius = 0.07, density = 700, xyz = { 0.6, 0.45, 0.6 }, material = "rubber" } end
if p.arm then
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, mu = 0.6 }
  world:disable_collisions(arm)
  local motors = world:controller { "joint_pd", target = arm, kp = 400, kd = 40 }
  motors:set { position = { 0.1, 0.2, 0, -0.5, 0, 0.3, 0 } }
end
for step in world:run { steps = 300 } do end
print(world:hash())
"""


def scene(mu=0.8, **options):
    """That of the Lua script."""
    world = stiction.World(dt=0.002, **options)
    world.ground(mu=mu)
    world.box((0.1, 0.2, 0.1), mass=1.5, xyz=(0.6, 0.4, 0.3), rpy=(0.2, -0.3, 0.5))
    world.sphere(0.07, density=700, xyz=(0.6, 0.45, 0.6), material="rubber")
    arm = world.load("models/iiwa14/iiwa14.urdf", name="arm", fixed=True, mu=0.6)
    world.disable_collisions(arm)
    motors = world.controller("joint_pd", arm, kp=400, kd=40)
    motors.set(position=[0.1, 0.2, 0, -0.5, 0, 0.3, 0])
    return world


def lying_box(**options):
    world = stiction.World(**options)
    world.ground()
    world.box((0.1, 0.1, 0.1), mass=1.0, xyz=(0, 0, 0.05), name="box")
    return world


class Case(unittest.TestCase):
    def refused(self, part, function, *arguments, **named):
        """An Error of one line that contains the part."""
        with self.assertRaises(stiction.Error) as raised:
            function(*arguments, **named)
        self.assertIn(part, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))
        return raised.exception


class Bits(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.script = os.path.join(self.folder.name, "scene.lua")
        with open(self.script, "w") as file:
            file.write(SCENE)

    def tearDown(self):
        self.folder.cleanup()

    def of_lua(self):
        done = subprocess.run([COMMAND, "run", "-q", self.script], capture_output=True, text=True, check=True)
        return int(done.stdout, 16)

    def test_a_described_world_is_that_of_lua(self):
        world = scene()
        world.step(300)
        self.assertEqual(world.hash(), self.of_lua())

    def test_a_world_of_a_script_is_that_of_lua(self):
        world = stiction.World.from_script(self.script)
        self.assertEqual(world.time, 0.0)
        world.step(300)
        self.assertEqual(world.hash(), self.of_lua())

    def test_worlds_of_a_batch_are_those_alone(self):
        world = scene(varied=True)
        for threads in (1, 2, 3):
            batch = stiction.Batch(world, 7, threads=threads)
            generator = numpy.random.default_rng(5)
            v = generator.uniform(-1, 1, (7, world.nv))
            friction = generator.uniform(0.5, 1.5, (7, len(world.geometries)))
            command = generator.uniform(-0.5, 0.5, (7, 7))
            batch.set("v", v)
            batch.set("friction_factor", friction)
            batch.set("command", command)
            self.assertEqual(batch.step(150), 0)
            for i in range(7):
                alone = world.clone()
                alone.set_v(v[i])
                for k, factor in enumerate(friction[i]):
                    alone.set_friction_factor(k, factor)
                alone.controllers[0].set(position=command[i])
                alone.step(150)
                self.assertEqual(batch.hash(i), alone.hash())
                self.assertTrue((batch.get("q", i)[0] == alone.q).all())

    def test_snapshots_and_clones_go_on_alike(self):
        world = scene()
        world.step(50)
        kept, copied = world.snapshot(), world.clone()
        world.step(50)
        first = world.hash()
        world.restore(kept)
        world.step(50)
        copied.step(50)
        self.assertEqual([world.hash(), copied.hash()], [first, first])

    def test_parameters_of_a_script(self):
        world = stiction.World.from_script(self.script, {"kind": "box", "arm": False, "mu": 0.3}, dt=1e-3, varied=True)
        self.assertEqual((world.dt, [group.name for group in world.groups]), (1e-3, ["ground1", "box2"]))
        world.set_mass_factor(world.group("box2"), 2.0)
        run = stiction.World.from_script
        self.refused("no parameter 'nu'", run, self.script, {"nu": 1})
        self.refused("none of both, box", run, self.script, {"kind": "ball"})
        self.refused("a number is needed", run, self.script, {"mu": "high"})
        self.refused("True or False", run, self.script, {"arm": 1})
        self.refused("none.lua", run, os.path.join(self.folder.name, "none.lua"))
        for text, part in [("local", "expected near"), ("error 'no'", "no"), ("", "made no world"),
                           ("require'stiction'.skip 'tired'", "tired")]:
            path = os.path.join(self.folder.name, "bad.lua")
            with open(path, "w") as file:
                file.write(text)
            self.refused(part, run, path)


class Lent(Case):
    def test_numbers_of_the_state_are_copies_that_cannot_be_written(self):
        world = lying_box()
        q = world.q
        with self.assertRaises(ValueError):
            q[0] = 1.0
        before = q.copy()
        world.q = before + 0.0
        world.set_v([1, 0, 0, 0, 0, 0])
        world.step(10)
        self.assertTrue((q == before).all())
        self.assertGreater(world.q[0], 0.01)
        self.assertEqual(world.effort.shape, (6,))

    def test_views_of_a_problem_outlive_it(self):
        world = lying_box()
        world.step()
        problem = world.problem()
        views = [problem.v_star, problem.R, problem.constraints, problem.constraints["frame"]]
        kept = [repr(view.tolist()) for view in views]
        self.assertFalse(any(view.flags.owndata or view.flags.writeable for view in views))
        problem.close()
        world.close()
        del problem, world
        gc.collect()
        [numpy.ones(1000) for _ in range(1000)]
        for view, before in zip(views, kept):
            self.assertEqual(repr(view.tolist()), before)

    def test_children_keep_their_context(self):
        context = stiction.Context()
        world = lying_box(context=context)
        world.step()
        problem, batch, snapshot = world.problem(), stiction.Batch(world, 2), world.snapshot()
        context.close()
        world.close()
        del context, world, snapshot
        gc.collect()
        batch.step(5)
        self.assertEqual(stiction.solve(problem).status, "ok")
        circle = [problem, batch]  # collected in whatever order
        circle.append(circle)
        del circle, problem, batch
        gc.collect()

    def test_no_memory_is_asked_for_in_a_steady_step(self):
        context = stiction.Context()
        world = lying_box(context=context)
        batch = stiction.Batch(world, 10)
        out = batch.get("q")
        batch.step(20)
        before = context.allocations
        for _ in range(50):
            batch.step()
            batch.get("q", out=out)
            batch.set("q", out)
        self.assertEqual(context.allocations, before)


class What(Case):
    def test_contacts_carry_the_weight(self):
        world = lying_box()
        self.assertIsNone(world.report)
        self.assertIsNone(world.certificate)
        self.assertEqual(len(world.contacts), 0)
        self.assertEqual(world.step(200), "ok")
        contacts = world.contacts
        self.assertEqual(len(contacts), 4)
        self.assertTrue(((contacts["normal_part"] + contacts["friction_part"]).sum(axis=0) - [0, 0, 9.81] < 1e-6).all())
        self.assertEqual(set(contacts["state"]), {1})
        self.assertEqual([world.geometries[i].group for i in (contacts["geometry_a"][0], contacts["geometry_b"][0])], ["ground1", "box"])
        self.assertLess(world.certificate["momentum"], 1e-5)
        self.assertEqual(world.report["contact_count"], 4)
        self.assertAlmostEqual(world.energy["potential_J"], 9.81 * world.body_position[1, 2], 9)
        self.assertEqual((world.bodies, world.body("box"), world.group("box").q_index), (["world", "box"], 1, list(range(7))))
        numpy.testing.assert_allclose(world.body_rotation[1], numpy.eye(3), atol=1e-9)

    def test_efforts_wrenches_gravity(self):
        world = lying_box(gravity=(0, 0, 0))
        world.q = [0, 0, 1, 1, 0, 0, 0]
        world.set_wrench(1, force=(2, 0, 0))
        world.step(100)
        self.assertAlmostEqual(world.v[0], 2 * 0.2, 9)
        world.set_wrench(world.group("box"), force=(0, 0, 0))
        world.effort = [0, 3, 0, 0, 0, 0]
        world.step(100)
        self.assertAlmostEqual(world.v[1], 3 * 0.2, 9)
        world.effort = numpy.zeros(6)
        world.gravity = (0, 0, 1)
        world.step(100)
        self.assertAlmostEqual(world.v[2], 0.2, 9)

    def test_a_problem_is_solved_by_two_solvers_and_saved(self):
        world = lying_box()
        world.set_v([0.5, 0, 0, 0, 0, 0])
        world.step(3)
        problem = world.problem()
        found = stiction.solve(problem, tolerance=1e-9)
        residual = problem.A @ (found.v - problem.v_star) - problem.J.T @ found.gamma
        self.assertEqual((found.status, problem.form, problem.J.shape), ("ok", "global", (12, 6)))
        self.assertLess(abs(residual).max(), 1e-12)
        numpy.testing.assert_allclose(problem.contact_velocity(found.v), problem.J @ found.v + problem.bias, atol=1e-12)
        self.assertEqual(stiction.KINDS[problem.constraints["kind"][0]], "contact")
        self.assertEqual(stiction.SETS[problem.constraints["set"][0]], "cone")
        with stiction.Solver("nsgs", tolerance=1e-10) as solver:
            first, second = solver.solve(problem), solver.solve(problem)
        self.assertEqual(first.gamma.tobytes(), second.gamma.tobytes())
        local = problem.local()
        self.assertEqual((local.form, local.W.shape, stiction.solve(local, "nsgs").v), ("local", (12, 12), None))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.json")
            problem.save(path)
            again = stiction.solve(stiction.Problem.load(path), tolerance=1e-9)
            self.refused("nowhere", problem.save, os.path.join(folder, "nowhere", "p.json"))
        numpy.testing.assert_allclose(again.gamma, found.gamma, rtol=1e-12)
        self.refused("takes no contact law", stiction.Solver, "nsgs", "sap")

    def test_fields_of_a_batch(self):
        world = scene(varied=True)
        batch = stiction.Batch(world, 5, outputs=["energy", "body_pose", "report", "certificate", "contact_force"])
        q = batch.get("q")
        self.assertEqual((batch.count, q.shape), (5, (5, world.nq)))
        batch.set("reference.kp", numpy.full(7, 300.0), [1, 3])
        self.assertEqual(batch.get("reference.kp")[:, 0].tolist(), [400, 300, 400, 300, 400])
        batch.set("command", 0.25 * numpy.ones((2, 7)), [0, 4])
        batch.step(100)
        numpy.testing.assert_allclose(batch.get("time", [True, False, False, False, True]), [[0.2], [0.2]], rtol=1e-12)
        batch.copy(0, [1, 2])
        self.assertEqual(len({batch.hash(i) for i in (0, 1, 2)}), 1)
        batch.copy([3, 4], [4, 3])
        self.assertEqual(batch.hash(3), batch.hash(4))
        self.assertEqual(batch.get("body_pose").shape, (5, 7 * len(world.bodies)))
        self.assertEqual(batch.get("energy").shape, (5, 3))
        batch.reset([2])
        self.assertEqual(batch.get("time")[2, 0], 0.0)
        self.assertEqual(batch.tally(), {"steps": 500, "not_converged": 0, "stalled": 0, "failed": 0})

    def test_a_world_that_fails_stands_still(self):
        batch = stiction.Batch(lying_box(), 3)
        v = numpy.zeros((3, 6))
        v[1, 0] = 1e300
        batch.set("v", v)
        self.assertEqual(batch.step(5), 1)
        self.assertEqual(list(batch.errors()), [1])
        with tempfile.TemporaryDirectory() as folder:
            batch.save_capsule(1, os.path.join(folder, "c.json"))
            self.assertGreater(os.path.getsize(os.path.join(folder, "c.json")), 1000)
            self.refused("", batch.save_capsule, 0, os.path.join(folder, "d.json"))
        batch.copy(0, 1)
        self.assertEqual((batch.step(), batch.errors()), (0, {}))
        world = lying_box()
        world.set_v(v[1])
        before = world.hash()
        self.refused("", world.step)
        self.assertEqual(world.hash(), before)

    def test_the_log_speaks(self):
        said = []
        context = stiction.Context(log=lambda level, text: said.append((level, text)))
        world = stiction.World(context=context, solver="sap")
        world.ground()
        world.box((1, 1, 1), mass=1, xyz=(0, 0, 0.2))
        world.step()
        self.assertTrue(said and all(level in ("note", "warning", "debug", "error") for level, _ in said), said)

    def test_a_recording(self):
        with tempfile.TemporaryDirectory() as folder, lying_box() as world:
            path = os.path.join(folder, "run.csv")
            world.record(path)
            world.step(3)
            world.close()
            with open(path) as file:
                self.assertEqual(len([line for line in file if not line.startswith("#")]), 1 + 1 + 3)


class Refused(Case):
    def test_shapes_and_types(self):
        world = lying_box()
        for values, part in [([1, 2], "shape (7,)"), (["a"] * 7, "numbers are needed"), (numpy.zeros(7, complex), "numbers are needed"),
                             ([[1], [2, 3]], "equal length"), (None, "numbers are needed"), (numpy.zeros((7, 1)), "shape (7,)"),
                             (numpy.full(7, numpy.nan), "must be finite"), (numpy.zeros(7), "quaternion")]:
            self.refused(part, world.set_q, values)
        self.refused("not within 0", world.step, -1)
        self.refused("a whole number", world.step, 1.0)
        self.refused("a whole number", world.step, True)
        self.refused("not within 0 to 1", world.set_wrench, 2, (1, 0, 0))
        self.refused("varied", world.set_mass_factor, 1, 2.0)
        batch = stiction.Batch(world, 3)
        for call, part in [(lambda: batch.get("p"), "no field"), (lambda: batch.get(3), "a field's name"),
                           (lambda: batch.get("q", 3), "world 3"),
                           (lambda: batch.get("q", [0.5]), "numbers of worlds"), (lambda: batch.get("q", [[0]]), "numbers of worlds"),
                           (lambda: batch.get("q", -1), "world -1"), (lambda: batch.get("q", 2**40), f"world {2**40}"),
                           (lambda: batch.get("q", out=numpy.zeros((3, 6))), "shape (3, 7)"),
                           (lambda: batch.get("q", out=numpy.zeros((3, 14))[:, ::2]), "C-contiguous"),
                           (lambda: batch.get("q", out=numpy.zeros((3, 7), "f4")), "float64"),
                           (lambda: batch.get("energy"), "outputs"), (lambda: batch.get("mass_factor"), "varied=True"),
                           (lambda: batch.set("q", numpy.zeros((2, 7))), "shape (3, 7)"),
                           (lambda: batch.set("time", [1.0]), "cannot be set"),
                           (lambda: batch.set("v", numpy.full(6, numpy.inf)), "world 0"),
                           (lambda: batch.copy([0, 1], [0, 1, 2]), "one world, or 3"), (lambda: batch.copy(None), "one world, or 3"),
                           (lambda: batch.hash(3), "not within 0 to 2"), (lambda: batch.step(2**31), "not within"),
                           (lambda: stiction.Batch(world, 0), "not within 1"), (lambda: stiction.Batch(world, outputs=["x"]), "no field"),
                           (lambda: stiction.Batch(world, outputs="energy"), "a list is needed"),
                           (lambda: stiction.Batch(world, outputs=3), "a list"),
                           (lambda: stiction.Batch(batch), "a stiction.World"), (lambda: batch.get("reference.kp"), "called 'kp'")]:
            self.refused(part, call)

    def test_descriptions(self):
        world = stiction.World()
        for call, part in [(lambda: world.box((1, 2)), "shape (3,)"), (lambda: world.box((1, 1, -1)), "half_extents.z"),
                           (lambda: world.box((1, 1, 1), mass=0), "mass must be"),
                           (lambda: world.box((1, 1, 1), mas=1), "unknown word 'mas'"),
                           (lambda: world.box((1, 1, 1), mass=1, density=1), "not both"), (lambda: world.sphere("1"), "a number is needed"),
                           (lambda: world.box((1, 1, 1), quat=(0, 0, 0, 0)), "rotation"), (lambda: world.box((1, 1, 1), name=3), "a text"),
                           (lambda: world.box((1, 1, 1), name="a\0b"), "zero bytes"), (lambda: world.box((1, 1, 1), mu=-1), "mu"),
                           (lambda: world.box((1, 1, 1), material="cheese"), "cheese"), (lambda: world.load("none.urdf"), "none.urdf"),
                           (lambda: world.load(3), "a path is needed"), (lambda: world.contact_material("none", mu=1), "no link 'none'"),
                           (lambda: stiction.World(solver="none"), "none"), (lambda: stiction.World(dt=0), "dt"),
                           (lambda: stiction.World(solver=("sap", {"tolerance": -1})), "tolerance"), (lambda: stiction.World(x=1), "'x'"),
                           (lambda: stiction.World(solver=("sap",)), "entries"), (lambda: stiction.World(context=3), "Context"),
                           (lambda: stiction.Context(log=3), "function"), (lambda: stiction.Problem.load("none.json"), "none.json"),
                           (lambda: stiction.solve(world), "Problem"), (lambda: stiction.Problem(), "Problem.load")]:
            self.refused(part, call)
        self.assertEqual(world.bodies, ["world"])  # nothing half described stays
        self.refused("the model is complete", world.box, (1, 1, 1))
        other = lying_box()
        self.refused("a group of this world", world.controller, "joint_pd", other.group("box"))

    def test_after_close(self):
        world = scene()
        world.step()
        batch, problem, solver = stiction.Batch(world), world.problem(), stiction.Solver()
        controller, group = world.controllers[0], world.group("arm")
        for thing in (world, batch, problem, solver):
            thing.close()
            thing.close()
        for call in (world.step, lambda: world.q, world.hash, world.clone, lambda: world.nq, lambda: world.contacts, lambda: world.joints,
                     lambda: controller.set(position=[0] * 7), lambda: controller.weight, lambda: group.q_index, lambda: group.body,
                     batch.step, lambda: batch.get("q"), batch.tally, lambda: batch.hash(0), lambda: stiction.Batch(world),
                     lambda: problem.R, lambda: problem.A, lambda: stiction.solve(problem), lambda: solver.solve(problem)):
            self.refused("was closed", call)

    def test_one_thread_at_a_time(self):
        world = scene()
        refusals, results = [], []
        batch = stiction.Batch(world, 50)

        def work():
            for _ in range(20):
                try:
                    batch.step(5)
                    results.append(batch.get("q"))
                except stiction.Error as error:
                    refusals.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("at work in another call" in text for text in refusals))
        self.assertGreater(len(results), 0)

    def test_a_log_that_calls_its_own_world(self):
        told = []

        def log(level, text):
            try:
                world.step()
            except stiction.Error as error:
                told.append(str(error))
            raise ValueError("of a log")

        world = stiction.World(context=stiction.Context(log=log))
        world.ground()
        world.box((1, 1, 1), mass=1, xyz=(0, 0, 0.2))
        hook, sys.excepthook = sys.excepthook, lambda *ignored: None
        try:
            world.step()
        finally:
            sys.excepthook = hook
        self.assertTrue(told and "at work in another call" in told[0])


if __name__ == "__main__":
    os.chdir("/")  # files that come along are found from everywhere
    unittest.main(argv=sys.argv[:1])
