// SPDX-License-Identifier: Apache-2.0
// Masses and frictions that change while a world runs. The state has a factor for each body and geometry; a world that
// is varied has a model of its own, which always is the compiled one times these, so that whoever reads a mass or a
// coefficient, plugins too, reads what is in force.
#include <math.h>
#include <string.h>

#include "dynamics/kinematics.h"
#include "model/varied.h"
#include "world/world.h"

void stn_world_take_factors(stn_world *world) {
    step_setup *setup = world->setup;
    const stn_state *state = &world->state;
    if (setup->varied == NULL) {
        return;
    }
    const size_t bodies = state->sizes.mass_count, geometries = state->sizes.friction_count;
    double *mass = setup->factors, *friction = setup->factors + bodies;
    const bool same = memcmp(mass, state->mass_factor, bodies * sizeof *mass) == 0 &&
                      (geometries == 0 || memcmp(friction, state->friction_factor, geometries * sizeof *friction) == 0);
    if (same) {
        return;
    }
    setup->most_friction = 1.0;
    memcpy(mass, state->mass_factor, bodies * sizeof *mass);
    for (size_t g = 0; g < geometries; g++) {
        friction[g] = state->friction_factor[g];
        setup->most_friction = fmax(setup->most_friction, friction[g]);
    }
    model_take_factors(setup->varied, setup->compiled, mass, friction);
    kinematics_take_masses(world->frame.kinematics);
    world->frame.kinematics_stale = true;
}

stn_status stn_check_factors(input_field field, const double *factors, size_t count, stn_error *err) {
    for (size_t i = 0; i < count; i++) {
        const double f = factors[i];
        if (!isfinite(f) || f < 0.0 || (field == INPUT_MASS && f == 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "factor %g of %s %zu, must be finite and %s", f,
                            field == INPUT_MASS ? "the mass of body" : "the friction of geometry", i,
                            field == INPUT_MASS ? "above 0" : "at least 0");
        }
    }
    return STN_OK;
}

static stn_status set_factor(stn_world *world, input_field field, int32_t index, double factor, stn_error *err) {
    const bool mass = field == INPUT_MASS;
    const char *what = mass ? "set mass factor" : "set friction factor";
    const stn_model *model = world->setup->model;
    if (model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s: compile the world first", what);
    }
    if (world->setup->varied == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE,
                        "%s: masses and frictions of this world are fixed: make it with varied = true", what);
    }
    const int32_t first = mass ? 1 : 0, count = mass ? model->body_count : model->geometry_count;
    if (index < first || index >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s %d is not one of %d to %d", what, mass ? "body" : "geometry",
                        index, first, count - 1);
    }
    if (mass && world->setup->kinematic_of[index] >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s is kinematic, its mass does nothing", what,
                        model->bodies[index].name);
    }
    stn_status status = stn_check_factors(field, &factor, 1, NULL);
    if (status != STN_OK) {
        return stn_fail(err, status, "%s: %g of %s, must be finite and %s", what, factor,
                        mass                                       ? model->bodies[index].name
                        : model->geometries[index].name[0] != '\0' ? model->geometries[index].name
                                                                   : "a geometry",
                        mass ? "above 0" : "at least 0");
    }
    stn_world_apply_values(world, field, (size_t)index, 1, &factor);
    return STN_OK;
}

stn_status stn_world_set_mass_factor(stn_world *world, int32_t body, double factor, stn_error *err) {
    return set_factor(world, INPUT_MASS, body, factor, err);
}

stn_status stn_world_set_friction_factor(stn_world *world, int32_t geometry, double factor, stn_error *err) {
    return set_factor(world, INPUT_FRICTION, geometry, factor, err);
}
