// SPDX-License-Identifier: Apache-2.0
// One header line with names and units, one row a step. The file is flushed line by line and cut back when a row cannot
// be written: a run that is killed and a disk that is full leave whole rows. Every parameter in force is written beside
// it, in <file>.parameters.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/plugin.h>
#include <stiction/world.h>

typedef struct csv_config {
    int32_t columns;
    bool coordinates, energies, bodies, forces, constraints;
    int32_t digits, every;
} csv_config;

enum { ALL, DECLARED };
static const char *const column_choices[] = {"all", "declared", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(csv_config, columns, column_choices, ALL, "declared: the step's number and signals alone"),
    STN_PARAM_BOOL(csv_config, coordinates, true, "write q and v of every joint"),
    STN_PARAM_BOOL(csv_config, bodies, false, "write position and quaternion of every body"),
    STN_PARAM_BOOL(
        csv_config, forces, false,
        "write normal and friction force of every body's contacts, how many stick and slip, slip and glide gap"),
    STN_PARAM_BOOL(csv_config, energies, true,
                   "write kinetic, potential, elastic and contact energy, their sum and the work of the inputs"),
    STN_PARAM_BOOL(csv_config, constraints, true,
                   "write length, force and error of every row, and slack, of constraints of plugins"),
    STN_PARAM_INT(csv_config, digits, "1", 17, 3, 17, "significant digits"),
    STN_PARAM_INT(csv_config, every, "steps", 1, 1, 1000000, "write every n-th step"),
};

typedef struct csv_recording {
    const csv_config *config;
    FILE *file;
    stn_output output, parameters; // of the table, and of what is written beside it
    char *path;
    char **signal; // names of the signal columns, those known at the first row
    int32_t signal_count;
    int32_t *constraint_rows; // (constraint_count of the model) columns of forces of each; NULL before the header
    bool has_header, failed;
    int64_t steps; // made while it was open, whether or not they gave a row
    off_t whole;   // bytes of whole rows
} csv_recording;

static const char *const coordinate_names[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char *const velocity_names[] = {"x", "y", "z", "wx", "wy", "wz"};
static const char *const force_names[] = {"normal_N", "friction_N",     "sticking",
                                          "slipping", "slip_speed_m/s", "glide_gap_m"};

static stn_status failed(const char *path, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

static void release(csv_recording *r) {
    for (int32_t i = 0; i < r->signal_count; i++) {
        free(r->signal[i]);
    }
    free(r->signal);
    free(r->constraint_rows);
    free(r->path);
    free(r);
}

/// Opens a stream with a descriptor of its own, so that closing it leaves the output open.
static FILE *stream_of(const stn_output *output) {
    int descriptor = fcntl(output->descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL && descriptor >= 0) {
        close(descriptor);
    }
    return file;
}

/// Beside a table that is a file of its own; it takes its place together with that.
static stn_status write_parameters(csv_recording *r, const stn_record_header *header, stn_error *err) {
    struct stat what;
    if (fstat(r->output.descriptor, &what) != 0 || !S_ISREG(what.st_mode)) {
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
        FILE *file = stream_of(&r->parameters);
        if (file == NULL || fputs(header->parameters, file) < 0) {
            status = failed(path, err);
        }
        if (file != NULL && fclose(file) != 0 && status == STN_OK) {
            status = failed(path, err);
        }
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
    char *path = strdup(header->path);
    if (r == NULL || path == NULL) {
        free(r);
        free(path);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    r->config = self;
    r->path = path;
    r->parameters.descriptor = -1;
    stn_status status = stn_output_open(r->path, STN_OUTPUT_STREAM, &r->output, err);
    if (status != STN_OK) {
        release(r);
        return status;
    }
    r->file = stream_of(&r->output);
    status = r->file != NULL ? write_parameters(r, header, err) : failed(r->path, err);
    if (status != STN_OK) {
        if (r->file != NULL) {
            fclose(r->file);
        }
        stn_status told = status;
        end_parameters(r, STN_OUTPUT_DROP, NULL, &told);
        stn_output_close(&r->output, STN_OUTPUT_DROP, NULL);
        release(r);
        return status;
    }
    setvbuf(r->file, NULL, _IOFBF, 1 << 16);
    *recording = r;
    return STN_OK;
}

// A name of a column: letter[qualifier/name].part, of which all but the name may be empty. In quotes, with quotes in it
// doubled, where it holds what separates fields or rows (RFC 4180).
typedef struct column {
    const char *letter, *qualifier, *name, *part;
} column;

static bool needs_quotes(const char *text) {
    return strpbrk(text, ",\"\r\n") != NULL;
}

static void put_name(FILE *file, const char *text, bool quoted) {
    for (; *text != '\0'; text++) {
        if (quoted && *text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
}

static void write_column(const csv_recording *r, column c) {
    bool quoted = needs_quotes(c.name) || needs_quotes(c.qualifier);
    bool bracketed = c.letter[0] != '\0';
    fprintf(r->file, ",%s%s%s", quoted ? "\"" : "", c.letter, bracketed ? "[" : "");
    put_name(r->file, c.qualifier, quoted);
    fputs(c.qualifier[0] != '\0' ? "/" : "", r->file);
    put_name(r->file, c.name, quoted);
    fprintf(r->file, "%s%s%s%s", bracketed ? "]" : "", c.part[0] != '\0' ? "." : "", c.part, quoted ? "\"" : "");
}

static void write_joint_columns(const csv_recording *r, const stn_model *model, const char *letter) {
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
            write_column(r, (column){letter, qualifier, joint->name, count > 1 ? part : ""});
        }
    }
}

/// For every body a column of each of these.
static void write_body_columns(const csv_recording *r, const stn_model *model, const char *letter,
                               const char *const *parts, int32_t part_count) {
    for (int32_t b = 1; b < model->body_count; b++) {
        const stn_body *body = &model->bodies[b];
        for (int32_t i = 0; i < part_count; i++) {
            write_column(r, (column){letter, model->groups[body->group].name, body->name, parts[i]});
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
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->path);
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
        write_column(r, name);
        for (int32_t k = 0; k < rows; k++) {
            for (int32_t what = 0; what < 2; what++) {
                snprintf(part, sizeof part, rows > 1 ? "%s_%d" : "%s", what == 0 ? "force" : "phi", (int)k + 1);
                name.part = part;
                write_column(r, name);
            }
        }
        name.part = "slack";
        write_column(r, name);
        for (int32_t k = 0; k < outputs_of(c); k++) {
            const stn_constraint_output *told = &ops->outputs[k];
            char unit[24] = "", full[96]; // "_N m" as "_Nm": a force of rows may have the same name without
            int32_t length = 0;
            for (const char *u = told->unit; strcmp(told->unit, "1") != 0 && *u != '\0' && length < 20; u++) {
                length += *u != ' '
                              ? snprintf(unit + length, sizeof unit - (size_t)length, length == 0 ? "_%c" : "%c", *u)
                              : 0;
            }
            for (int32_t e = 0; e < told->size; e++) {
                snprintf(full, sizeof full, told->size > 1 ? "%.60s%s_%d" : "%.60s%s", told->name, unit, (int)e + 1);
                name.part = full;
                write_column(r, name);
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
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->path);
    }
    fputs("step", r->file);
    if (r->config->columns == ALL) {
        fputs(",time_s", r->file);
        for (int32_t k = 0; k < 2 && r->config->coordinates; k++) {
            const char *letter = k == 0 ? "q" : "v";
            write_joint_columns(r, o->model, letter);
            for (int32_t i = 0; i < o->model->node_count; i++) {
                const stn_node_type type = o->model->trees[o->model->node_tree[i]].node_type;
                for (int32_t c = 0; c < (k == 0 ? stn_node_type_nq(type) : stn_node_type_nv(type)); c++) {
                    fprintf(r->file, ",%s[node %d].%s", letter, i, k == 0 ? coordinate_names[c] : velocity_names[c]);
                }
            }
        }
        if (r->config->bodies) {
            write_body_columns(r, o->model, "body", coordinate_names, STN_COUNT(coordinate_names));
        }
        if (r->config->forces) {
            write_body_columns(r, o->model, "contact", force_names, STN_COUNT(force_names));
        }
        if (r->config->energies) {
            fputs(",kinetic_J,potential_J,elastic_J,input_work_J,contact_J,total_energy_J", r->file);
        }
        fputs(",contacts,patches,faces,iterations,momentum,complementarity,cone,penetration_m,overlap_m", r->file);
        fputs(",overlap_without_contact_m,step_us", r->file);
        if (r->config->constraints) {
            stn_status status = write_constraint_columns(r, o->model, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    for (int32_t i = 0; i < r->signal_count; i++) {
        write_column(r, (column){"", "", r->signal[i], ""});
    }
    fputc('\n', r->file);
    return STN_OK;
}

/// An empty field where a number does not apply.
static void write_number(const csv_recording *r, double value) {
    if (isnan(value)) {
        fputc(',', r->file);
    } else {
        fprintf(r->file, ",%.*g", r->config->digits, value);
    }
}

typedef struct body_side {
    const stn_model *model;
    int32_t body;
} body_side;

static bool is_on_body(const void *user, int32_t geometry) {
    const body_side *side = user;
    return side->model->geometries[geometry].body == side->body;
}

static void write_forces(const csv_recording *r, const stn_observation *o) {
    for (int32_t b = 1; b < o->model->body_count; b++) {
        const body_side body = {o->model, b};
        const stn_contact_side on = {is_on_body, &body};
        stn_contact_force sum;
        stn_observation_contact_force(o, &on, NULL, stn_vec3_zero(), &sum);
        const double values[] = {stn_vec3_norm(sum.normal_part),
                                 stn_vec3_norm(sum.friction_part),
                                 sum.sticking,
                                 sum.slipping,
                                 sum.slip_speed,
                                 sum.glide_gap};
        for (int32_t i = 0; i < STN_COUNT(values); i++) {
            write_number(r, values[i]);
        }
    }
}

/// What a constraint tells of itself after the step.
static void write_outputs(const csv_recording *r, const stn_observation *o, int32_t constraint) {
    const stn_model_constraint *c = &o->model->constraints[constraint];
    for (int32_t k = 0; k < outputs_of(c); k++) {
        const stn_constraint_output *told = &c->instance->desc->ops.constraint->outputs[k];
        stn_constraint_value value = {0};
        bool known =
            o->world != NULL && stn_world_get_constraint(o->world, constraint, told->name, &value, NULL) == STN_OK;
        for (int32_t e = 0; e < told->size; e++) {
            write_number(r, known ? value.values[e] : (double)NAN);
        }
    }
}

/// Rows that were not emitted are empty fields; slack: 0 or 1.
static void write_constraints(const csv_recording *r, const stn_observation *o) {
    for (int32_t i = 0; i < o->model->constraint_count; i++) {
        stn_constraint_path path = {.room = 0};
        stn_observation_constraint_path(o, i, &path);
        write_number(r, path.length);
        stn_constraint_report block;
        int32_t written = 0;
        for (int32_t b = 0; stn_observation_constraint(o, i, b, &block); b++) {
            for (int32_t k = 0; k < block.rows && written < r->constraint_rows[i]; k++, written++) {
                write_number(r, block.force[k]);
                write_number(r, block.phi[k]);
            }
        }
        for (; written < r->constraint_rows[i]; written++) {
            write_number(r, (double)NAN);
            write_number(r, (double)NAN);
        }
        write_number(r, o->problem != NULL ? stn_observation_constraint_slack(o, i) : (double)NAN);
        write_outputs(r, o, i);
    }
}

static void write_own_values(csv_recording *r, const stn_observation *o) {
    write_number(r, o->time);
    if (r->config->coordinates) {
        for (int32_t i = 0; i < o->model->nq; i++) {
            write_number(r, o->q[i]);
        }
        for (int32_t i = 0; i < o->model->nv; i++) {
            write_number(r, o->v[i]);
        }
    }
    if (r->config->bodies) {
        for (int32_t b = 1; b < o->model->body_count; b++) {
            const stn_pose *pose = &o->kinematics->body_pose[b];
            stn_quat q = stn_quat_from_matrix(&pose->rotation);
            const double place[] = {pose->position.x, pose->position.y, pose->position.z, q.w, q.x, q.y, q.z};
            for (int32_t i = 0; i < STN_COUNT(place); i++) {
                write_number(r, place[i]);
            }
        }
    }
    if (r->config->forces) {
        write_forces(r, o);
    }
    if (r->config->energies) {
        write_number(r, o->report->kinetic_J);
        write_number(r, o->report->potential_J);
        write_number(r, o->report->elastic_J);
        const stn_step_report *e = o->report;
        double contact = o->problem != NULL ? e->contact_J : (double)NAN; // of the start: not known
        write_number(r, e->input_work_J);
        write_number(r, contact);
        write_number(r, e->kinetic_J + e->potential_J + e->elastic_J + contact);
    }
    int32_t patches = o->contacts != NULL ? o->contacts->patch_count : 0,
            faces = patches > 0 ? stn_contact_set_faces(o->contacts) : 0;
    fprintf(r->file, ",%d,%d,%d,%d", o->report->contact_count, patches, faces, o->report->iterations);
    const stn_certificate none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, NAN, NAN, NAN};
    const stn_certificate *c = o->certificate != NULL ? o->certificate : &none;
    const double values[] = {c->momentum,       c->complementarity,   c->cone,
                             c->penetration_m,  o->report->overlap_m, o->report->overlap_without_contact_m,
                             o->report->step_us};
    for (int32_t i = 0; i < STN_COUNT(values); i++) {
        write_number(r, values[i]);
    }
    if (r->config->constraints) {
        write_constraints(r, o);
    }
}

static stn_status write_step(csv_recording *r, const stn_observation *o, stn_error *err) {
    if (!r->has_header) {
        stn_status status = write_header(r, o, err);
        if (status != STN_OK) {
            return status;
        }
    }
    if (o->step % r->config->every != 0) {
        return STN_OK;
    }
    fprintf(r->file, "%lld", (long long)o->step);
    if (r->config->columns == ALL) {
        write_own_values(r, o);
    }
    for (int32_t i = 0; i < r->signal_count; i++) {
        double value = NAN;
        for (int32_t k = 0; k < o->signal_count; k++) {
            if (strcmp(o->signals[k].name, r->signal[i]) == 0) {
                value = o->signals[k].value;
            }
        }
        write_number(r, value);
    }
    fputc('\n', r->file);
    if (fflush(r->file) != 0 || ferror(r->file)) { // what was written of a row that did not fit is dropped
        char remains[STN_OUTPUT_PATH + 80];
        stn_status status = stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s%s", r->path, strerror(errno),
                                     stn_output_remains(&r->output, remains, sizeof remains));
        __fpurge(r->file);                               // or closing would try the rest of the row again
        if (ftruncate(fileno(r->file), r->whole) == 0) { // a device cannot be cut
            lseek(fileno(r->file), r->whole, SEEK_SET);
        }
        return status;
    }
    r->whole = ftello(r->file);
    return STN_OK;
}

static stn_status csv_observe(void *recording, const stn_observation *o, stn_error *err) {
    csv_recording *r = recording;
    stn_status status = write_step(r, o, err);
    r->failed = status < 0;
    r->steps += o->step > 0;
    return status;
}

static stn_status csv_close(void *recording, stn_error *err) {
    csv_recording *r = recording;
    if (r == NULL) {
        return STN_OK;
    }
    bool bad = ferror(r->file) != 0;
    bad = fclose(r->file) != 0 || bad;
    stn_status status = bad && !r->failed ? failed(r->path, err) : STN_OK; // a failure is said once
    stn_output_end end = r->steps == 0 ? STN_OUTPUT_DROP : bad || r->failed ? STN_OUTPUT_LEAVE : STN_OUTPUT_KEEP;
    if (status == STN_OK) {
        status = stn_output_close(&r->output, end, err);
    } else {
        stn_output_close(&r->output, end, NULL);
    }
    end_parameters(r, end == STN_OUTPUT_KEEP && status != STN_OK ? STN_OUTPUT_LEAVE : end, err, &status);
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
