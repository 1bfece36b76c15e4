// SPDX-License-Identifier: Apache-2.0
// Which problems a solver can treat, said before it is asked to.
#include <stddef.h>
#include <stdio.h>

#include "problem/solver.h"

const char *stn_formulation_name(stn_formulation formulation) {
    static const char *const names[] = {"regularized", "ccp", "ncp", "lcp", "qp", "mdp"};
    return (int)formulation >= 0 && (int)formulation < STN_COUNT(names) ? names[formulation] : NULL;
}

stn_formulation stn_solver_formulation(const stn_instance *solver) {
    const stn_solver_ops *ops = solver->desc->ops.solver;
    return STN_PLUGIN_HAS(ops, configured) ? ops->configured(solver->self) : ops->formulation;
}

static uint32_t sets_of(const stn_problem *problem) {
    uint32_t sets = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        sets |= 1u << problem->constraints[i].set;
    }
    return sets;
}

/// A problem without velocities leaves only solvers of impulses.
static bool treats_local(const stn_solver_ops *ops) {
    return (ops->needs & STN_NEEDS_DELASSUS) != 0 && ops->yields != STN_YIELDS_VELOCITY;
}

/// Ids of the solvers found that take these sets (and local problems), for a message.
static void list_solvers(const stn_problem_solver *s, uint32_t sets, bool local, char *text, size_t size) {
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    snprintf(text, size, "none");
    if (stn_plugins_of_kind(s->context, STN_KIND_SOLVER, &plugins, &count, NULL) != STN_OK) {
        return;
    }
    size_t used = 0;
    for (int32_t i = 0; i < count && used < size; i++) {
        const stn_plugin_desc *desc = plugins[i].desc;
        if ((desc->ops.solver->sets & sets) == sets && (!local || treats_local(desc->ops.solver))) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", desc->id);
        }
    }
}

/// The first constraint of a set that is not in `able`, and how many more.
static stn_status refuse_sets(const stn_problem_solver *s, const stn_problem *problem, const char *who, uint32_t able,
                              stn_error *err) {
    int32_t first = -1, more = 0;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        if ((able >> problem->constraints[i].set & 1u) == 0) {
            more += first >= 0;
            first = first < 0 ? i : first;
        }
    }
    const stn_constraint *c = &problem->constraints[first];
    char others[48] = "", solvers[256];
    if (more > 0) {
        snprintf(others, sizeof others, " and %d more", more);
    }
    list_solvers(s, sets_of(problem), problem->form == STN_FORM_LOCAL, solvers, sizeof solvers);
    return stn_fail(err, STN_ERR_UNSUPPORTED,
                    "%s cannot treat the set '%s': constraint %d (%s, id %llu, rows %d to %d)%s; solvers that can: %s",
                    who, stn_constraint_set_name(c->set), first, stn_constraint_kind_name(c->kind),
                    (unsigned long long)c->id, c->row, c->row + c->rows - 1, others, solvers);
}

stn_status stn_problem_solver_accepts(const stn_problem_solver *solver, const stn_problem *problem, stn_error *err) {
    uint32_t sets = sets_of(problem);
    const uint32_t cones = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE;
    char who[128];
    if ((sets & ~solver->ops.sets) != 0) {
        snprintf(who, sizeof who, "solver %s", solver->options.solver->desc->id);
        return refuse_sets(solver, problem, who, solver->ops.sets, err);
    }
    if (solver->law.ops != NULL && (sets & cones & ~solver->law.ops->sets) != 0) {
        snprintf(who, sizeof who, "law %s", solver->law.id);
        return refuse_sets(solver, problem, who, solver->law.ops->sets | ~cones, err);
    }
    if (problem->form == STN_FORM_LOCAL && !treats_local(&solver->ops)) {
        char solvers[256];
        list_solvers(solver, sets, true, solvers, sizeof solvers);
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "solver %s works on velocities, but a local problem has none; solvers that can: %s",
                        solver->options.solver->desc->id, solvers);
    }
    return STN_OK;
}
