#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learns to keep a rolling ball on a plate that tilts about two axes, by the cross-entropy method with plain numpy.

    PYTHONPATH=build/release/python python3 scripts/python/balance.py

The policy is linear: two angles of the plate from the ball's place and velocity, eight numbers. A generation draws policies from a normal
distribution, tries each on several balls, all side by side in one stiction.Batch, and fits the distribution to the best quarter. The balls
begin anywhere with any velocity; their masses and the friction differ from world to world. Afterwards the mean policy is tried on balls
that it has not seen: exit status 0 when it keeps at least nine of ten, 1 otherwise.
"""
import argparse
import os
import sys
import time

import numpy

import stiction

HERE = os.path.dirname(os.path.abspath(__file__))
RADIUS, TOP = 0.03, 0.01  # of the ball, and of the plate's upper side over its middle [m]
DT, HOLD = 0.01, 2  # step [s], steps for which a command stands
MOST = 0.3  # angle of a command [rad]
KEPT = 0.05  # a ball is kept that ends nearer to the middle than this [m]


def make_world():
    """The plate with motors, and a ball that lies on its middle."""
    world = stiction.World(dt=DT, law="lagged", varied=True)
    plate = world.load(os.path.join(HERE, "plate.urdf"), mu=0.8)
    ball = world.sphere(RADIUS, mass=0.1, xyz=(0.0, 0.0, TOP + RADIUS), name="ball", mu=0.8)
    world.controller("joint_pd", plate, kp=200.0, kd=10.0)
    return world, ball


class Trials:
    """Many balls side by side, each under a policy of its own."""

    def __init__(self, count, threads):
        world, ball = make_world()
        self.x, self.v = ball.q_index[:2], ball.v_index[:2]
        self.body = ball.body
        self.shape = [geometry.group for geometry in world.geometries].index("ball")
        self.start = world.q
        self.batch = stiction.Batch(world, count, threads=threads)

    def begin(self, generator):
        """Balls within 0.2 m of the middle along each axis, at up to 0.3 m/s, of 0.5 to 2 times the mass, 0.5 to 1.5 the friction."""
        batch, count = self.batch, self.batch.count
        batch.reset()
        q, v = numpy.tile(self.start, (count, 1)), numpy.zeros((count, batch.columns("v")))
        q[:, self.x] = generator.uniform(-0.2, 0.2, (count, 2))
        v[:, self.v] = generator.uniform(-0.3, 0.3, (count, 2))
        batch.set("q", q)
        batch.set("v", v)
        mass, friction = batch.get("mass_factor"), batch.get("friction_factor")
        mass[:, self.body] = generator.uniform(0.5, 2.0, count)
        friction[:, self.shape] = generator.uniform(0.5, 1.5, count)
        batch.set("mass_factor", mass)
        batch.set("friction_factor", friction)

    def run(self, policies, seconds):
        """(cost, distance) of every world: its mean cost, and how far from the middle its ball ends [m]. policies: (worlds x 2 x 4)."""
        batch, count = self.batch, self.batch.count
        q, v = numpy.empty((count, batch.columns("q"))), numpy.empty((count, batch.columns("v")))
        cost, calls = numpy.zeros(count), round(seconds / (DT * HOLD))
        for _ in range(calls):
            batch.get("q", out=q)
            batch.get("v", out=v)
            seen = numpy.concatenate([q[:, self.x], v[:, self.v]], axis=1)
            command = numpy.clip(numpy.einsum("wij,wj->wi", policies, seen), -MOST, MOST)
            batch.set("command", command)
            batch.step(HOLD)
            cost += numpy.minimum((seen[:, :2] ** 2).sum(axis=1), 0.1) + 0.01 * (command**2).sum(axis=1)
        distance = numpy.linalg.norm(batch.get("q")[:, self.x], axis=1)
        return cost / calls, distance


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--generations", type=int, default=10)
    parser.add_argument("--policies", type=int, default=32, help="of a generation")
    parser.add_argument("--balls", type=int, default=8, help="that each policy is tried on")
    parser.add_argument("--seconds", type=float, default=3.0, help="simulated, of a trial")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    generator = numpy.random.default_rng(options.seed)
    trials = Trials(options.policies * options.balls, options.threads)
    mean, spread = numpy.zeros((2, 4)), numpy.ones((2, 4))
    elite = max(2, options.policies // 4)
    begin = time.monotonic()
    for generation in range(options.generations):
        policies = mean + spread * generator.standard_normal((options.policies, 2, 4))
        trials.begin(generator)
        cost, distance = trials.run(numpy.repeat(policies, options.balls, axis=0), options.seconds)
        cost = cost.reshape(options.policies, options.balls).mean(axis=1)
        best = policies[numpy.argsort(cost)[:elite]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"generation {generation + 1:2d}: cost {numpy.median(cost):.5f}, the best {cost.min():.5f}; "
              f"{100 * (distance < KEPT).mean():3.0f} % of the balls kept, {time.monotonic() - begin:5.1f} s", flush=True)

    trials.begin(generator)
    cost, distance = trials.run(numpy.broadcast_to(mean, (trials.batch.count, 2, 4)), options.seconds)
    kept = (distance < KEPT).mean()
    tally = trials.batch.tally()
    print("policy, angles about x and y from x, y, vx, vy:")
    print(numpy.array2string(mean, precision=2, suppress_small=True))
    print(f"{100 * kept:.1f} % of {trials.batch.count} new balls kept within {100 * KEPT:.0f} cm; {tally['steps']} steps of worlds, "
          f"{tally['not_converged']} not converged, {tally['failed']} failed, in {time.monotonic() - begin:.1f} s")
    return 0 if kept >= 0.9 and tally["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
