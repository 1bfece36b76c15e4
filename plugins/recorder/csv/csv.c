// SPDX-License-Identifier: Apache-2.0
// One header line with names and units, one row a step. Every parameter in force is written beside it, in
// <file>.parameters; what is asked for of soft bodies, in files of their own (soft_rows.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <stiction/world.h>

#include "soft_rows.h"

typedef struct csv_config {
    int32_t columns;
    bool coordinates, energies, bodies, forces, constraints, node_velocities;
    int32_t digits, every;
    const char *nodes, *elements;
    double node_interval;
} csv_config;

enum { ALL, DECLARED };
static const char *const column_choices[] = {"all", "declared", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(csv_config, columns, column_choices, ALL, "declared: the step's number and signals alone"),
    STN_PARAM_BOOL(csv_config, coordinates, true, "write q and v of every joint"),
    STN_PARAM_BOOL(csv_config, bodies, false, "write position and quaternion of every body"),
    STN_PARAM_BOOL(
        csv_config, forces, false,
        "write normal and friction force of the contacts of every body, soft ones too, how many stick and slip, slip "
        "and glide gap"),
    STN_PARAM_BOOL(csv_config, energies, true,
                   "write kinetic, potential, elastic and contact energy, their sum and the work of the inputs"),
    STN_PARAM_BOOL(csv_config, constraints, true,
                   "write length, force and error of every row, and slack, of constraints of plugins"),
    STN_PARAM_INT(csv_config, digits, "1", 17, 3, 17,
                  "significant digits, at most; 17: as few as read back to the same number"),
    STN_PARAM_INT(csv_config, every, "steps", 1, 1, 1000000, "write every n-th step"),
    STN_PARAM_TEXT(csv_config, nodes, "",
                   "soft bodies whose nodes are written beside it, \"pad, rope\" or \"all\"; empty: none"),
    STN_PARAM_BOOL(csv_config, node_velocities, false, "write velocities of these nodes, too"),
    STN_PARAM_TEXT(csv_config, elements, "",
                   "soft bodies of which what their elements tell is written beside it, likewise"),
    STN_PARAM_REAL(csv_config, node_interval, "s", 0.0, 0.0, 1e9,
                   "simulated time between those of nodes and elements; 0: with every row"),
};

typedef struct csv_recording {
    const csv_config *config;
    table table;
    soft_rows soft;
    stn_output parameters; // of what is written beside the table
    char **signal;         // names of the signal columns, those known at the first row
    int32_t signal_count;
    int32_t *constraint_rows; // (constraint_count of the model) columns of forces of each; NULL before the header
    bool has_header, failed;
    int64_t steps; // made while it was open, whether or not they gave a row
} csv_recording;

static const char *const coordinate_names[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char *const force_names[] = {"normal_N", "friction_N",     "sticking",
                                          "slipping", "slip_speed_m/s", "glide_gap_m"};

static void release(csv_recording *r) {
    for (int32_t i = 0; i < r->signal_count; i++) {
        free(r->signal[i]);
    }
    free(r->signal);
    free(r->constraint_rows);
    free(r);
}

/// Beside a table that is a file of its own; it takes its place together with that.
static stn_status write_parameters(csv_recording *r, const stn_record_header *header, stn_error *err) {
    struct stat what;
    if (fstat(r->table.output.descriptor, &what) != 0 || !S_ISREG(what.st_mode)) {
        return STN_OK;
    }
    size_t size = strlen(header->path) + sizeof ".parameters";
    char *path = malloc(size);
    if (path == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    snprintf(path, size, "%s.parameters", header->path);
    stn_status status = stn_output_open(path, STN_OUTPUT_STREAM, &r->parameters, err);
    if (status == STN_OK) {
        status = stn_output_append(&r->parameters, path, header->parameters, strlen(header->parameters), err);
    }
    free(path);
    return status;
}

static void end_parameters(csv_recording *r, stn_output_end end, stn_error *err, stn_status *status) {
    if (r->parameters.descriptor >= 0) {
        stn_status ended = stn_output_close(&r->parameters, end, *status == STN_OK ? err : NULL);
        *status = *status == STN_OK ? ended : *status;
    }
}

static stn_status csv_open(void *self, const stn_record_header *header, void **recording, stn_error *err) {
    *recording = NULL;
    csv_recording *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    const csv_config *config = r->config = self;
    r->parameters.descriptor = -1;
    const soft_rows_options soft = {.nodes = config->nodes,
                                    .elements = config->elements,
                                    .velocities = config->node_velocities,
                                    .interval = config->node_interval,
                                    .digits = config->digits};
    stn_status status = table_open(&r->table, header->path, config->digits, err);
    if (status == STN_OK) {
        status = soft_rows_open(&r->soft, header, &soft, err);
    }
    if (status == STN_OK) {
        status = write_parameters(r, header, err);
    }
    if (status != STN_OK) {
        stn_status told = status;
        end_parameters(r, STN_OUTPUT_DROP, NULL, &told);
        soft_rows_close(&r->soft, STN_OUTPUT_DROP, true, NULL);
        table_close(&r->table, STN_OUTPUT_DROP, true, NULL);
        release(r);
        return status;
    }
    *recording = r;
    return STN_OK;
}

static void write_joint_columns(csv_recording *r, const stn_model *model, const char *letter) {
    bool position = letter[0] == 'q';
    for (int32_t j = 0; j < model->joint_count; j++) {
        const stn_joint *joint = &model->joints[j];
        int32_t count = position ? joint->nq : joint->nv, same = 0;
        for (int32_t k = 0; k < model->joint_count; k++) {
            same += strcmp(model->joints[k].name, joint->name) == 0;
        }
        const char *qualifier = same > 1 ? model->groups[joint->group].name : ""; // where several have such a joint
        for (int32_t i = 0; i < count; i++) {
            const char *part =
                position ? stn_joint_coordinate_name(joint->type, i) : stn_joint_velocity_name(joint->type, i);
            table_column(&r->table, (column){letter, qualifier, joint->name, count > 1 ? part : ""});
        }
    }
}

/// For every body a column of each of these.
static void write_body_columns(csv_recording *r, const stn_model *model, const char *letter, const char *const *parts,
                               int32_t part_count) {
    for (int32_t b = 1; b < model->body_count; b++) {
        const stn_body *body = &model->bodies[b];
        for (int32_t i = 0; i < part_count; i++) {
            table_column(&r->table, (column){letter, model->groups[body->group].name, body->name, parts[i]});
        }
    }
}

static void write_cloud_columns(csv_recording *r, const stn_model *model, const char *letter, const char *const *parts,
                                int32_t part_count) {
    for (int32_t t = 0; t < model->tree_count; t++) {
        char name[SOFT_NAME];
        for (int32_t i = 0; model->trees[t].kind == STN_TREE_NODAL && i < part_count; i++) {
            table_column(&r->table, (column){letter, "", soft_name(model, t, name), parts[i]});
        }
    }
}

static int32_t outputs_of(const stn_model_constraint *c) {
    const stn_constraint_ops *ops = c->instance->desc->ops.constraint;
    return STN_PLUGIN_HAS(ops, outputs) ? ops->output_count : 0;
}

/// Columns constraint[name].length, .force, .phi, .slack; of several rows .force_1, .phi_1, .force_2, ... in the order
/// in which its plugin emits them.
static stn_status write_constraint_columns(csv_recording *r, const stn_model *model, stn_error *err) {
    r->constraint_rows = calloc((size_t)model->constraint_count + 1, sizeof *r->constraint_rows);
    if (r->constraint_rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->table.path);
    }
    for (int32_t i = 0; i < model->constraint_count; i++) {
        const stn_model_constraint *c = &model->constraints[i];
        const stn_constraint_ops *ops = c->instance->desc->ops.constraint;
        int32_t rows = r->constraint_rows[i] = ops->row_count(c->instance->self, c), same = 0;
        char number[24] = "", part[32];
        for (int32_t k = 0; k < model->constraint_count; k++) {
            same += strcmp(model->constraints[k].name, c->name) == 0;
        }
        if (c->name[0] == '\0' || same > 1) {
            snprintf(number, sizeof number, "%d", (int)i + 1);
        }
        bool named = c->name[0] != '\0';
        column name = {"constraint", named ? number : "", named ? c->name : number, "length"};
        table_column(&r->table, name);
        for (int32_t k = 0; k < rows; k++) {
            for (int32_t what = 0; what < 2; what++) {
                snprintf(part, sizeof part, rows > 1 ? "%s_%d" : "%s", what == 0 ? "force" : "phi", (int)k + 1);
                name.part = part;
                table_column(&r->table, name);
            }
        }
        name.part = "slack";
        table_column(&r->table, name);
        for (int32_t k = 0; k < outputs_of(c); k++) {
            const stn_constraint_output *told = &ops->outputs[k];
            char full[96];
            for (int32_t e = 0; e < told->size; e++) {
                table_output_name(told, e, full);
                name.part = full;
                table_column(&r->table, name);
            }
        }
    }
    return STN_OK;
}

static stn_status write_header(csv_recording *r, const stn_observation *o, stn_error *err) {
    r->has_header = true;
    r->signal = calloc((size_t)o->signal_count + 1, sizeof *r->signal);
    for (int32_t i = 0; r->signal != NULL && i < o->signal_count && r->signal_count == i; i++) {
        r->signal[i] = strdup(o->signals[i].name);
        r->signal_count += r->signal[i] != NULL;
    }
    if (r->signal == NULL || r->signal_count < o->signal_count) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->table.path);
    }
    table_put(&r->table, "step");
    if (r->config->columns == ALL) {
        table_put(&r->table, ",time_s");
        for (int32_t k = 0; k < 2 && r->config->coordinates; k++) {
            write_joint_columns(r, o->model, k == 0 ? "q" : "v");
        }
        if (r->config->bodies) {
            write_body_columns(r, o->model, "body", coordinate_names, STN_COUNT(coordinate_names));
        }
        if (r->config->forces) {
            write_body_columns(r, o->model, "contact", force_names, STN_COUNT(force_names));
            write_cloud_columns(r, o->model, "contact", force_names, STN_COUNT(force_names));
        }
        if (r->config->energies) {
            table_put(&r->table, ",kinetic_J,potential_J,elastic_J,input_work_J,contact_J,total_energy_J");
        }
        table_put(&r->table,
                  ",contacts,patches,faces,iterations,momentum,complementarity,cone,penetration_m,overlap_m");
        table_put(&r->table, ",overlap_without_contact_m,step_us");
        if (r->config->constraints) {
            stn_status status = write_constraint_columns(r, o->model, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    for (int32_t i = 0; i < r->signal_count; i++) {
        table_column(&r->table, (column){"", "", r->signal[i], ""});
    }
    table_put(&r->table, "\n");
    return STN_OK;
}

static void write_numbers(csv_recording *r, const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        table_number(&r->table, values[i]);
    }
}

/// A body, or with body -1 a cloud of nodes.
typedef struct body_side {
    const stn_model *model;
    int32_t body, tree;
} body_side;

static bool is_on_side(const void *user, int32_t geometry) {
    const body_side *side = user;
    const stn_geometry *g = &side->model->geometries[geometry];
    return side->body >= 0 ? g->body == side->body : g->body < 0 && side->model->node_tree[g->node] == side->tree;
}

static void write_force(csv_recording *r, const stn_observation *o, body_side side) {
    const stn_contact_side on = {is_on_side, &side};
    stn_contact_force sum;
    stn_observation_contact_force(o, &on, NULL, stn_vec3_zero(), &sum);
    const double values[] = {stn_vec3_norm(sum.normal_part),
                             stn_vec3_norm(sum.friction_part),
                             sum.sticking,
                             sum.slipping,
                             sum.slip_speed,
                             sum.glide_gap};
    write_numbers(r, values, STN_COUNT(values));
}

static void write_forces(csv_recording *r, const stn_observation *o) {
    for (int32_t b = 1; b < o->model->body_count; b++) {
        write_force(r, o, (body_side){.model = o->model, .body = b});
    }
    for (int32_t t = 0; t < o->model->tree_count; t++) {
        if (o->model->trees[t].kind == STN_TREE_NODAL) {
            write_force(r, o, (body_side){.model = o->model, .body = -1, .tree = t});
        }
    }
}

/// What a constraint tells of itself after the step.
static void write_outputs(csv_recording *r, const stn_observation *o, int32_t constraint) {
    const stn_model_constraint *c = &o->model->constraints[constraint];
    for (int32_t k = 0; k < outputs_of(c); k++) {
        const stn_constraint_output *told = &c->instance->desc->ops.constraint->outputs[k];
        stn_constraint_value value = {0};
        bool known =
            o->world != NULL && stn_world_get_constraint(o->world, constraint, told->name, &value, NULL) == STN_OK;
        for (int32_t e = 0; e < told->size; e++) {
            table_number(&r->table, known ? value.values[e] : (double)NAN);
        }
    }
}

/// Rows that were not emitted are empty fields; slack: 0 or 1.
static void write_constraints(csv_recording *r, const stn_observation *o) {
    for (int32_t i = 0; i < o->model->constraint_count; i++) {
        stn_constraint_path path = {.room = 0};
        stn_observation_constraint_path(o, i, &path);
        table_number(&r->table, path.length);
        stn_constraint_report block;
        int32_t written = 0;
        for (int32_t b = 0; stn_observation_constraint(o, i, b, &block); b++) {
            for (int32_t k = 0; k < block.rows && written < r->constraint_rows[i]; k++, written++) {
                table_number(&r->table, block.force[k]);
                table_number(&r->table, block.phi[k]);
            }
        }
        for (; written < r->constraint_rows[i]; written++) {
            table_number(&r->table, (double)NAN);
            table_number(&r->table, (double)NAN);
        }
        table_number(&r->table, o->problem != NULL ? stn_observation_constraint_slack(o, i) : (double)NAN);
        write_outputs(r, o, i);
    }
}

static void write_own_values(csv_recording *r, const stn_observation *o) {
    table_number(&r->table, o->time);
    if (r->config->coordinates) {
        for (int32_t j = 0; j < o->model->joint_count; j++) {
            write_numbers(r, o->q + o->model->joints[j].q_start, o->model->joints[j].nq);
        }
        for (int32_t j = 0; j < o->model->joint_count; j++) {
            write_numbers(r, o->v + o->model->joints[j].v_start, o->model->joints[j].nv);
        }
    }
    if (r->config->bodies) {
        for (int32_t b = 1; b < o->model->body_count; b++) {
            const stn_pose *pose = &o->kinematics->body_pose[b];
            stn_quat q = stn_quat_from_matrix(&pose->rotation);
            const double place[] = {pose->position.x, pose->position.y, pose->position.z, q.w, q.x, q.y, q.z};
            write_numbers(r, place, STN_COUNT(place));
        }
    }
    if (r->config->forces) {
        write_forces(r, o);
    }
    if (r->config->energies) {
        table_number(&r->table, o->report->kinetic_J);
        table_number(&r->table, o->report->potential_J);
        table_number(&r->table, o->report->elastic_J);
        const stn_step_report *e = o->report;
        double contact = o->problem != NULL ? e->contact_J : (double)NAN; // of the start: not known
        table_number(&r->table, e->input_work_J);
        table_number(&r->table, contact);
        table_number(&r->table, e->kinetic_J + e->potential_J + e->elastic_J + contact);
    }
    int32_t patches = o->contacts != NULL ? o->contacts->patch_count : 0,
            faces = patches > 0 ? stn_contact_set_faces(o->contacts) : 0;
    const int32_t counts[] = {o->report->contact_count, patches, faces, o->report->iterations};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        table_put(&r->table, ",");
        table_whole(&r->table, counts[i]);
    }
    const stn_certificate none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, NAN, NAN, NAN};
    const stn_certificate *c = o->certificate != NULL ? o->certificate : &none;
    const double values[] = {c->momentum,       c->complementarity,   c->cone,
                             c->penetration_m,  o->report->overlap_m, o->report->overlap_without_contact_m,
                             o->report->step_us};
    write_numbers(r, values, STN_COUNT(values));
    if (r->config->constraints) {
        write_constraints(r, o);
    }
}

/// NaN: there is none of that name. `at`: where it was in the first row, and most often still is.
static double signal_of(const stn_observation *o, const char *name, int32_t at) {
    for (int32_t k = 0; k < o->signal_count; k++) {
        const stn_signal *signal = &o->signals[(at + k) % o->signal_count];
        if (strcmp(signal->name, name) == 0) {
            return signal->value;
        }
    }
    return (double)NAN;
}

static stn_status write_row(csv_recording *r, const stn_observation *o, stn_error *err) {
    table_whole(&r->table, o->step);
    if (r->config->columns == ALL) {
        write_own_values(r, o);
    }
    for (int32_t i = 0; i < r->signal_count; i++) {
        table_number(&r->table, signal_of(o, r->signal[i], i));
    }
    table_put(&r->table, "\n");
    return table_flush(&r->table, err);
}

static stn_status csv_observe(void *recording, const stn_observation *o, stn_error *err) {
    csv_recording *r = recording;
    bool due = o->step % r->config->every == 0;
    stn_status status = r->has_header ? STN_OK : write_header(r, o, err);
    if (status == STN_OK && due) {
        status = write_row(r, o, err);
    }
    if (status == STN_OK) {
        status = soft_rows_observe(&r->soft, o, due, err);
    }
    r->failed = status < 0;
    r->steps += o->step > 0;
    return status;
}

static stn_status csv_close(void *recording, stn_error *err) {
    csv_recording *r = recording;
    if (r == NULL) {
        return STN_OK;
    }
    stn_output_end end = r->steps == 0 ? STN_OUTPUT_DROP : r->failed ? STN_OUTPUT_LEAVE : STN_OUTPUT_KEEP;
    stn_status status = table_close(&r->table, end, r->failed, err); // a failure is said once
    end = end == STN_OUTPUT_KEEP && status != STN_OK ? STN_OUTPUT_LEAVE : end;
    bool said = r->failed || status != STN_OK;
    stn_status of_soft = soft_rows_close(&r->soft, end, said, err);
    status = said ? status : of_soft;
    end_parameters(r, end, err, &status);
    release(r);
    return status;
}

static const stn_recorder_ops ops = {
    .size = sizeof ops, .extension = "csv", .open = csv_open, .observe = csv_observe, .close = csv_close};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_RECORDER,
    .id = "csv",
    .version = "1.0.0",
    .summary = "Comma separated values: one header line, one row a step",
    .config_size = sizeof(csv_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.recorder = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
