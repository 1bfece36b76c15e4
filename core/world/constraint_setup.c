// SPDX-License-Identifier: Apache-2.0
// Where constraints of plugins keep their channels and private states in the state, and how these begin.
#include "world/world.h"

enum { CONTACT_ROWS_MOST = 100 };
static const size_t STATE_MOST = (size_t)1 << 30; // bytes of one constraint

static const stn_constraint_ops *ops_of(const stn_model_constraint *c) {
    return c->instance->desc->ops.constraint;
}

static int32_t channel_numbers(const stn_constraint_ops *ops) {
    int32_t count = 0;
    for (int32_t i = 0; i < ops->channel_count; i++) {
        count += ops->channels[i].size;
    }
    return count;
}

static int32_t output_numbers(const stn_constraint_ops *ops) {
    int32_t count = 0;
    for (int32_t i = 0; i < (STN_PLUGIN_HAS(ops, outputs) ? ops->output_count : 0); i++) {
        count += ops->outputs[i].size;
    }
    return count;
}

stn_status stn_setup_place_constraints(step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    setup->constraint_slots =
        stn_allocate(setup->context, (size_t)model->constraint_count, sizeof *setup->constraint_slots);
    if (setup->constraint_slots == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    for (int32_t i = 0; i < model->constraint_count; i++) {
        const stn_model_constraint *c = &model->constraints[i];
        const stn_constraint_ops *ops = ops_of(c);
        constraint_slot *slot = &setup->constraint_slots[i];
        size_t told = sizeof(double) * (size_t)output_numbers(ops);
        *slot = (constraint_slot){setup->plugin_references, (setup->plugin_bytes + 15) & ~(size_t)15,
                                  STN_PLUGIN_HAS(ops, state_size) ? ops->state_size(c->instance->self, c) : told,
                                  ops->row_count(c->instance->self, c),
                                  STN_PLUGIN_HAS(ops, contact_rows) ? ops->contact_rows(c->instance->self, c) : 0};
        const bool bad = slot->rows < 0 || slot->rows > STN_CHANNEL_MOST;
        if (bad || slot->contact_rows < 0 || slot->contact_rows > CONTACT_ROWS_MOST) {
            stn_fail(err, STN_ERR_PLUGIN, "%s gave %d, must be 0 to %d", bad ? "row_count" : "contact_rows",
                     bad ? slot->rows : slot->contact_rows, bad ? STN_CHANNEL_MOST : CONTACT_ROWS_MOST);
            stn_describe_constraint_error(model, i, err);
            return STN_ERR_PLUGIN;
        }
        setup->constraints_read_contacts = setup->constraints_read_contacts || slot->contact_rows > 0;
        if (slot->bytes < told || slot->bytes > STATE_MOST) {
            stn_fail(err, STN_ERR_PLUGIN, "state_size gave %zu bytes, its outputs need %zu and it may be up to %zu",
                     slot->bytes, told, STATE_MOST);
            stn_describe_constraint_error(model, i, err);
            return STN_ERR_PLUGIN;
        }
        setup->plugin_references += (size_t)channel_numbers(ops);
        setup->plugin_bytes = slot->bytes > 0 ? slot->memory_start + slot->bytes : setup->plugin_bytes;
        setup->constraint_rows += slot->rows;
    }
    return model->constraint_count > 0 ? stn_setup_describe_constraints(setup, err) : STN_OK;
}

void stn_world_begin_constraints(const step_setup *setup, const stn_kinematics *kinematics, stn_state *state) {
    for (int32_t i = 0; i < setup->model->constraint_count; i++) {
        const stn_model_constraint *c = &setup->model->constraints[i];
        const stn_constraint_ops *ops = ops_of(c);
        if (STN_PLUGIN_HAS(ops, initial_reference) && ops->channel_count > 0) {
            ops->initial_reference(c->instance->self, kinematics, c,
                                   state->reference + setup->constraint_slots[i].reference_start);
        }
    }
}
