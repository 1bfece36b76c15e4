#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs: PYTHONPATH=build/release/python python3 tests/bench/bench_python.py

Steps of standing quadrupeds in batches, as `./dev bench batch -- quadruped_stand` makes them in C, in processor time of one thread and in
turns, and beside them what a learner does between two steps: a command set, q and v read. Then single calls.
"""
import statistics
import time

import numpy

import stiction

TURNS, TURN, SETTLE = 9, 10, 200


def median_us(call, calls):
    """Processor time of a call [us], median of turns."""
    turns = []
    for _ in range(TURNS):
        start = time.thread_time()
        for _ in range(calls):
            call()
        turns.append((time.thread_time() - start) / calls * 1e6)
    return statistics.median(turns)


def main():
    world = stiction.World.from_script("scripts/quadruped.lua", {"task": "stand"}, context=stiction.Context(log=lambda level, text: None))
    for count in (1, 10, 100, 1000):
        batch = stiction.Batch(world, count)
        batch.step(SETTLE)
        q, v, command = batch.get("q"), batch.get("v"), batch.get("command")
        calls = TURN * max(1, 100 // count)
        step = median_us(batch.step, calls)
        parts = {"set command": median_us(lambda: batch.set("command", command), calls),
                 "get q": median_us(lambda: batch.get("q", out=q), calls), "get v": median_us(lambda: batch.get("v", out=v), calls)}
        rest = sum(parts.values())
        print(f"{count:5d} worlds: step {step / count:7.2f} us a world; " + ", ".join(f"{n} {us:.1f} us" for n, us in parts.items()) +
              f" of all: {rest / count:.3f} us a world, {100 * rest / step:.1f} % of the step")
    batch, row = stiction.Batch(world, 1), numpy.zeros((1, world.nv))
    for name, call in [("batch.step(0)", lambda: batch.step(0)), ("batch.get('v', out=)", lambda: batch.get("v", out=row)),
                       ("batch.set('v')", lambda: batch.set("v", row)), ("world.v", lambda: world.v), ("world.time", lambda: world.time),
                       ("world.certificate", lambda: world.certificate)]:
        print(f"{name:22s} {median_us(call, 1000):6.2f} us")


if __name__ == "__main__":
    main()
