# SPDX-License-Identifier: Apache-2.0
"""Contact problems as values, and solvers for them."""
import collections
import ctypes

import numpy

from .context import context_of
from .native import (Choice, Closed, Error, Native, check, constants, lend, library, make, number, path, reals, records, structs, text,
                     told, whole)

_STATUSES = {0: "ok", 1: "not_converged", 2: "stalled"}

Solution = collections.namedtuple("Solution", "status v gamma certificate report")
Solution.__doc__ = """What a solver found: status "ok", "not_converged" or "stalled"; v (nv) velocities, None of a local problem; gamma
(rows) impulses [N s, N m s]; certificate: dictionary of the residuals, by the core and not by the solver, NaN where one does not apply;
report: dictionary of iterations, island_count, not_converged, factorizations, cost, reason, prepare_us, solve_us, certificate_us."""


class Problem:
    """One time step as pure data: A (v - v_star) = J^T gamma + free_impulse, every gamma in its set.

    Arrays are read-only views of the problem's own memory, without copies, and stay good after close(). Solving writes R and v_hat, which
    follow from the law.
    """

    _VECTORS = {"v0": "nv", "v_star": "nv", "v_guess": "nv", "free_impulse": "nv", "bias": "row_count", "lo": "row_count",
                "hi": "row_count", "R": "row_count", "v_hat": "row_count", "phi": "row_count", "gamma_guess": "row_count"}
    _CONSTRAINT = ("id kind set row rows phi0 stiffness relaxation_time dissipation mu1 mu2 restitution w w_trace gamma_n0 vn0 body "
                   "contact patch point frame").split()

    def __init__(self):
        raise Error("Problem: use Problem.load(file), or World.problem()")

    @classmethod
    def _adopt(cls, context, native):
        problem = cls.__new__(cls)
        problem._context, problem._native = context, native
        return problem

    @classmethod
    def _copy_of(cls, context, pointer):
        return cls._adopt(context, make("problem", library.stn_problem_destroy, (context,), library.stn_problem_copy, context._pointer,
                                        pointer))

    @classmethod
    def load(cls, file, *, context=None):
        """Reads a contact problem: JSON ("contact-problem-1" and "-2"), or HDF5 in FCLIB's layout (docs/contact-problem.md)."""
        context = context_of(context)
        return cls._adopt(context, make("problem", library.stn_problem_destroy, (context,), library.stn_problem_load, context._pointer,
                                        path(file, "Problem.load: file")))

    def save(self, file, format=None):
        """Writes it in a format, "contact-problem-2" or "fclib"; None: by the file's ending. The file appears whole or not at all."""
        encoded = path(file, "Problem.save: file")
        format = None if format is None else text(format, "Problem.save: format")
        with self._native as owner:
            check(library.stn_problem_save(self._context._pointer, library.stn_problem_of(owner), format, encoded,
                                           ctypes.byref(self._native.error)), self._native.error)

    def local(self):
        """The same problem in its local form, v_c = W gamma + q: a new Problem."""
        with self._native as owner:
            return self._adopt(self._context, make("problem", library.stn_problem_destroy, (self._context,), library.stn_problem_local,
                                                   self._context._pointer, library.stn_problem_of(owner)))

    def close(self):
        """Lets it go; arrays that were taken stay good. Using it afterwards is an Error."""
        self._native = Closed("problem")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def _struct(self, owner):
        return structs["stn_problem"].from_address(library.stn_problem_of(owner))

    def __getattr__(self, name):
        size = Problem._VECTORS.get(name)
        if size is None:
            raise AttributeError(f"'Problem' has no attribute '{name}'")
        with self._native as owner:
            problem = self._struct(owner)
            return lend(getattr(problem, name), (getattr(problem, size),), self._native)

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(Problem._VECTORS))

    @property
    def name(self):
        """Its name, or None."""
        with self._native as owner:
            return told(self._struct(owner).name)

    @property
    def form(self):
        """"global": A, v_star and Jacobians; "local": W and q, without velocities."""
        with self._native as owner:
            return "local" if self._struct(owner).form == constants["STN_FORM_LOCAL"] else "global"

    @property
    def dt(self):
        """[s]"""
        with self._native as owner:
            return self._struct(owner).dt

    @property
    def nv(self):
        """Velocities; 0 in the local form."""
        with self._native as owner:
            return self._struct(owner).nv

    @property
    def row_count(self):
        """Rows of all constraints, the length of gamma."""
        with self._native as owner:
            return self._struct(owner).row_count

    @property
    def constraints(self):
        """(constraints) structured array, a view: id, kind and set (numbers, KINDS and SETS have the words), row, rows, phi0, stiffness,
        relaxation_time, dissipation, mu1, mu2, restitution, w, w_trace, gamma_n0, vn0, body (2), contact, patch, point (3), frame (3 x 3,
        columns t1, t2, n). NaN: does not apply."""
        with self._native as owner:
            problem = self._struct(owner)
            return records(problem.constraints, structs["stn_constraint"], problem.constraint_count, self._CONSTRAINT, self._native)

    @property
    def W(self):
        """(rows x rows) of a local problem, v_c = W gamma + q; a view. None in the global form."""
        with self._native as owner:
            problem = self._struct(owner)
            return lend(problem.W, (problem.row_count, problem.row_count), self._native)

    @property
    def q(self):
        """(rows) of a local problem; a view. None in the global form."""
        with self._native as owner:
            problem = self._struct(owner)
            return lend(problem.q, (problem.row_count,), self._native)

    @property
    def A(self):
        """(nv x nv) of a global problem, all trees in one dense array; made anew at every call."""
        return self._matrix("A", "nv", lambda problem, x, y: library.stn_problem_mass_times(problem, x, None, y))

    @property
    def J(self):
        """(rows x nv) of a global problem, dense: v_c = J v + bias; made anew at every call."""
        return self._matrix("J", "row_count",
                            lambda problem, x, y: library.stn_problem_jacobian_transposed_add(problem, 1.0, x, y))

    def _matrix(self, what, size, product):
        """Rows are products with unit vectors."""
        with self._native as owner:
            problem = self._struct(owner)
            if problem.form == constants["STN_FORM_LOCAL"]:
                raise Error(f"Problem.{what}: a local problem has none")
            count = getattr(problem, size)
            out, unit = numpy.zeros((count, problem.nv)), numpy.zeros(max(1, count))
            row = numpy.zeros(max(1, problem.nv))
            for i in range(count):
                unit[i], row[:] = 1.0, 0.0
                product(ctypes.addressof(problem), unit.ctypes.data, row.ctypes.data)
                out[i], unit[i] = row[:problem.nv], 0.0
            return out

    def contact_velocity(self, v):
        """(rows) J v + bias of a global problem."""
        with self._native as owner:
            problem = self._struct(owner)
            if problem.form == constants["STN_FORM_LOCAL"]:
                raise Error("Problem.contact_velocity: a local problem has no velocities")
            array, out = reals(v, (problem.nv,), "Problem.contact_velocity: v"), numpy.zeros(problem.row_count)
            library.stn_problem_contact_velocity(ctypes.addressof(problem), array.ctypes.data, True, out.ctypes.data)
            return out


def _words(function):
    words = []
    while (word := function(len(words))) is not None:
        words.append(told(word))
    return tuple(words)


KINDS = _words(library.stn_constraint_kind_name)
SETS = _words(library.stn_constraint_set_name)


class Solver:
    """A solver with its law, for one problem after the other; keeps its memory between them.

    solver: a plugin's name, or ("name", {"parameter": value}). law: of solvers that take one; None: "sap" for them; "none": a solver that
    may do without gets none. tolerance [1], max_iterations: of any solver; None: its own. threads: that share the islands.
    """

    def __init__(self, solver="sap", law=None, *, tolerance=None, max_iterations=None, threads=1, context=None, **parameters):
        self._context = context_of(context)
        pointer, error = self._context._pointer, structs["stn_error"]()
        if tolerance is not None:
            parameters["tolerance"] = number(tolerance, "Solver: tolerance")
        if max_iterations is not None:
            parameters["max_iterations"] = whole(max_iterations, "Solver: max_iterations")
        choice = Choice(pointer, error, "STN_KIND_SOLVER", solver, "Solver: solver", parameters)
        if choice.id is None:
            raise Error("Solver: solver: a plugin's name is needed")
        threads = whole(threads, "Solver: threads", 1, 1024)
        options = structs["stn_problem_solver_options"]()
        parents = [self._context]
        instance = Native("solver", choice.create(pointer, error, "STN_KIND_SOLVER"), library.stn_instance_destroy, self._context)
        parents.append(instance)
        options.solver = instance._pointer
        desc = structs["stn_plugin_desc"].from_address(structs["stn_instance"].from_address(instance._pointer).desc)
        ops = structs["stn_solver_ops"].from_address(desc.ops)
        needs = ops.needs & constants["STN_NEEDS_LAW"] or ops.yields == constants["STN_YIELDS_VELOCITY"]
        may = ops.needs & constants["STN_REGULARIZED_BY_LAW"]
        if law is not None and not (needs or may):
            raise Error(f"Solver: {told(desc.id)} takes no contact law", "bad parameter")
        if needs or (may and law != "none"):
            law = Choice(pointer, error, "STN_KIND_LAW", "sap" if law is None else law, "Solver: law")
            parents.append(Native("law", law.create(pointer, error, "STN_KIND_LAW"), library.stn_instance_destroy, self._context))
            options.law = parents[-1]._pointer
        if threads > 1:
            parents.append(make("threads", library.stn_threads_destroy, (self._context,), library.stn_threads_create, pointer, threads))
            options.threads = parents[-1]._pointer
        self._native = make("solver", library.stn_problem_solver_destroy, parents, library.stn_problem_solver_create_sized, pointer,
                            ctypes.byref(options), ctypes.sizeof(options))

    def solve(self, problem):
        """Solves a Problem, made in any context; returns a Solution. A problem that the solver cannot treat is an Error; one that it does
        not solve to its tolerance has another status than "ok"."""
        if not isinstance(problem, Problem):
            raise Error(f"Solver.solve: a stiction.Problem is needed, got {type(problem).__name__}")
        with self._native as solver, problem._native as owner:
            given = problem._struct(owner)
            shallow = structs["stn_problem"].from_buffer_copy(given)
            v, gamma = numpy.zeros(given.nv), numpy.zeros(given.row_count)
            solution, request = structs["stn_solution"](), structs["stn_solve_request"]()
            solution.v, solution.gamma = v.ctypes.data, gamma.ctypes.data
            report, certificate = structs["stn_solve_report"](), structs["stn_certificate"]()
            status = check(library.stn_problem_solve(solver, ctypes.byref(shallow), ctypes.byref(request), ctypes.byref(solution),
                                                     ctypes.byref(report), ctypes.byref(certificate), ctypes.byref(self._native.error)),
                           self._native.error)
            names = ("iterations", "island_count", "not_converged", "factorizations", "cost", "prepare_us", "solve_us", "certificate_us")
            return Solution(_STATUSES[status], v if given.form != constants["STN_FORM_LOCAL"] else None, gamma,
                            {name: getattr(certificate, name) for name, _ in certificate._fields_},
                            dict({"reason": told(report.reason)}, **{name: getattr(report, name) for name in names}))

    def close(self):
        """Lets it go; using it afterwards is an Error."""
        self._native = Closed("solver")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()


def solve(problem, solver="sap", law=None, **parameters):
    """Solver(solver, law, ...).solve(problem), in the problem's context: one problem, once."""
    if not isinstance(problem, Problem):
        raise Error(f"solve: a stiction.Problem is needed, got {type(problem).__name__}")
    with problem._native:
        context = problem._context
    return Solver(solver, law, context=context, **parameters).solve(problem)
