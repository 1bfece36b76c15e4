// SPDX-License-Identifier: Apache-2.0
// The REQUIRED marks of the operation tables, as data. A slot beyond a table's size counts as absent.
#include <string.h>

#include "plugin/registry.h"

typedef struct slot {
    const char *name;
    size_t offset;
    const char *with; // required only together with this one; NULL: always
    size_t with_offset;
} slot;

#define SLOT(type, member) \
    { #member, offsetof(type, member), NULL, 0 }
#define SLOT_WITH(type, member, other) \
    { #member, offsetof(type, member), #other, offsetof(type, other) }

static const slot loader_slots[] = {
    SLOT(stn_loader_ops, extensions),
    SLOT(stn_loader_ops, recognises),
    SLOT(stn_loader_ops, load),
};
static const slot contact_slots[] = {
    SLOT(stn_contact_ops, handles),
    SLOT(stn_contact_ops, collide),
    SLOT_WITH(stn_contact_ops, release, prepare),
    SLOT_WITH(stn_contact_ops, prepare, release),
};
static const slot law_slots[] = {
    SLOT(stn_law_ops, prepare),
    SLOT(stn_law_ops, evaluate),
};
static const slot integrator_slots[] = {
    SLOT(stn_integrator_ops, form),
    SLOT(stn_integrator_ops, advance),
};
static const slot solver_slots[] = {
    SLOT(stn_solver_ops, solve),
    SLOT_WITH(stn_solver_ops, destroy_workspace, create_workspace),
    SLOT_WITH(stn_solver_ops, create_workspace, destroy_workspace),
};
static const slot factor_slots[] = {
    SLOT(stn_factor_ops, symbolic),
    SLOT(stn_factor_ops, release),
    SLOT(stn_factor_ops, numeric),
    SLOT(stn_factor_ops, solve),
};
static const slot controller_slots[] = {
    SLOT(stn_controller_ops, evaluate),
};
static const slot element_slots[] = {
    SLOT(stn_element_ops, evaluate),
};
static const slot recorder_slots[] = {
    SLOT(stn_recorder_ops, extension),
    SLOT(stn_recorder_ops, open),
    SLOT(stn_recorder_ops, observe),
    SLOT(stn_recorder_ops, close),
};
static const slot command_slots[] = {
    SLOT(stn_command_ops, run),
};
static const slot script_slots[] = {
    SLOT(stn_script_ops, extensions),
    SLOT(stn_script_ops, run),
};
static const slot mesh_slots[] = {
    SLOT(stn_mesh_ops, extensions),
    SLOT(stn_mesh_ops, read),
};
static const slot problem_file_slots[] = {
    SLOT(stn_problem_file_ops, extensions),
    SLOT(stn_problem_file_ops, recognises),
    SLOT(stn_problem_file_ops, read),
    SLOT_WITH(stn_problem_file_ops, formats, write),
    SLOT_WITH(stn_problem_file_ops, formats, write_solution),
};

#define TABLE(slots) \
    { slots, STN_COUNT(slots) }
static const struct {
    const slot *slots;
    int32_t count;
} tables[STN_KIND_COUNT] = {
    [STN_KIND_LOADER] = TABLE(loader_slots),
    [STN_KIND_CONTACT] = TABLE(contact_slots),
    [STN_KIND_LAW] = TABLE(law_slots),
    [STN_KIND_INTEGRATOR] = TABLE(integrator_slots),
    [STN_KIND_SOLVER] = TABLE(solver_slots),
    [STN_KIND_FACTOR] = TABLE(factor_slots),
    [STN_KIND_CONTROLLER] = TABLE(controller_slots),
    [STN_KIND_ELEMENT] = TABLE(element_slots),
    [STN_KIND_RECORDER] = TABLE(recorder_slots),
    [STN_KIND_COMMAND] = TABLE(command_slots),
    [STN_KIND_SCRIPT] = TABLE(script_slots),
    [STN_KIND_MESH] = TABLE(mesh_slots),
    [STN_KIND_PROBLEM_FILE] = TABLE(problem_file_slots),
};

/// Every slot that is looked at is a pointer; NULL has all bits zero where Stiction runs.
static bool is_present(const void *ops, uint32_t size, size_t offset) {
    static const unsigned char none[sizeof(void *)];
    return offset + sizeof none <= size && memcmp((const unsigned char *)ops + offset, none, sizeof none) != 0;
}

static stn_status check_slots(stn_kind kind, const void *ops, uint32_t size, stn_error *err) {
    for (int32_t i = 0; i < tables[kind].count; i++) {
        const slot *s = &tables[kind].slots[i];
        if (is_present(ops, size, s->offset) || (s->with != NULL && !is_present(ops, size, s->with_offset))) {
            continue;
        }
        if (s->offset + sizeof(void *) > size) {
            return stn_fail(err, STN_ERR_PLUGIN, "ops.size = %u ends before the required %s; set .size = sizeof ops",
                            size, s->name);
        }
        return stn_fail(err, STN_ERR_PLUGIN, "required operation %s is missing%s%s", s->name,
                        s->with != NULL ? ", it goes with " : "", s->with != NULL ? s->with : "");
    }
    return STN_OK;
}

static stn_status check_sets(uint32_t sets, stn_error *err) {
    if (sets == 0 || sets >= 1u << STN_SET_COUNT) {
        return stn_fail(err, STN_ERR_PLUGIN, "sets = 0x%x must name constraint sets, 1u << STN_SET_...", sets);
    }
    return STN_OK;
}

static stn_status check_solver(const stn_solver_ops *ops, stn_error *err) {
    if ((unsigned)ops->formulation > STN_MDP) {
        return stn_fail(err, STN_ERR_PLUGIN, "formulation %d is unknown", (int)ops->formulation);
    }
    if (ops->yields < STN_YIELDS_VELOCITY || ops->yields > STN_YIELDS_BOTH) {
        return stn_fail(err, STN_ERR_PLUGIN, "yields = %d must be velocity, impulse or both", (int)ops->yields);
    }
    if ((ops->needs & ~(uint32_t)(STN_NEEDS_DELASSUS | STN_NEEDS_LAW | STN_REGULARIZED_BY_LAW)) != 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "needs = 0x%x asks for something unknown", ops->needs);
    }
    return check_sets(ops->sets, err);
}

static stn_status check_controller(const stn_controller_ops *ops, stn_error *err) {
    if (ops->channel_count < 0 || (ops->channel_count > 0 && ops->channels == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "channels and channel_count = %d do not fit together", ops->channel_count);
    }
    for (int32_t i = 0; i < ops->channel_count; i++) {
        const stn_channel *c = &ops->channels[i];
        if (c->name == NULL || c->unit == NULL || c->summary == NULL || c->size < 0 || c->size > STN_CHANNEL_MOST ||
            stn_channel_rows(ops, i) > STN_CHANNEL_MOST) {
            return stn_fail(err, STN_ERR_PLUGIN, "channel %d needs name, unit, summary, size and rows of 0 to %d", i,
                            STN_CHANNEL_MOST);
        }
    }
    return STN_OK;
}

static stn_status check_element(const stn_element_ops *ops, stn_error *err) {
    if (ops->nodes_per_element < 2 || ops->nodes_per_element > 8) {
        return stn_fail(err, STN_ERR_PLUGIN, "nodes_per_element = %d, must be 2 to 8", ops->nodes_per_element);
    }
    if (ops->constant_count < 0 || (ops->constant_count > 0 && ops->prepare == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "constant_count = %d must be >= 0, and > 0 needs prepare",
                        ops->constant_count);
    }
    return STN_OK;
}

stn_status stn_ops_check(const stn_plugin_desc *desc, stn_error *err) {
    const void *ops = NULL;
    uint32_t size = 0;
    memcpy(&ops, &desc->ops, sizeof ops);
    if (ops == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "the table of operations is missing");
    }
    memcpy(&size, ops, sizeof size); // the first member of every table
    stn_status status = check_slots(desc->kind, ops, size, err);
    if (status != STN_OK) {
        return status;
    }
    switch (desc->kind) {
    case STN_KIND_SOLVER:
        return check_solver(desc->ops.solver, err);
    case STN_KIND_LAW:
        if (desc->ops.law->coefficient_count < 0) {
            return stn_fail(err, STN_ERR_PLUGIN, "coefficient_count must be >= 0");
        }
        return check_sets(desc->ops.law->sets, err);
    case STN_KIND_CONTROLLER:
        return check_controller(desc->ops.controller, err);
    case STN_KIND_ELEMENT:
        return check_element(desc->ops.element, err);
    default:
        return STN_OK;
    }
}
