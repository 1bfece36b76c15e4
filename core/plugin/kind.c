// SPDX-License-Identifier: Apache-2.0
// What is known of a kind as such: its name, and the parameters that all its plugins share.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

enum { MAX_ITERATIONS = 2 }; // its place in the table

static const stn_param solver_params[] = {
    STN_PARAM_REAL(stn_solver_common, tolerance, "1", 1e-6, 0.0, 1.0, "relative residual at which a solve is done"),
    STN_PARAM_REAL(stn_solver_common, absolute_tolerance, "sqrt(J)", 0.0, 0.0, INFINITY,
                   "momentum residual below which a solve is done whatever its scale; 0: none"),
    STN_PARAM_INT(stn_solver_common, max_iterations, "1", 100.0, 1.0, 1e6, "iterations before giving up"),
};

const char *stn_kind_name(stn_kind kind) {
    switch (kind) {
#define KIND_CASE(name, word) \
    case name:                \
        return #word;
        STN_KINDS(KIND_CASE)
#undef KIND_CASE
    case STN_KIND_COUNT:
        break;
    }
    return NULL;
}

void stn_kind_params(stn_kind kind, const stn_param **params, int32_t *count, size_t *config_size) {
    bool solver = kind == STN_KIND_SOLVER;
    *params = solver ? solver_params : NULL;
    *count = solver ? STN_COUNT(solver_params) : 0;
    *config_size = solver ? sizeof(stn_solver_common) : 0;
}

stn_param stn_shared_param(const stn_plugin_desc *desc, int32_t index) {
    const stn_param *params = NULL;
    int32_t count = 0;
    size_t config_size = 0;
    stn_kind_params(desc->kind, &params, &count, &config_size);
    stn_param param = params[index];
    if (desc->kind == STN_KIND_SOLVER && index == MAX_ITERATIONS && STN_PLUGIN_HAS(desc->ops.solver, max_iterations) &&
        desc->ops.solver->max_iterations > 0) {
        param.default_number = desc->ops.solver->max_iterations;
    }
    return param;
}

// ------------------------------------------------------------------------------------------------------ capabilities

#define READS_DISSIPATION \
    { "dissipation", "uses the dissipation of materials; where nobody does, scripts are told" }
#define READS_RESTITUTION \
    { "restitution", "uses the restitution of materials; where nobody does, users are told" }
#define READS_MODULUS \
    { "modulus", "uses the modulus of materials; where nobody does, scripts are told" }

static const stn_capability law_words[] = {
    {"adhesive", "may pull: cones are not asked of its impulses, reports show contacts that pull"},
    READS_DISSIPATION,
    {"explicit", "its impulses are those of the step's start, whatever the velocity after it"},
    {"gap", "is defined before touch alone, and judged there"},
    {"lagged", "takes the normal impulse of the step before from the problem (gamma_n0)"},
    READS_MODULUS,
    READS_RESTITUTION,
};
static const stn_capability solver_words[] = {
    {"approximate", "does not iterate to a solution: no answer counts as converged, none as a failure"},
    {"dense", "has a matrix over all rows of an island"},
    READS_DISSIPATION,
    READS_MODULUS,
    READS_RESTITUTION,
};
static const stn_capability contact_words[] = {READS_DISSIPATION, READS_MODULUS, READS_RESTITUTION};
static const stn_capability integrator_words[] = {
    {"articulated", "takes M and A of large trees in the articulated form"},
    {"quasistatic", "balances forces without inertia: its v is a rate, no motion with energy and momentum"},
    {"sleep", "leaves out trees that sleep (stn_integrator_view.asleep)"},
    {"v_position", "moves q by stn_integrator_view.v_position where that is given"},
    {"writes_A", "writes every value of A, which need not be cleared before"},
};
static const stn_capability controller_words[] = {
    {"inertia", "rules accelerations by the robot's inertia: refused beside an integrator that is quasistatic"},
    {"joint_by_joint",
     "each number of a reference acts on its own velocity alone: derivatives tell them apart by that"},
};
static const stn_capability element_words[] = {
    {"load", "pushes on its nodes from outside: stores no energy, and its work is that of an input"},
    {"repeats", "takes one node more than once in an element, as a shell does at an edge without neighbour"},
    {"slack", "has one-sided kinks: derivatives of either side are right there"},
    {"small_strain", "is meant for small deformations: no invariance to rotation is asked"},
};
static const stn_capability constraint_words[] = {
    {"slack", "has one-sided kinks: rows may come and go, or push or pull on one side alone"},
    {"wraps", "takes spheres and cylinders as ends, and wraps round them"},
};
static const stn_capability problem_file_words[] = {
    {"exact", "gives back every bit of what it writes in the first of its formats"},
};

const stn_capability *stn_kind_capabilities(stn_kind kind, int32_t *count) {
#define OF_KIND(kind, words) [kind] = { words, STN_COUNT(words) }
    static const struct {
        const stn_capability *words;
        int32_t count;
    } all[STN_KIND_COUNT] = {
        OF_KIND(STN_KIND_LAW, law_words),
        OF_KIND(STN_KIND_SOLVER, solver_words),
        OF_KIND(STN_KIND_CONTACT, contact_words),
        OF_KIND(STN_KIND_INTEGRATOR, integrator_words),
        OF_KIND(STN_KIND_CONTROLLER, controller_words),
        OF_KIND(STN_KIND_ELEMENT, element_words),
        OF_KIND(STN_KIND_CONSTRAINT, constraint_words),
        OF_KIND(STN_KIND_PROBLEM_FILE, problem_file_words),
    };
    const bool known = (unsigned)kind < STN_KIND_COUNT;
    *count = known ? all[kind].count : 0;
    return known ? all[kind].words : NULL;
}

bool stn_plugin_says(const stn_instance *plugin, const char *word) {
    const char *const *said = plugin != NULL ? plugin->desc->capabilities : NULL;
    while (said != NULL && *said != NULL && strcmp(*said, word) != 0) {
        said++;
    }
    return said != NULL && *said != NULL;
}

stn_law stn_law_of(const stn_instance *law) {
    if (law == NULL) {
        return (stn_law){0};
    }
    return (stn_law){law->desc->ops.law, law->self, law->desc->id, stn_plugin_says(law, "adhesive")};
}
