// SPDX-License-Identifier: Apache-2.0
// A contact problem as JSON. Reals have as many digits as reading the same bits needs; NaN is null, infinities
// are "inf" and "-inf".
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "json_write.h"

void json_put(json_writer *w, const char *text) {
    w->sink->put(w->sink, text, strlen(text));
}

void json_put_text(json_writer *w, const char *text) {
    if (text == NULL) {
        json_put(w, "null");
        return;
    }
    json_put(w, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        char escaped[8];
        if (*c == '"' || *c == '\\') {
            snprintf(escaped, sizeof escaped, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            snprintf(escaped, sizeof escaped, "%c", *c);
        }
        json_put(w, escaped);
    }
    json_put(w, "\"");
}

void json_put_real(json_writer *w, double value) {
    if (isnan(value)) {
        json_put(w, "null");
        return;
    }
    if (isinf(value)) {
        json_put(w, value > 0.0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    char text[40];
    w->sink->put(w->sink, text, stn_print_real(text, sizeof text, value));
}

void json_put_integer(json_writer *w, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    json_put(w, text);
}

void json_put_reals(json_writer *w, const double *values, size_t count) {
    if (values == NULL) {
        json_put(w, "null");
        return;
    }
    json_put(w, "[");
    for (size_t i = 0; i < count; i++) {
        json_put(w, i > 0 ? ", " : "");
        json_put_real(w, values[i]);
    }
    json_put(w, "]");
}

static void put_integers(json_writer *w, const int32_t *values, size_t count) {
    json_put(w, "[");
    for (size_t i = 0; i < count; i++) {
        json_put(w, i > 0 ? ", " : "");
        json_put_integer(w, values[i]);
    }
    json_put(w, "]");
}

void json_put_key(json_writer *w, const char *key) {
    json_put(w, w->first ? "\n" : ",\n");
    w->first = false;
    json_put(w, w->indent);
    json_put_text(w, key);
    json_put(w, ": ");
}

void json_put_named_reals(json_writer *w, const char *key, const double *values, size_t count) {
    json_put_key(w, key);
    json_put_reals(w, values, count);
}

/// Nodes of three dofs, which are the rule, are written as ever.
static void put_node_size(json_writer *w, int32_t node_size) {
    if (node_size != 3) {
        json_put(w, ", \"node_size\": ");
        json_put_integer(w, node_size);
    }
}

static void put_trees(json_writer *w, const stn_problem *p) {
    json_put_key(w, "trees");
    json_put(w, "[");
    for (int32_t t = 0; t < p->tree_count; t++) {
        json_put(w, t > 0 ? ",\n    { \"source\": " : "\n    { \"source\": ");
        json_put_integer(w, p->trees[t].source);
        json_put(w, ", \"A\": ");
        const stn_matrix *A = &p->trees[t].A;
        json_put(w, "{ \"form\": ");
        json_put_text(w, matrix_form_names[A->form]);
        json_put(w, ", \"n\": ");
        json_put_integer(w, A->n);
        if (A->form == STN_MATRIX_NODAL) {
            put_node_size(w, A->node_size);
            json_put(w, ", \"row_start\": ");
            put_integers(w, A->row_start, (size_t)A->node_count + 1);
            json_put(w, ", \"column\": ");
            put_integers(w, A->column, (size_t)A->row_start[A->node_count]);
        }
        if (A->form != STN_MATRIX_ZERO) {
            json_put(w, ", \"values\": ");
            json_put_reals(w, A->values, (size_t)stn_matrix_value_count(A));
        }
        json_put(w, " } }");
    }
    json_put(w, p->tree_count > 0 ? "\n  ]" : "]");
}

static void put_jacobians(json_writer *w, const stn_problem *p, const stn_constraint *c) {
    json_put_key(w, "J");
    json_put(w, "[");
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        json_put(w, k > 0 ? ", { \"tree\": " : "{ \"tree\": ");
        json_put_integer(w, J->tree);
        if (J->node_count > 0) {
            put_node_size(w, J->node_size);
            json_put(w, ", \"node\": ");
            put_integers(w, J->node, (size_t)J->node_count);
        }
        json_put(w, ", \"values\": ");
        json_put_reals(w, J->values, (size_t)c->rows * (size_t)stn_jacobian_columns(p, J));
        json_put(w, " }");
    }
    json_put(w, "]");
}

static void put_constraint(json_writer *w, const stn_problem *p, const stn_constraint *c) {
    size_t row = (size_t)c->row, rows = (size_t)c->rows;
    char id[32];
    snprintf(id, sizeof id, "%llu", (unsigned long long)c->id);
    w->first = true;
    json_put_key(w, "id");
    json_put_text(w, id);
    json_put_key(w, "kind");
    json_put_text(w, stn_constraint_kind_name(c->kind));
    json_put_key(w, "set");
    json_put_text(w, stn_constraint_set_name(c->set));
    json_put_key(w, "rows");
    json_put_integer(w, c->rows);
    const struct {
        const char *key;
        double value;
    } members[] = {
        {"phi0", c->phi0},
        {"stiffness", c->stiffness},
        {"relaxation_time", c->relaxation_time},
        {"dissipation", c->dissipation},
        {"mu1", c->mu1},
        {"mu2", c->mu2},
        {"restitution", c->restitution},
        {"w", c->w},
        {"w_trace", c->w_trace},
        {"gamma_n0", c->gamma_n0},
        {"vn0", c->vn0},
    };
    for (int32_t k = 0; k < STN_COUNT(members); k++) {
        json_put_key(w, members[k].key);
        json_put_real(w, members[k].value);
    }
    const char *const keys[] = {"memory", "contact", "patch"};
    const int32_t values[] = {c->memory, c->contact, c->patch};
    for (int32_t k = 0; k < STN_COUNT(keys); k++) {
        json_put_key(w, keys[k]);
        json_put_integer(w, values[k]);
    }
    const double point[3] = {c->point.x, c->point.y, c->point.z};
    json_put_key(w, "body");
    put_integers(w, c->body, 2);
    json_put_named_reals(w, "point", point, 3);
    json_put_named_reals(w, "frame", &c->frame.m[0][0], 9);
    if (c->anchor[0] != 0.0 || c->anchor[1] != 0.0) {
        json_put_named_reals(w, "anchor", c->anchor, 2);
    }
    bool has_row_errors = false;
    for (size_t r = row; p->phi != NULL && r < row + rows; r++) {
        has_row_errors = has_row_errors || !isnan(p->phi[r]);
    }
    if (has_row_errors) {
        json_put_named_reals(w, "phi", p->phi + row, rows);
    }
    json_put_named_reals(w, "bias", p->bias + row, rows);
    if (c->set == STN_SET_BOX) {
        json_put_named_reals(w, "lo", p->lo + row, rows);
        json_put_named_reals(w, "hi", p->hi + row, rows);
    }
    json_put_named_reals(w, "R", p->R + row, rows);
    json_put_named_reals(w, "v_hat", p->v_hat + row, rows);
    json_put_named_reals(w, "gamma_guess", p->gamma_guess + row, rows);
    put_jacobians(w, p, c);
}

void json_put_problem_2(json_writer *w, const stn_problem *p) {
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count, bilateral = (size_t)p->bilateral_count;
    json_put(w, "{");
    w->indent = "  ";
    w->first = true;
    json_put_key(w, "format");
    json_put_text(w, "contact-problem-2");
    json_put_key(w, "name");
    json_put_text(w, p->name);
    json_put_key(w, "form");
    json_put_text(w, problem_form_names[p->form]);
    json_put_key(w, "velocity_kind");
    json_put_text(w, problem_velocity_names[p->velocity_kind]);
    const char *const keys[] = {"theta", "dt", "beta", "sigma", "stiction_tolerance"};
    const double values[] = {p->theta, p->dt, p->beta, p->sigma, p->stiction_tolerance};
    for (int32_t k = 0; k < STN_COUNT(keys); k++) {
        json_put_key(w, keys[k]);
        json_put_real(w, values[k]);
    }
    json_put_key(w, "explicit_R");
    json_put(w, p->explicit_R ? "true" : "false");
    if (p->form == STN_FORM_LOCAL) {
        json_put_named_reals(w, "W", p->W, rows * rows);
        json_put_named_reals(w, "q", p->q, rows);
        if (p->general_W) {
            json_put_key(w, "general_W");
            json_put(w, "true");
        }
    }
    if (p->form == STN_FORM_LOCAL && bilateral > 0) {
        json_put_named_reals(w, "V", p->V, rows * bilateral);
        json_put_named_reals(w, "R_bilateral", p->R_bilateral, bilateral * bilateral);
        json_put_named_reals(w, "s", p->s, bilateral);
    }
    if (p->form == STN_FORM_GLOBAL) {
        put_trees(w, p);
        json_put_named_reals(w, "v0", p->v0, nv);
        json_put_named_reals(w, "v_star", p->v_star, nv);
        json_put_named_reals(w, "v_guess", p->v_guess, nv);
        json_put_named_reals(w, "free_impulse", p->free_impulse, nv);
    }
    json_put_key(w, "constraints");
    json_put(w, "[");
    for (int32_t i = 0; i < p->constraint_count; i++) {
        json_put(w, i > 0 ? ",\n    {" : "\n    {");
        w->indent = "      ";
        put_constraint(w, p, &p->constraints[i]);
        json_put(w, "\n    }");
    }
    w->first = false;
    json_put(w, p->constraint_count > 0 ? "\n  ]" : "]");
    json_put(w, "\n}\n");
}
