// SPDX-License-Identifier: Apache-2.0
// Walks over the tree of a mesh. Four boxes are tested at a time; what a test lets pass is looked at exactly.
#include "geometry/mesh_tree.h"
#include "geometry/triangle.h"

/// Shares of a cell by which ranges are wider than computed, so that rounding loses no cell.
static const double cell_slack = 1e-9;

/// A ray seen from above, in units of cells: strips of cells across the axis along which it crosses more of them.
typedef struct grid_walk {
    const stn_mesh *mesh;
    bool along_rows;           // strips are rows, else columns
    double strip0, strip_rate; // coordinate across strips, and per length of the ray
    double cell0, cell_rate;   // along them
    double z, z_rate, length, slack;
    int32_t strip, last, step;
    bool done;
} grid_walk;

/// The cells that the ray may touch in one strip, and the heights between which it runs there.
typedef struct grid_strip {
    stn_grid_cells cells;
    double low, high;
} grid_strip;

// ---------------------------------------------------------------------------------------- cells of height fields

/// Cells from coordinate `low` to `high`, in cells; `count` are there. Nothing: start = end.
static void cell_range(double low, double high, int32_t count, int32_t *start, int32_t *end) {
    *start = *end = 0;
    if (low <= count + cell_slack && high >= -cell_slack) { // false for NaN
        double first = fmin(fmax(floor(low - cell_slack), 0.0), count - 1.0);
        double last = fmin(fmax(floor(high + cell_slack), 0.0), count - 1.0);
        *start = (int32_t)first;
        *end = (int32_t)last + 1;
    }
}

stn_grid_cells stn_grid_cells_under(const stn_mesh *mesh, const stn_aabb *box) {
    const stn_grid *g = &mesh->grid;
    stn_grid_cells cells = {0};
    cell_range((box->lower.x - g->x) / g->dx, (box->upper.x - g->x) / g->dx, g->columns - 1, &cells.column_start,
               &cells.column_end);
    cell_range((box->lower.y - g->y) / g->dy, (box->upper.y - g->y) / g->dy, g->rows - 1, &cells.row_start,
               &cells.row_end);
    if (cells.column_start == cells.column_end || cells.row_start == cells.row_end) {
        return (stn_grid_cells){0};
    }
    return cells;
}

int32_t stn_grid_triangle_at(const stn_mesh *mesh, double x, double y) {
    const stn_grid *g = &mesh->grid;
    if (!(fabs(x) <= -g->x && fabs(y) <= -g->y)) {
        return -1;
    }
    double u = (x - g->x) / g->dx, v = (y - g->y) / g->dy;
    double column = fmin(floor(u), g->columns - 2.0), row = fmin(floor(v), g->rows - 2.0);
    int32_t first = 2 * ((int32_t)row * (g->columns - 1) + (int32_t)column);
    return u - column >= v - row ? first : first + 1;
}

double stn_grid_height(const stn_mesh *mesh, double x, double y) {
    int32_t at = stn_grid_triangle_at(mesh, x, y);
    if (at < 0) {
        return NAN;
    }
    const int32_t *ids = mesh->triangles + 3 * (size_t)at;
    stn_vec3 a = mesh_vertex(mesh->vertices, ids[0]), b = mesh_vertex(mesh->vertices, ids[1]),
             c = mesh_vertex(mesh->vertices, ids[2]);
    double u = (x - a.x) / mesh->grid.dx, v = (y - a.y) / mesh->grid.dy;
    // a - b runs along x and b - c along y in the first at of a cell, a - c along y and c - b along x in the
    // other
    return at % 2 == 0 ? a.z + u * (b.z - a.z) + v * (c.z - b.z) : a.z + v * (c.z - a.z) + u * (b.z - c.z);
}

// ----------------------------------------------------------------------------------------------- rays over cells

/// `start` and the end after `length` lie within the bounds of the mesh, or nearly.
static grid_walk grid_walk_begin(const stn_mesh *mesh, stn_vec3 start, stn_vec3 direction, double length) {
    const stn_grid *g = &mesh->grid;
    double u = (start.x - g->x) / g->dx, v = (start.y - g->y) / g->dy, du = direction.x / g->dx,
           dv = direction.y / g->dy;
    stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
    grid_walk walk = {.mesh = mesh,
                      .along_rows = fabs(dv) > fabs(du),
                      .z = start.z,
                      .z_rate = direction.z,
                      .length = length,
                      .slack = 1e-7 * fmax(size.x, fmax(size.y, size.z)) + 1e-14 * fabs(start.z)};
    walk.strip0 = walk.along_rows ? v : u;
    walk.strip_rate = walk.along_rows ? dv : du;
    walk.cell0 = walk.along_rows ? u : v;
    walk.cell_rate = walk.along_rows ? du : dv;
    walk.step = walk.strip_rate < 0.0 ? -1 : 1;
    int32_t count = (walk.along_rows ? g->rows : g->columns) - 1, start_strip, end_strip;
    double other = walk.strip0 + walk.strip_rate * length;
    cell_range(fmin(walk.strip0, other), fmax(walk.strip0, other), count, &start_strip, &end_strip);
    walk.done = start_strip == end_strip;
    walk.strip = walk.step > 0 ? start_strip : end_strip - 1;
    walk.last = walk.step > 0 ? end_strip - 1 : start_strip;
    return walk;
}

/// Lengths of the ray between which it lies in the strip.
static void strip_lengths(const grid_walk *walk, double *from, double *to) {
    *from = 0.0;
    *to = walk->length;
    if (walk->strip_rate != 0.0) {
        double side = walk->step > 0 ? 0.0 : 1.0;
        double enter = (walk->strip + side - walk->strip0) / walk->strip_rate,
               leave = (walk->strip + 1.0 - side - walk->strip0) / walk->strip_rate;
        *from = fmin(fmax(enter, 0.0), walk->length);
        *to = fmin(fmax(leave, 0.0), walk->length);
    }
}

/// The next strip along the ray; false behind the last.
static bool grid_walk_next(grid_walk *walk, grid_strip *strip) {
    if (walk->done) {
        return false;
    }
    const stn_grid *g = &walk->mesh->grid;
    double from, to;
    strip_lengths(walk, &from, &to);
    double a = walk->cell0 + walk->cell_rate * from, b = walk->cell0 + walk->cell_rate * to;
    int32_t start, end, count = (walk->along_rows ? g->columns : g->rows) - 1;
    cell_range(fmin(a, b), fmax(a, b), count, &start, &end);
    if (walk->along_rows) {
        strip->cells = (stn_grid_cells){walk->strip, walk->strip + 1, start, end};
    } else {
        strip->cells = (stn_grid_cells){start, end, walk->strip, walk->strip + 1};
    }
    double z_a = walk->z + walk->z_rate * from, z_b = walk->z + walk->z_rate * to;
    strip->low = fmin(z_a, z_b) - walk->slack;
    strip->high = fmax(z_a, z_b) + walk->slack;
    walk->done = walk->strip == walk->last;
    walk->strip += walk->step;
    return true;
}

/// Does some part of the cell lie between two heights?
static bool grid_cell_reaches(const stn_mesh *mesh, int32_t row, int32_t column, double low, double high) {
    const double *p = mesh->vertices + 3 * ((size_t)row * (size_t)mesh->grid.columns + (size_t)column);
    const double *q = p + 3 * (size_t)mesh->grid.columns;
    double least = fmin(fmin(p[2], p[5]), fmin(q[2], q[5])), most = fmax(fmax(p[2], p[5]), fmax(q[2], q[5]));
    return least <= high && most >= low;
}

stn_vec3 stn_mesh_triangle_normal(const stn_mesh *mesh, int32_t id) {
    triangle t = triangle_of(mesh, id);
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(t.b, t.a), stn_vec3_sub(t.c, t.a));
    return stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
}

// --------------------------------------------------------------------------------------------------------- boxes

static bool range_meets(double a, double b, double c, double low, double high) {
    return (a <= high || b <= high || c <= high) && (a >= low || b >= low || c >= low);
}

/// Visits the triangle when its own box overlaps; false when the visitor ends the query.
static bool visit_triangle(const stn_mesh *mesh, int32_t id, const stn_aabb *box, stn_triangle_visitor visit,
                           void *user) {
    triangle t = triangle_of(mesh, id);
    bool meets = range_meets(t.a.x, t.b.x, t.c.x, box->lower.x, box->upper.x) &&
                 range_meets(t.a.y, t.b.y, t.c.y, box->lower.y, box->upper.y) &&
                 range_meets(t.a.z, t.b.z, t.c.z, box->lower.z, box->upper.z);
    return !meets || visit(user, id);
}

static bool visit_cells(const stn_mesh *mesh, const stn_aabb *box, stn_triangle_visitor visit, void *user) {
    stn_grid_cells cells = stn_grid_cells_under(mesh, box);
    for (int32_t r = cells.row_start; r < cells.row_end; r++) {
        for (int32_t c = cells.column_start; c < cells.column_end; c++) {
            int32_t first = 2 * (r * (mesh->grid.columns - 1) + c);
            if (!visit_triangle(mesh, first, box, visit, user) || !visit_triangle(mesh, first + 1, box, visit, user)) {
                return false;
            }
        }
    }
    return true;
}

/// In the tree's units, cut off just outside of it: far values stay finite, infinite ones become so.
static void local_box(const mesh_tree *tree, const stn_aabb *box, lanes lower[3], lanes upper[3]) {
    stn_vec3 low = tree_local(tree, box->lower), high = tree_local(tree, box->upper);
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    for (int32_t axis = 0; axis < 3; axis++) {
        lower[axis] = lanes_of((float)fmin(fmax(l[axis], -2.0), 2.0));
        upper[axis] = lanes_of((float)fmin(fmax(h[axis], -2.0), 2.0));
    }
}

static bool visit_tree(const stn_mesh *mesh, const mesh_tree *tree, const stn_aabb *box, stn_triangle_visitor visit,
                       void *user) {
    lanes lower[3], upper[3];
    local_box(tree, box, lower, upper);
    int32_t stack[TREE_STACK], count = 0;
    stack[count++] = 0;
    while (count > 0) {
        const tree_node *node = &tree->nodes[stack[--count]];
        lane_mask mask = (node->lower[0] <= upper[0]) & (lower[0] <= node->upper[0]);
        mask &= (node->lower[1] <= upper[1]) & (lower[1] <= node->upper[1]);
        mask &= (node->lower[2] <= upper[2]) & (lower[2] <= node->upper[2]);
        for (int32_t k = 0; k < LANES; k++) {
            if (mask[k] && node->child[k] >= 0) {
                stack[count++] = node->child[k];
            } else if (mask[k] && !visit_triangle(mesh, ~node->child[k], box, visit, user)) {
                return false;
            }
        }
    }
    return true;
}

bool stn_mesh_visit(const stn_mesh *mesh, const stn_aabb *box, stn_triangle_visitor visit, void *user) {
    bool meets = box->lower.x <= box->upper.x && box->lower.y <= box->upper.y && box->lower.z <= box->upper.z;
    if (!meets) {
        return true; // empty, or not a number
    }
    if (mesh->grid.rows > 0) {
        return visit_cells(mesh, box, visit, user);
    }
    const mesh_tree *tree = mesh_tree_of(mesh);
    if (tree != NULL) {
        return visit_tree(mesh, tree, box, visit, user);
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        if (!visit_triangle(mesh, i, box, visit, user)) {
            return false;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- nearest point

typedef double wide_lanes __attribute__((vector_size(32)));
typedef int64_t wide_mask __attribute__((vector_size(32)));

/// A node that waits to be looked at, and the least that it can offer.
typedef struct waiting {
    double least;
    int32_t node;
} waiting;

static void look_nearest(const stn_mesh *mesh, int32_t id, stn_vec3 p, stn_mesh_point *best) {
    triangle t = triangle_of(mesh, id);
    stn_vec3 q = triangle_nearest(&t, p);
    double distance = stn_vec3_norm(stn_vec3_sub(q, p));
    if (distance < best->distance || (distance == best->distance && (best->triangle < 0 || id < best->triangle))) {
        *best = (stn_mesh_point){id, q, distance};
    }
}

/// Squared distances from p to the boxes, everything in the tree's units.
static wide_lanes box_distances(const tree_node *node, const double p[3]) {
    wide_lanes sum = {0.0, 0.0, 0.0, 0.0}, zero = sum;
    for (int32_t axis = 0; axis < 3; axis++) {
        wide_lanes x = {p[axis], p[axis], p[axis], p[axis]};
        wide_lanes below = __builtin_convertvector(node->lower[axis], wide_lanes) - x;
        wide_lanes above = x - __builtin_convertvector(node->upper[axis], wide_lanes);
        wide_mask first = below > above;
        wide_lanes d = (wide_lanes)((first & (wide_mask)below) | (~first & (wide_mask)above));
        wide_mask outside = d > zero;
        d = (wide_lanes)(outside & (wide_mask)d);
        sum += d * d;
    }
    return sum;
}

/// Appends a node so that the `count` newest, those of one parent, stay sorted with the most promising one last.
static void push_sorted(waiting *stack, int32_t *end, int32_t count, waiting item) {
    int32_t at = (*end)++;
    while (count > 0 && stack[at - 1].least < item.least) {
        stack[at] = stack[at - 1];
        at--;
        count--;
    }
    stack[at] = item;
}

static void nearest_in_tree(const stn_mesh *mesh, const mesh_tree *tree, stn_vec3 point, stn_mesh_point *best) {
    stn_vec3 local = tree_local(tree, point);
    const double p[3] = {local.x, local.y, local.z};
    waiting stack[TREE_STACK];
    int32_t count = 0;
    stack[count++] = (waiting){0.0, 0};
    while (count > 0) {
        waiting top = stack[--count];
        double reach = tree->scale * best->distance, limit = reach * reach * (1.0 + 1e-9); // beyond it by rounding
        if (top.least > limit) {
            continue;
        }
        const tree_node *node = &tree->nodes[top.node];
        wide_lanes distance = box_distances(node, p);
        int32_t pushed = 0;
        for (int32_t k = 0; k < LANES; k++) {
            if (distance[k] > limit || distance[k] == (double)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                push_sorted(stack, &count, pushed++, (waiting){distance[k], node->child[k]});
            } else {
                look_nearest(mesh, ~node->child[k], point, best);
            }
        }
    }
}

static bool visit_ball_in_tree(const mesh_tree *tree, stn_vec3 centre, double radius, stn_triangle_visitor visit,
                               void *user) {
    stn_vec3 local = tree_local(tree, centre);
    const double p[3] = {local.x, local.y, local.z}, reach = tree->scale * radius;
    double limit = reach * reach * (1.0 + 1e-9); // beyond it by rounding
    int32_t stack[TREE_STACK], count = 0;
    stack[count++] = 0;
    while (count > 0) {
        const tree_node *node = &tree->nodes[stack[--count]];
        wide_lanes distance = box_distances(node, p);
        for (int32_t k = 0; k < LANES; k++) {
            if (distance[k] > limit || distance[k] == (double)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                stack[count++] = node->child[k];
            } else if (!visit(user, ~node->child[k])) {
                return false;
            }
        }
    }
    return true;
}

bool stn_mesh_visit_ball(const stn_mesh *mesh, stn_vec3 centre, double radius, stn_triangle_visitor visit, void *user) {
    if (!stn_vec3_finite(centre) || !(radius >= 0.0)) {
        return true;
    }
    const mesh_tree *tree = mesh_tree_of(mesh);
    if (tree != NULL) {
        return visit_ball_in_tree(tree, centre, radius, visit, user);
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        if (!visit(user, i)) {
            return false;
        }
    }
    return true;
}

bool stn_mesh_nearest(const stn_mesh *mesh, stn_vec3 point, double radius, stn_mesh_point *out) {
    if (!stn_vec3_finite(point) || !(radius >= 0.0)) {
        return false;
    }
    stn_mesh_point best = {-1, point, radius};
    const mesh_tree *tree = mesh_tree_of(mesh);
    if (tree != NULL) {
        nearest_in_tree(mesh, tree, point, &best);
    } else {
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            look_nearest(mesh, i, point, &best);
        }
    }
    if (best.triangle >= 0) {
        *out = best;
    }
    return best.triangle >= 0;
}

// ---------------------------------------------------------------------------------------------------------- rays

/// A ray in the tree's units.
typedef struct tree_ray {
    lanes origin[3], inverse[3];
    bool back[3]; // the direction points down this axis: the upper plane comes first
} tree_ray;

/// `start`: a point of the ray within the tree's box, or nearly.
static tree_ray make_tree_ray(stn_vec3 start, stn_vec3 direction) {
    const double o[3] = {start.x, start.y, start.z}, d[3] = {direction.x, direction.y, direction.z};
    tree_ray ray;
    for (int32_t axis = 0; axis < 3; axis++) {
        double size = fmax(fabs(d[axis]), 1e-30); // below, the ray stays within the margin of the boxes
        ray.back[axis] = d[axis] < 0.0;
        ray.origin[axis] = lanes_of((float)o[axis]);
        ray.inverse[axis] = lanes_of((float)((ray.back[axis] ? -1.0 : 1.0) / size));
    }
    return ray;
}

/// Where the ray enters the boxes, in the tree's units; infinite where it does not within [0, end].
static lanes enter_boxes(const tree_node *node, const tree_ray *ray, float end) {
    lanes enter = lanes_of(0.0F), leave = lanes_of(end);
    for (int32_t axis = 0; axis < 3; axis++) {
        lanes near = ray->back[axis] ? node->upper[axis] : node->lower[axis];
        lanes far = ray->back[axis] ? node->lower[axis] : node->upper[axis];
        near = (near - ray->origin[axis]) * ray->inverse[axis];
        far = (far - ray->origin[axis]) * ray->inverse[axis];
        enter = select_lanes(near > enter, near, enter);
        leave = select_lanes(far < leave, far, leave);
    }
    return select_lanes(enter <= leave, enter, lanes_of((float)INFINITY));
}

/// Parameters between which the ray lies in the bounds of the mesh, grown a little on every side; false: nowhere.
static bool clip_ray(const stn_aabb *bounds, stn_vec3 origin, stn_vec3 direction, double *from, double *to) {
    const double o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    const double lower[3] = {bounds->lower.x, bounds->lower.y, bounds->lower.z};
    const double upper[3] = {bounds->upper.x, bounds->upper.y, bounds->upper.z};
    stn_vec3 size = stn_vec3_sub(bounds->upper, bounds->lower);
    double slack = 1e-7 * fmax(size.x, fmax(size.y, size.z));
    for (int32_t axis = 0; axis < 3; axis++) {
        double own = slack + 1e-14 * fabs(o[axis]), low = lower[axis] - own - o[axis],
               high = upper[axis] + own - o[axis];
        if (d[axis] == 0.0) {
            if (low > 0.0 || high < 0.0) {
                return false;
            }
            continue;
        }
        double near = (d[axis] > 0.0 ? low : high) / d[axis], far = (d[axis] > 0.0 ? high : low) / d[axis];
        *from = fmax(*from, near);
        *to = fmin(*to, far);
    }
    return *from <= *to;
}

/// Candidates of one ray, measured from `start`, a point on it.
typedef struct search {
    triangle_ray ray;
    double before, most; // from the origin to `start`; the longest allowed from the origin
    double best;         // from `start`; infinite: none yet
    int32_t triangle;
} search;

static void look_ray(const stn_mesh *mesh, int32_t id, search *s) {
    triangle t = triangle_of(mesh, id);
    double at;
    if (!triangle_meet(&t, &s->ray, &at)) {
        return;
    }
    double whole = s->before + at;
    bool nearer = at < s->best || (at == s->best && id < s->triangle);
    if (nearer && whole >= 0.0 && whole <= s->most) {
        s->best = at;
        s->triangle = id;
    }
}

static void raycast_tree(const stn_mesh *mesh, const mesh_tree *tree, stn_vec3 start, stn_vec3 direction, double length,
                         search *s) {
    tree_ray ray = make_tree_ray(tree_local(tree, start), direction);
    waiting stack[TREE_STACK];
    int32_t count = 0;
    stack[count++] = (waiting){0.0, 0};
    while (count > 0) {
        waiting top = stack[--count];
        double end = (fmin(s->best, length) * tree->scale) * (1.0 + 0x1p-20) + (double)TREE_MARGIN;
        if (top.least > end) {
            continue;
        }
        const tree_node *node = &tree->nodes[top.node];
        lanes enter = enter_boxes(node, &ray, (float)fmin(end, 16.0));
        int32_t pushed = 0;
        for (int32_t k = 0; k < LANES; k++) {
            if (enter[k] == (float)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                push_sorted(stack, &count, pushed++, (waiting){(double)enter[k], node->child[k]});
            } else {
                look_ray(mesh, ~node->child[k], s);
            }
        }
    }
}

/// Cell by cell along the ray: a strip behind the first one that is met holds nothing nearer.
static void raycast_grid(const stn_mesh *mesh, stn_vec3 start, stn_vec3 direction, double length, search *s) {
    grid_walk walk = grid_walk_begin(mesh, start, direction, length);
    grid_strip strip;
    while (s->triangle == INT32_MAX && grid_walk_next(&walk, &strip)) {
        const stn_grid_cells *cells = &strip.cells;
        for (int32_t r = cells->row_start; r < cells->row_end; r++) {
            for (int32_t c = cells->column_start; c < cells->column_end; c++) {
                if (grid_cell_reaches(mesh, r, c, strip.low, strip.high)) {
                    int32_t first = 2 * (r * (mesh->grid.columns - 1) + c);
                    look_ray(mesh, first, s);
                    look_ray(mesh, first + 1, s);
                }
            }
        }
    }
}

bool stn_mesh_raycast(const stn_mesh *mesh, stn_vec3 origin, stn_vec3 direction, double max, stn_mesh_point *out) {
    double from = 0.0, to = max;
    bool sound = stn_vec3_finite(origin) && stn_vec3_finite(direction) && max >= 0.0;
    sound = sound && stn_vec3_norm(direction) > 0.0;
    if (!sound || !clip_ray(&mesh->bounds, origin, direction, &from, &to)) {
        return false;
    }
    stn_vec3 start = stn_vec3_mul_add(origin, from, direction);
    search s = {triangle_ray_make(start, direction), from, max, (double)INFINITY, INT32_MAX};
    const mesh_tree *tree = mesh->grid.rows > 0 ? NULL : mesh_tree_of(mesh);
    if (mesh->grid.rows > 0) {
        raycast_grid(mesh, start, direction, to - from, &s);
    } else if (tree != NULL) {
        raycast_tree(mesh, tree, start, direction, to - from, &s);
    } else {
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            look_ray(mesh, i, &s);
        }
    }
    if (s.triangle == INT32_MAX) {
        return false;
    }
    double distance = s.before + s.best;
    *out = (stn_mesh_point){s.triangle, stn_vec3_mul_add(origin, distance, direction), distance};
    return true;
}
