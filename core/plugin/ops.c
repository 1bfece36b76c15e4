// SPDX-License-Identifier: Apache-2.0
// The REQUIRED marks of the operation tables, as data. A slot beyond a table's size counts as absent.
#include <string.h>

#include "plugin/registry.h"

#define SLOT(kind, word, member) \
    { STN_KIND_##kind, #member, offsetof(stn_##word##_ops, member), NULL, 0 }
#define SLOT_WITH(kind, word, member, other) \
    { STN_KIND_##kind, #member, offsetof(stn_##word##_ops, member), #other, offsetof(stn_##word##_ops, other) }

static const struct {
    stn_kind kind;
    const char *name;
    size_t offset;
    const char *with; // required only together with this one; NULL: always
    size_t with_offset;
} slots[] = {
    SLOT(LOADER, loader, extensions),
    SLOT(LOADER, loader, recognises),
    SLOT(LOADER, loader, load),
    SLOT(CONTACT, contact, handles),
    SLOT(CONTACT, contact, collide),
    SLOT_WITH(CONTACT, contact, release, prepare),
    SLOT_WITH(CONTACT, contact, prepare, release),
    SLOT(LAW, law, prepare),
    SLOT(LAW, law, evaluate),
    SLOT(INTEGRATOR, integrator, form),
    SLOT(INTEGRATOR, integrator, advance),
    SLOT(SOLVER, solver, solve),
    SLOT_WITH(SOLVER, solver, destroy_workspace, create_workspace),
    SLOT_WITH(SOLVER, solver, create_workspace, destroy_workspace),
    SLOT(FACTOR, factor, symbolic),
    SLOT(FACTOR, factor, release),
    SLOT(FACTOR, factor, numeric),
    SLOT(FACTOR, factor, solve),
    SLOT(CONTROLLER, controller, evaluate),
    SLOT(ELEMENT, element, evaluate),
    SLOT(CONSTRAINT, constraint, row_count),
    SLOT(CONSTRAINT, constraint, emit),
    SLOT(RECORDER, recorder, extension),
    SLOT(RECORDER, recorder, open),
    SLOT(RECORDER, recorder, observe),
    SLOT(RECORDER, recorder, close),
    SLOT(COMMAND, command, run),
    SLOT(SCRIPT, script, extensions),
    SLOT(SCRIPT, script, run),
    SLOT(MESH, mesh, extensions),
    SLOT(MESH, mesh, read),
    SLOT(PROBLEM_FILE, problem_file, extensions),
    SLOT(PROBLEM_FILE, problem_file, recognises),
    SLOT(PROBLEM_FILE, problem_file, read),
    SLOT_WITH(PROBLEM_FILE, problem_file, formats, write),
    SLOT_WITH(PROBLEM_FILE, problem_file, formats, write_solution),
};

/// Every slot that is looked at is a pointer; NULL has all bits zero where Stiction runs.
static bool is_present(const void *ops, uint32_t size, size_t offset) {
    static const unsigned char none[sizeof(void *)];
    return offset + sizeof none <= size && memcmp((const unsigned char *)ops + offset, none, sizeof none) != 0;
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
    const uint32_t known = STN_NEEDS_DELASSUS | STN_NEEDS_LAW | STN_REGULARIZED_BY_LAW | STN_NEEDS_INVERSE |
                           STN_NEEDS_V_POSITION | STN_NEEDS_RIGID_CONTACTS;
    if ((ops->needs & ~known) != 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "needs = 0x%x asks for something unknown", ops->needs);
    }
    const uint32_t supported =
        STN_SUPPORTS_SINGULAR_A | STN_SUPPORTS_LOCAL_FORM | STN_SUPPORTS_UNFACTORED_A | STN_SUPPORTS_ARTICULATED_A;
    if (STN_PLUGIN_HAS(ops, supports) && (ops->supports & ~supported) != 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "supports = 0x%x names something unknown", ops->supports);
    }
    if (STN_PLUGIN_HAS(ops, supports) && (ops->supports & STN_SUPPORTS_UNFACTORED_A) != 0 &&
        (ops->needs & (STN_NEEDS_INVERSE | STN_NEEDS_DELASSUS)) != 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "supports an unfactored A and needs its inverse");
    }
    return check_sets(ops->sets, err);
}

/// `least`: the smallest size; `series`: the controller whose channels may have several rows, else NULL.
static stn_status check_channels(const stn_channel *channels, int32_t count, int32_t least,
                                 const stn_controller_ops *series, stn_error *err) {
    if (count < 0 || (count > 0 && channels == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "channels and channel_count = %d do not fit together", count);
    }
    for (int32_t i = 0; i < count; i++) {
        const stn_channel *c = &channels[i];
        if (c->name == NULL || c->unit == NULL || c->summary == NULL || c->size < least || c->size > STN_CHANNEL_MOST ||
            (series != NULL && stn_channel_rows(series, i) > STN_CHANNEL_MOST)) {
            return stn_fail(err, STN_ERR_PLUGIN, "channel %d needs name, unit, summary%s of %d to %d", i,
                            series != NULL ? ", size and rows" : " and size", least, STN_CHANNEL_MOST);
        }
    }
    return STN_OK;
}

static stn_status check_outputs(const stn_constraint_output *outputs, int32_t count, const stn_channel *channels,
                                int32_t channel_count, stn_error *err) {
    if (count < 0 || (count > 0 && outputs == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "outputs and output_count = %d do not fit together", count);
    }
    for (int32_t i = 0; i < count; i++) {
        const stn_constraint_output *o = &outputs[i];
        if (o->name == NULL || o->unit == NULL || o->summary == NULL || o->size < 1 || o->size > STN_CHANNEL_MOST) {
            return stn_fail(err, STN_ERR_PLUGIN, "output %d needs name, unit, summary and size of 1 to %d", i,
                            STN_CHANNEL_MOST);
        }
        for (int32_t k = 0; k < channel_count; k++) {
            if (strcmp(o->name, channels[k].name) == 0) {
                return stn_fail(err, STN_ERR_PLUGIN, "'%s' is a channel and an output; rename one", o->name);
            }
        }
    }
    return STN_OK;
}

static stn_status check_constraint(const stn_constraint_ops *ops, stn_error *err) {
    stn_status status = check_channels(ops->channels, ops->channel_count, 1, NULL, err);
    return status == STN_OK && STN_PLUGIN_HAS(ops, outputs)
               ? check_outputs(ops->outputs, ops->output_count, ops->channels, ops->channel_count, err)
               : status;
}

static stn_status check_element(const stn_element_ops *ops, stn_error *err) {
    if (ops->nodes_per_element < 2 || ops->nodes_per_element > STN_ELEMENT_NODES) {
        return stn_fail(err, STN_ERR_PLUGIN, "nodes_per_element = %d, must be 2 to %d", ops->nodes_per_element,
                        STN_ELEMENT_NODES);
    }
    if ((unsigned)ops->node_type >= STN_NODE_TYPE_COUNT) {
        return stn_fail(err, STN_ERR_PLUGIN, "node_type %d is unknown", (int)ops->node_type);
    }
    if (ops->mass != NULL && ops->node_type != STN_NODE_POINT) {
        return stn_fail(err, STN_ERR_PLUGIN, "mass is for nodes that are points; other nodes have their own");
    }
    if (ops->state_count < 0 || (ops->initial_state != NULL && ops->state_count == 0)) {
        return stn_fail(err, STN_ERR_PLUGIN, "state_count = %d must be >= 0, and > 0 with initial_state",
                        ops->state_count);
    }
    if ((ops->output_count > 0) != (ops->measure != NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "outputs need measure, and measure needs outputs");
    }
    if (ops->parameter_count < 0 || (ops->parameter_count > 0 && ops->parameters == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameters and parameter_count = %d do not fit together",
                        ops->parameter_count);
    }
    for (int32_t i = 0; i < ops->parameter_count; i++) {
        const stn_element_parameter *p = &ops->parameters[i];
        if (p->name == NULL || p->unit == NULL || p->summary == NULL) {
            return stn_fail(err, STN_ERR_PLUGIN, "parameter %d of the elements needs name, unit and summary", i);
        }
    }
    if (ops->constant_count < 0 || (ops->constant_count > 0 && ops->prepare == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "constant_count = %d must be >= 0, and > 0 needs prepare",
                        ops->constant_count);
    }
    stn_status status = check_channels(ops->channels, ops->channel_count, 1, NULL, err);
    return status == STN_OK ? check_outputs(ops->outputs, ops->output_count, ops->channels, ops->channel_count, err)
                            : status;
}

stn_status stn_ops_check(const stn_plugin_desc *desc, stn_error *err) {
    const void *ops = NULL;
    uint32_t size = 0;
    bool write = false;
    memcpy(&ops, &desc->ops, sizeof ops);
    if (ops == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "the table of operations is missing");
    }
    memcpy(&size, ops, sizeof size); // the first member of every table
    for (int32_t i = 0; i < STN_COUNT(slots); i++) {
        const char *name = slots[i].name, *with = slots[i].with;
        if (slots[i].kind != desc->kind || is_present(ops, size, slots[i].offset) ||
            (with != NULL && !is_present(ops, size, slots[i].with_offset))) {
            continue;
        }
        if (slots[i].offset + sizeof(void *) > size) {
            return stn_fail(err, STN_ERR_PLUGIN, "ops.size = %u ends before the required %s; set .size = sizeof ops",
                            size, name);
        }
        return stn_fail(err, STN_ERR_PLUGIN, "required operation %s is missing%s%s", name,
                        with != NULL ? ", it goes with " : "", with != NULL ? with : "");
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
        return check_channels(desc->ops.controller->channels, desc->ops.controller->channel_count, 0,
                              desc->ops.controller, err);
    case STN_KIND_CONSTRAINT:
        return check_constraint(desc->ops.constraint, err);
    case STN_KIND_ELEMENT:
        return check_element(desc->ops.element, err);
    case STN_KIND_MESH:
        if (desc->ops.mesh->extensions[0] == NULL && !STN_PLUGIN_HAS(desc->ops.mesh, recognises)) {
            return stn_fail(err, STN_ERR_PLUGIN,
                            "extensions is empty and recognises is missing: no file could be read");
        }
        return STN_OK;
    case STN_KIND_PROBLEM_FILE:
        write = STN_PLUGIN_HAS(desc->ops.problem_file, write);
        if ((write || STN_PLUGIN_HAS(desc->ops.problem_file, write_solution)) &&
            desc->ops.problem_file->formats[0] == NULL) {
            return stn_fail(err, STN_ERR_PLUGIN, "formats is empty: %s needs the name of what it writes",
                            write ? "write" : "write_solution");
        }
        return STN_OK;
    default:
        return STN_OK;
    }
}
