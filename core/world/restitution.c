// SPDX-License-Identifier: Apache-2.0
// Restitution that is asked of plugins which model none, whether a script or a robot file states it: the convex laws
// have no coefficient of restitution. Contacts that no law regularises bounce by Newton's law, which is the core's
// (problem/regularize.h). Told once, for the first surface that has one.
#include "base/context.h"
#include "world/world.h"

static const char *id_of(const step_setup *setup, stn_kind kind) {
    return setup->plugin[kind] != NULL ? setup->plugin[kind]->desc->id : "none";
}

void stn_setup_check_restitution(const step_setup *setup) {
    static const stn_kind kinds[] = {STN_KIND_LAW, STN_KIND_SOLVER, STN_KIND_CONTACT};
    const stn_model *model = setup->model;
    const bool solved = !stn_setup_integrator_solves(setup); // else neither law nor solver act
    const stn_kind makes = solved ? STN_KIND_SOLVER : STN_KIND_INTEGRATOR;
    bool used = setup->plugin[STN_KIND_LAW] == NULL && solved;
    for (int32_t i = 0; i < STN_COUNT(kinds) && solved; i++) {
        used = used || stn_plugin_says(setup->plugin[kinds[i]], "restitution");
    }
    int32_t g = 0;
    while (g < model->geometry_count &&
           !(model->geometries[g].collision && model->geometries[g].material.restitution > 0.0)) {
        g++;
    }
    if (g == model->geometry_count || used || !stn_context_first_time(setup->context, STN_SAID_RESTITUTION)) {
        return;
    }
    const stn_geometry *geometry = &model->geometries[g];
    char name[160];
    stn_describe_geometry(model, g, name, sizeof name);
    stn_log(setup->context, STN_LOG_WARNING,
            "%s%s%s: restitution = %g has no effect: neither law %s nor %s %s nor contact %s uses it; a stiffness, "
            "with relaxation_time or dissipation for what is lost, makes a contact bounce",
            geometry->where, geometry->where[0] != '\0' ? ": " : "", name, geometry->material.restitution,
            solved ? id_of(setup, STN_KIND_LAW) : "none", stn_kind_name(makes), id_of(setup, makes),
            id_of(setup, STN_KIND_CONTACT));
}
