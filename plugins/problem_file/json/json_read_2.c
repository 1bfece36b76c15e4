// SPDX-License-Identifier: Apache-2.0
// "contact-problem-2": every member of stn_problem and stn_constraint. docs/contact-problem.md
#include <stdio.h>
#include <string.h>

#include "json.h"

static const char *const problem_keys[] = {
    "format",
    "name",
    "form",
    "velocity_kind",
    "theta",
    "dt",
    "beta",
    "sigma",
    "stiction_tolerance",
    "explicit_R",
    "general_W",
    "trees",
    "v0",
    "v_star",
    "v_guess",
    "free_impulse",
    "W",
    "q",
    "V",
    "R_bilateral",
    "s",
    "constraints",
    "solution",
    NULL,
};
static const char *const tree_keys[] = {"source", "A", NULL};
static const char *const matrix_keys[] = {"form", "n", "node_size", "row_start", "column", "values", NULL};
static const char *const jacobian_keys[] = {"tree", "node_size", "node", "values", NULL};
static const char *const constraint_keys[] = {
    "id",          "kind", "set",     "rows",        "J",     "phi0",    "stiffness", "relaxation_time",
    "dissipation", "mu1",  "mu2",     "restitution", "w",     "w_trace", "gamma_n0",  "vn0",
    "memory",      "body", "contact", "patch",       "point", "frame",   "bias",      "lo",
    "hi",          "R",    "v_hat",   "gamma_guess", "phi",   "anchor",  NULL,
};

static void set_where(json_reader *r, const char *format, ...) STN_PRINTF(2, 3);
static void set_where(json_reader *r, const char *format, ...) {
    if (r->status == STN_OK) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r->where, sizeof r->where, format, arguments);
        va_end(arguments);
    }
}

/// An object of an array, its keys checked; NULL and a failure otherwise.
static const cJSON *checked_object(json_reader *r, const cJSON *item, const char *key, const char *const *keys) {
    if (r->status == STN_OK && !cJSON_IsObject(item)) {
        json_fail(r, key, "expected an object");
    }
    if (r->status == STN_OK) {
        json_check_keys(r, item, keys);
    }
    return r->status == STN_OK ? item : NULL;
}

static void read_matrix(json_reader *r, const cJSON *object, stn_matrix *A) {
    A->form = (stn_matrix_form)json_choice(r, object, "form", matrix_form_names, STN_COUNT(matrix_form_names), 0, 0);
    int64_t n = json_integer(r, object, "n", 0, JSON_MAX_NUMBERS, 0, 0);
    A->n = (int32_t)n;
    if (A->form == STN_MATRIX_DENSE && n * n > JSON_MAX_NUMBERS) {
        json_fail(r, "n", "%lld, but a dense matrix of more than %lld numbers is not read", (long long)n,
                  (long long)JSON_MAX_NUMBERS);
    }
    if (A->form == STN_MATRIX_NODAL) {
        A->node_size = (int32_t)json_integer(r, object, "node_size", 1, STN_MAX_NODE_SIZE, JSON_OPTIONAL, 3);
        if (r->status == STN_OK && n % A->node_size != 0) {
            json_fail(r, "n", "%lld, expected a multiple of node_size, which is %d", (long long)n, A->node_size);
        }
        A->node_count = r->status == STN_OK ? (int32_t)(n / A->node_size) : 0;
        int32_t *row_start = json_integers(r, object, "row_start", (int64_t)A->node_count + 1, "n/node_size + 1", 0);
        if (row_start == NULL) {
            return;
        }
        bool ascending = row_start[0] == 0;
        for (int32_t i = 0; i < A->node_count && ascending; i++) {
            ascending = row_start[i + 1] >= row_start[i];
        }
        if (!ascending) {
            json_fail(r, "row_start", "must begin with 0 and never fall");
        }
        A->row_start = row_start;
        A->column = json_integers(r, object, "column", row_start[A->node_count], "last of row_start", 0);
    }
    static const char *const count_texts[] = {"", "n", "n*n", "node_size^2 per block"};
    if (A->form != STN_MATRIX_ZERO) {
        A->values = json_reals(r, object, "values", stn_matrix_value_count(A), count_texts[A->form], 0);
    }
}

static void read_trees(json_reader *r, const cJSON *root, stn_problem *p) {
    const cJSON *array = json_array(r, root, "trees", p->form == STN_FORM_LOCAL ? JSON_OPTIONAL : 0);
    int64_t count = array != NULL ? json_length(array) : 0;
    int64_t nv = 0;
    p->trees = json_allocate(r, count, sizeof *p->trees);
    p->tree_count = (int32_t)count;
    int32_t t = 0;
    for (const cJSON *item = array != NULL ? array->child : NULL; item != NULL && r->status == STN_OK;
         item = item->next) {
        set_where(r, "trees[%d].", t);
        const cJSON *object = checked_object(r, item, "", tree_keys);
        stn_problem_tree *tree = &p->trees[t];
        if (object != NULL) {
            tree->source = (int32_t)json_integer(r, object, "source", -1, INT32_MAX, JSON_OPTIONAL, t);
            const cJSON *A = json_find(r, object, "A", 0);
            set_where(r, "trees[%d].A.", t);
            A = A != NULL ? checked_object(r, A, "", matrix_keys) : NULL;
            if (A != NULL) {
                read_matrix(r, A, &tree->A);
            }
        }
        tree->dof_start = (int32_t)nv;
        nv += tree->A.n;
        if (nv > JSON_MAX_NUMBERS) {
            json_fail(r, "n", "the trees have more than %lld dofs", (long long)JSON_MAX_NUMBERS);
        }
        t++;
    }
    set_where(r, "%s", "");
    p->nv = (int32_t)nv;
}

static void read_jacobians(json_reader *r, const cJSON *object, const stn_problem *p, int32_t i) {
    stn_constraint *c = &p->constraints[i];
    const cJSON *array = json_array(r, object, "J", p->form == STN_FORM_LOCAL ? JSON_OPTIONAL : 0);
    int64_t count = array != NULL ? json_length(array) : 0;
    if (count > p->tree_count || (count < 1 && p->form == STN_FORM_GLOBAL)) {
        json_fail(r, "J", "%lld blocks, expected 1 to %d, one for each tree", (long long)count, p->tree_count);
        return;
    }
    stn_jacobian *more = count > 2 ? json_allocate(r, count - 2, sizeof *more) : NULL;
    c->more = more;
    c->more_count = more != NULL ? (int32_t)count - 2 : 0;
    int32_t side = 0;
    for (const cJSON *item = array != NULL ? array->child : NULL; item != NULL && r->status == STN_OK;
         item = item->next) {
        set_where(r, "constraints[%d].J[%d].", i, side);
        const cJSON *block = checked_object(r, item, "", jacobian_keys);
        stn_jacobian *J = side < 2 ? &c->J[side] : &more[side - 2];
        side++;
        if (block == NULL) {
            return;
        }
        J->tree = (int32_t)json_integer(r, block, "tree", 0, p->tree_count - 1, 0, 0);
        const cJSON *nodes = json_array(r, block, "node", JSON_OPTIONAL);
        int64_t node_count = nodes != NULL ? json_length(nodes) : 0;
        if (node_count > STN_MAX_NODES) {
            json_fail(r, "node", "%lld nodes, at most %d fit", (long long)node_count, STN_MAX_NODES);
        }
        char text[16];
        snprintf(text, sizeof text, "%d", (int)node_count);
        const int32_t *node = nodes != NULL ? json_integers(r, block, "node", node_count, text, 0) : NULL;
        if (node != NULL) {
            const stn_matrix *A = &p->trees[J->tree].A;
            const int64_t usual = A->form == STN_MATRIX_NODAL ? A->node_size : 3;
            J->node_count = (int32_t)node_count;
            J->node_size = (int32_t)json_integer(r, block, "node_size", 1, STN_MAX_NODE_SIZE, JSON_OPTIONAL, usual);
            memcpy(J->node, node, (size_t)node_count * sizeof *node);
        }
        int64_t columns = r->status == STN_OK ? stn_jacobian_columns(p, J) : 0;
        J->values = json_reals(r, block, "values", c->rows * columns,
                               J->node_count > 0 ? "rows * node_size * nodes" : "rows * n of the tree", 0);
    }
    set_where(r, "constraints[%d].", i);
}

static void read_reporting(json_reader *r, const cJSON *object, stn_constraint *c) {
    const double *point = json_reals(r, object, "point", 3, "3", JSON_OPTIONAL | JSON_SPECIAL);
    const double *frame = json_reals(r, object, "frame", 9, "9", JSON_OPTIONAL | JSON_SPECIAL);
    const int32_t *body = json_integers(r, object, "body", 2, "2", JSON_OPTIONAL);
    const double *anchor = json_reals(r, object, "anchor", 2, "2", JSON_OPTIONAL);
    for (int32_t k = 0; anchor != NULL && k < 2; k++) {
        c->anchor[k] = anchor[k];
    }
    for (int32_t k = 0; k < 9; k++) {
        c->frame.m[k / 3][k % 3] = frame != NULL ? frame[k] : (double)NAN;
    }
    c->point = point != NULL ? stn_vec3_make(point[0], point[1], point[2])
                             : stn_vec3_make((double)NAN, (double)NAN, (double)NAN);
    c->body[0] = body != NULL ? body[0] : -1;
    c->body[1] = body != NULL ? body[1] : -1;
    c->memory = (int32_t)json_integer(r, object, "memory", -1, INT32_MAX, JSON_OPTIONAL, -1);
    c->contact = (int32_t)json_integer(r, object, "contact", -1, INT32_MAX, JSON_OPTIONAL, -1);
    c->patch = (int32_t)json_integer(r, object, "patch", -1, INT32_MAX, JSON_OPTIONAL, -1);
}

static void read_constraint(json_reader *r, const cJSON *object, stn_problem *p, int32_t i) {
    stn_constraint *c = &p->constraints[i];
    const char *kinds[STN_CONSTRAINT_KIND_COUNT], *sets[STN_SET_COUNT];
    for (int32_t k = 0; k < STN_CONSTRAINT_KIND_COUNT; k++) {
        kinds[k] = stn_constraint_kind_name((stn_constraint_kind)k);
    }
    for (int32_t k = 0; k < STN_SET_COUNT; k++) {
        sets[k] = stn_constraint_set_name((stn_constraint_set)k);
    }
    c->J[0].tree = c->J[1].tree = -1;
    const char *text = json_text(r, object, "id", 0);
    size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
    bool fits = digits > 0 && text[digits] == '\0';
    for (size_t k = 0; k < digits && fits; k++) {
        uint64_t digit = (uint64_t)(text[k] - '0');
        fits = c->id <= (UINT64_MAX - digit) / 10;
        c->id = 10 * c->id + digit;
    }
    if (text != NULL && !fits) {
        json_fail(r, "id", "'%.24s', expected a whole number of 64 bits as a decimal text", text);
    }
    c->kind = (stn_constraint_kind)json_choice(r, object, "kind", kinds, STN_CONSTRAINT_KIND_COUNT, 0, 0);
    c->set = (stn_constraint_set)json_choice(r, object, "set", sets, STN_SET_COUNT, 0, 0);
    c->rows = (int32_t)json_integer(r, object, "rows", 1, STN_MAX_ROWS, 0, 1);
    c->row = p->row_count;
    p->row_count += c->rows;
    const struct {
        const char *key;
        double *value;
    } members[] = {
        {"phi0", &c->phi0},
        {"stiffness", &c->stiffness},
        {"relaxation_time", &c->relaxation_time},
        {"dissipation", &c->dissipation},
        {"mu1", &c->mu1},
        {"mu2", &c->mu2},
        {"restitution", &c->restitution},
        {"w", &c->w},
        {"w_trace", &c->w_trace},
        {"gamma_n0", &c->gamma_n0},
        {"vn0", &c->vn0},
    };
    for (int32_t k = 0; k < STN_COUNT(members); k++) {
        *members[k].value = json_real(r, object, members[k].key, JSON_OPTIONAL | JSON_SPECIAL);
    }
    read_reporting(r, object, c);
    read_jacobians(r, object, p, i);
}

/// The per-row vectors of a constraint into those of the problem.
static void read_rows(json_reader *r, const cJSON *object, stn_problem *p, const stn_constraint *c) {
    bool box = c->set == STN_SET_BOX;
    const struct {
        const char *key;
        double *values;
        double absent;
        uint32_t flags;
    } vectors[] = {
        {"bias", p->bias, 0.0, JSON_OPTIONAL},
        {"gamma_guess", p->gamma_guess, 0.0, JSON_OPTIONAL},
        {"lo", p->lo, -(double)INFINITY, JSON_SPECIAL | (box ? 0 : JSON_OPTIONAL)},
        {"hi", p->hi, (double)INFINITY, JSON_SPECIAL | (box ? 0 : JSON_OPTIONAL)},
        {"R", p->R, (double)NAN, JSON_SPECIAL | JSON_OPTIONAL},
        {"v_hat", p->v_hat, (double)NAN, JSON_SPECIAL | JSON_OPTIONAL},
        {"phi", p->phi, (double)NAN, JSON_SPECIAL | JSON_OPTIONAL},
    };
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        const double *values = json_reals(r, object, vectors[k].key, c->rows, "rows", vectors[k].flags);
        for (int32_t a = 0; a < c->rows && r->status == STN_OK; a++) {
            vectors[k].values[c->row + a] = values != NULL ? values[a] : vectors[k].absent;
        }
    }
}

static void read_constraints(json_reader *r, const cJSON *root, stn_problem *p) {
    const cJSON *array = json_array(r, root, "constraints", 0);
    int64_t count = array != NULL ? json_length(array) : 0;
    if (count > JSON_MAX_NUMBERS / STN_MAX_ROWS) {
        json_fail(r, "constraints", "%lld are too many", (long long)count);
    }
    p->constraints = json_allocate(r, count, sizeof *p->constraints);
    p->constraint_count = (int32_t)count;
    const cJSON *first = array != NULL ? array->child : NULL;
    int32_t i = 0;
    for (const cJSON *item = first; item != NULL && r->status == STN_OK; item = item->next, i++) {
        set_where(r, "constraints[%d].", i);
        if (checked_object(r, item, "", constraint_keys) != NULL) {
            read_constraint(r, item, p, i);
        }
    }
    double **vectors[] = {&p->bias, &p->gamma_guess, &p->lo, &p->hi, &p->R, &p->v_hat, &p->phi};
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        *vectors[k] = json_allocate(r, p->row_count, sizeof(double));
    }
    i = 0;
    for (const cJSON *item = first; item != NULL && r->status == STN_OK; item = item->next, i++) {
        set_where(r, "constraints[%d].", i);
        read_rows(r, item, p, &p->constraints[i]);
    }
    bool any = false; // NULL says that no row has an error of its own
    for (int32_t row = 0; r->status == STN_OK && row < p->row_count; row++) {
        any = any || !isnan(p->phi[row]);
    }
    p->phi = any ? p->phi : NULL;
    set_where(r, "%s", "");
}

static void read_local(json_reader *r, const cJSON *root, stn_problem *p) {
    int64_t rows = p->row_count;
    if (rows * rows > JSON_MAX_NUMBERS) {
        json_fail(r, "W", "a W of %lld rows is not read", (long long)rows);
    }
    p->W = json_reals(r, root, "W", rows * rows, "rows*rows", 0);
    p->q = json_reals(r, root, "q", rows, "rows", 0);
    p->general_W = json_bool(r, root, "general_W");
    const cJSON *s = json_array(r, root, "s", JSON_OPTIONAL);
    int64_t bilateral = s != NULL ? json_length(s) : 0;
    if (bilateral * bilateral > JSON_MAX_NUMBERS) {
        json_fail(r, "s", "%lld bilateral rows are too many", (long long)bilateral);
    }
    if (bilateral > 0) {
        p->bilateral_count = (int32_t)bilateral;
        p->V = json_reals(r, root, "V", rows * bilateral, "rows * length of s", 0);
        p->R_bilateral = json_reals(r, root, "R_bilateral", bilateral * bilateral, "length of s, squared", 0);
        p->s = json_reals(r, root, "s", bilateral, "length of s", 0);
    }
}

void json_read_problem_2(json_reader *r, const cJSON *root, stn_problem *p) {
    *p = (stn_problem){0};
    json_check_keys(r, root, problem_keys);
    const char *name = json_text(r, root, "name", JSON_OPTIONAL);
    p->form = (stn_problem_form)json_choice(r, root, "form", problem_form_names, STN_COUNT(problem_form_names), 0, 0);
    p->velocity_kind =
        (stn_velocity_kind)json_choice(r, root, "velocity_kind", problem_velocity_names,
                                       STN_COUNT(problem_velocity_names), JSON_OPTIONAL, STN_VELOCITY_END);
    double theta = json_real(r, root, "theta", JSON_OPTIONAL);
    p->theta = isnan(theta) ? 1.0 : theta;
    p->dt = json_real(r, root, "dt", 0);
    p->beta = json_real(r, root, "beta", JSON_OPTIONAL | JSON_SPECIAL);
    p->sigma = json_real(r, root, "sigma", JSON_OPTIONAL | JSON_SPECIAL);
    p->stiction_tolerance = json_real(r, root, "stiction_tolerance", JSON_OPTIONAL | JSON_SPECIAL);
    p->explicit_R = json_bool(r, root, "explicit_R");
    read_trees(r, root, p);
    p->v_star = json_reals(r, root, "v_star", p->nv, "nv", p->form == STN_FORM_LOCAL ? JSON_OPTIONAL : 0);
    double **optional[] = {&p->v0, &p->v_guess};
    static const char *const keys[] = {"v0", "v_guess"};
    for (int32_t k = 0; k < STN_COUNT(optional); k++) {
        *optional[k] = json_reals(r, root, keys[k], p->nv, "nv", JSON_OPTIONAL);
        if (*optional[k] == NULL && p->v_star != NULL) {
            *optional[k] = json_allocate(r, p->nv, sizeof(double));
            if (*optional[k] != NULL) {
                memcpy(*optional[k], p->v_star, (size_t)p->nv * sizeof(double));
            }
        }
    }
    p->free_impulse = json_reals(r, root, "free_impulse", p->nv, "nv", JSON_OPTIONAL);
    read_constraints(r, root, p);
    if (p->form == STN_FORM_LOCAL) {
        read_local(r, root, p);
    }
    static const char *const local_keys[] = {"W", "q", "V", "R_bilateral",
                                             "s"}; // a global one would silently lose them
    for (int32_t k = 0; k < STN_COUNT(local_keys) && p->form != STN_FORM_LOCAL; k++) {
        const cJSON *item = json_find(r, root, local_keys[k], JSON_OPTIONAL);
        if (item != NULL && !cJSON_IsNull(item)) {
            json_fail(r, local_keys[k], "only a problem of form 'local' has it");
        }
    }
    if (name != NULL && r->status == STN_OK) {
        size_t size = strlen(name) + 1;
        char *copy = json_allocate(r, (int64_t)size, 1);
        p->name = copy != NULL ? memcpy(copy, name, size) : NULL;
    }
}
