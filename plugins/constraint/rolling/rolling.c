// SPDX-License-Identifier: Apache-2.0
// Rolling and torsional friction: rows beside every contact of some links. With the normal n, the normal force f_n of
// the step before and the velocity omega = omega_B - omega_A of the turn of one body against the other,
//
//     |tau_t| <= rolling f_n      against omega_t = omega - (n . omega) n,
//     |tau_n| <= torsional f_n    against n . omega,
//
// Coulomb's law for torques, with coefficients that are lengths. Three rows: along the omega_t of the step's start,
// with the bound; across it, where the disc |tau_t| <= rolling f_n has the slope rolling f_n / |omega_t| as long as it
// rolls, and is as stiff as the first while it does not; about n. Bodies that are held creep by R tau (problem.h) along
// their load, so that the first row points along it in the next step: the disc has no corners at rest either.
#include <math.h>
#include <stiction/plugin.h>

typedef struct rolling {
    double rolling, torsional;
    bool among;
} rolling;

static const stn_param params[] = {
    STN_PARAM_REAL(rolling, rolling, "m", 0.0, 0.0, INFINITY, "torque against rolling per normal force"),
    STN_PARAM_REAL(rolling, torsional, "m", 0.0, 0.0, INFINITY, "torque against spinning per normal force"),
    STN_PARAM_BOOL(rolling, among, false, "only contacts whose two links are both named"),
};

enum { ALONG, ACROSS, SPIN }; // parts

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const rolling *r = self;
    (void)model;
    int32_t links = 0;
    for (int32_t i = 0; i < described->end_count; i++) {
        if (described->ends[i].joint >= 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "it acts on contacts of links, not on joints; name links");
        }
        links += described->ends[i].link >= 0;
    }
    if (r->rolling == 0.0 && r->torsional == 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "rolling and torsional are both 0; give one of them");
    }
    if (links == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "it names the world alone; name a link whose contacts it acts on");
    }
    if (r->among && described->end_count < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "with `among` it needs two links, between which the contacts are");
    }
    return STN_OK;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 0;
}

static int32_t contact_rows(const void *self, const stn_model_constraint *described) {
    const rolling *r = self;
    (void)described;
    return (r->rolling > 0.0 ? 2 : 0) + (r->torsional > 0.0 ? 1 : 0);
}

/// The links that are named.
typedef struct named_links {
    const stn_model *model;
    bool *link; // (link_count)
    bool world; // is the world named?
} named_links;

static bool is_named(const named_links *named, int32_t geometry) {
    const stn_geometry *g = &named->model->geometries[geometry];
    return (g->link >= 0 && named->link[g->link]) || (named->world && g->body == 0);
}

/// Does it act on this contact? The world counts with `among` alone: `b` left out names it too.
static bool takes(const rolling *r, const named_links *named, const stn_contact *contact) {
    if (contact->a.body < 0 || contact->b.body < 0) { // a node has no rotation
        return false;
    }
    if (r->among) {
        return is_named(named, contact->geometry_a) && is_named(named, contact->geometry_b);
    }
    int32_t a = named->model->geometries[contact->geometry_a].link;
    int32_t b = named->model->geometries[contact->geometry_b].link;
    return (a >= 0 && named->link[a]) || (b >= 0 && named->link[b]);
}

/// A contact, or the faces of a patch as one: they turn with the same two bodies, and their normal forces add up.
typedef struct footprint {
    int32_t index;    // of its first contact
    int32_t body[2];  // A, B
    stn_vec3 point;   // middle of the pressure, world [m]
    stn_vec3 normal;  // unit, from A into B
    double force;     // sum of the normal forces [N]
    stn_vec3 turning; // omega_B - omega_A at the step's start [rad/s]
} footprint;

/// That of contact `first`, and how many contacts it has.
static int32_t gather(const stn_constraint_view *view, int32_t first, footprint *out) {
    const stn_constraint_contact *contacts = view->contacts;
    const int32_t patch = contacts[first].contact->patch;
    const stn_spatial *velocity = view->kinematics->body_velocity;
    *out = (footprint){.index = contacts[first].index,
                       .body = {contacts[first].contact->a.body, contacts[first].contact->b.body}};
    int32_t i = first;
    for (; i < view->contact_count && (i == first || (patch >= 0 && contacts[i].contact->patch == patch)); i++) {
        double force = contacts[i].normal_force;
        out->point = stn_vec3_mul_add(out->point, force, contacts[i].contact->point);
        out->normal = stn_vec3_mul_add(out->normal, force, contacts[i].contact->normal);
        out->force += force;
    }
    out->point = stn_vec3_scale(1.0 / out->force, out->point);
    out->normal = stn_vec3_normalize_or(out->normal, contacts[first].contact->normal);
    out->turning = stn_vec3_sub(velocity[out->body[1]].angular, velocity[out->body[0]].angular);
    return i - first;
}

/// A row about `axis` with |torque| <= bound [N m]; `viscosity` [N m s/rad], infinite: rigid.
typedef struct torque_row {
    int32_t part;
    stn_vec3 axis;
    double bound, viscosity;
} torque_row;

static stn_status add_row(const footprint *f, const torque_row *row, double dt, stn_rows *rows, stn_error *err) {
    if (!(row->bound > 0.0)) {
        return STN_OK;
    }
    stn_row_block block = stn_row_block_default(row->part, 1);
    block.contact = f->index;
    block.point = f->point;
    block.lo[0] = -row->bound;
    block.hi[0] = row->bound;
    stn_row_block_set_spring(&block, 0.0, row->viscosity, dt);
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_rotation(rows, 0, f->body[0], stn_vec3_neg(row->axis));
        stn_rows_add_rotation(rows, 0, f->body[1], row->axis);
    }
    return status;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const rolling *r = self;
    const stn_model_constraint *described = view->described;
    named_links named = {.model = view->model, .link = STN_ARENA_ZEROED(view->arena, view->model->link_count, bool)};
    if (named.link == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < described->end_count; i++) {
        if (described->ends[i].link >= 0) {
            named.link[described->ends[i].link] = true;
        } else {
            named.world = true;
        }
    }
    stn_status status = STN_OK;
    for (int32_t i = 0, count = 0; i < view->contact_count && status == STN_OK; i += count) {
        footprint f;
        count = 1;
        if (!takes(r, &named, view->contacts[i].contact)) {
            continue;
        }
        count = gather(view, i, &f);
        if (!(f.force > 0.0)) { // new, or it did not press in the step before
            continue;
        }
        const stn_vec3 n = f.normal, turned = stn_vec3_cross(n, f.turning);
        const stn_mat3 frame = stn_contact_frame(n);
        const stn_vec3 across = stn_vec3_normalize_or(turned, stn_mat3_column(&frame, 0));
        const double speed = stn_vec3_norm(turned), bound = r->rolling * f.force;
        const torque_row three[] = {
            {ALONG, stn_vec3_cross(across, n), bound, (double)INFINITY},
            {ACROSS, across, bound, bound / speed},
            {SPIN, n, r->torsional * f.force, (double)INFINITY},
        };
        for (int32_t k = 0; k < STN_COUNT(three) && status == STN_OK; k++) {
            status = add_row(&f, &three[k], view->dt, rows, err);
        }
    }
    return status;
}

/// It has no line.
static void path(const void *self, const stn_constraint_view *view, const void *state, stn_constraint_path *out) {
    (void)self;
    (void)view;
    (void)state;
    (void)out;
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .check = check,
    .row_count = row_count,
    .emit = emit,
    .path = path,
    .contact_rows = contact_rows,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "rolling",
    .version = "1.0.0",
    .summary = "Rolling and torsional friction of the contacts of links",
    .config_size = sizeof(rolling),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
