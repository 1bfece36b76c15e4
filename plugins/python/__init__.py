# SPDX-License-Identifier: Apache-2.0
"""Stiction from Python: worlds of robots and objects in frictional contact, batches of them for learning, contact problems and solvers.

    import stiction

    world = stiction.World(dt=1e-3)
    world.ground(mu=0.8)
    world.box((0.1, 0.1, 0.1), mass=1.0, xyz=(0, 0, 0.3))
    world.step(1000)
    print(world.q, world.certificate["momentum"])

Everything that is refused or fails is a stiction.Error of one line. Arrays are float64, units are SI: m, kg, s, rad, N, J.
docs/python.md has the whole of it.
"""
try:
    import numpy as _numpy  # noqa: F401
except ImportError as missing:
    raise ImportError("stiction needs numpy (Debian: python3-numpy)") from missing

from .batch import FIELDS, Batch
from .context import Context
from .controller import Controller
from .describe import Group
from .native import Error
from .place import VERSION as __version__
from .problem import KINDS, SETS, Problem, Solution, Solver, solve
from .world import Geometry, Joint, Snapshot, World

__all__ = ["Batch", "Context", "Controller", "Error", "FIELDS", "Geometry", "Group", "Joint", "KINDS", "Problem", "SETS", "Snapshot",
           "Solution", "Solver", "World", "__version__", "solve"]
