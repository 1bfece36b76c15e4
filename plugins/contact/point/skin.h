// SPDX-License-Identifier: Apache-2.0
// A surface over nodes of a deformable (stn_surface), which this plugin calls a skin: surface*.c are about meshes that
// are rigid. What the files skin*.c share. README.md, "Surfaces of deformables", says which contacts there are.
#ifndef STN_PLUGIN_CONTACT_POINT_SKIN_H
#define STN_PLUGIN_CONTACT_POINT_SKIN_H

#include <stiction/contact.h>

#include "gjk.h"

/// A node of the tree of triangles, in depth-first order: the left child follows its parent.
typedef struct skin_node {
    stn_aabb box;         // of the triangles, without the thickness
    int32_t first, count; // in `order`
    int32_t right;        // -1: a leaf
} skin_node;

/// Most triangles of a leaf, and how deep a tree can be.
enum { SKIN_LEAF = 4, SKIN_DEEPEST = 64 };

typedef struct skin {
    const stn_surface *face;
    stn_vec3 *at;   // (vertex_count) where the tree is fitted to
    stn_vec3 *mean; // (vertex_count) of a solid: normals weighted by angles [baerentzen-2005]; else NULL
    int32_t *beside_start, *beside; // (vertex_count + 1), (2 edge_count) vertices that edges lead to from each one
    uint8_t *owned;   // (triangle_count) bits of the vertices (0 to 2) and edges (3 to 5) that are its own
    stn_vec3 *normal; // (triangle_count) unit, where the tree is fitted to; zero without an area
    int32_t *order;   // (triangle_count) near ones together
    stn_aabb *box;    // (triangle_count) in that order, without the thickness
    skin_node *node;  // the tree; its shape is that of rest
    int32_t node_count, leaf_count;
    double size; // length that tolerances are measured by: of the box at rest
    bool fitted;
} skin;

/// What prepare makes for a model.
typedef struct skins {
    stn_context *context;
    int32_t count;
    skin *items; // (count) by the model's surfaces
} skins;

stn_status skins_create(const stn_model *model, skins **out, stn_error *err);
void skins_destroy(skins *s); ///< accepts NULL
/// Warns where the surface of a geometry runs through itself at rest, when it has to meet itself: what begins inside of
/// itself has no contact there. The skin is fitted to its rest.
void skin_warn_of_crossing(const stn_model *model, const skin *s);
/// The skin of a geometry at the nodes' present places.
skin *skin_at(skins *s, const stn_contact_scene *scene, int32_t geometry);

/// A triangle at its present place.
typedef struct skin_facet {
    stn_vec3 corner[3], normal; // unit; zero when it has no area
} skin_facet;
void skin_facet_of(const skin *s, int32_t triangle, skin_facet *out);

/// Called with every triangle whose box overlaps another one.
typedef void skin_visitor(void *user, int32_t triangle);
void skin_visit(const skin *s, const stn_aabb *box, skin_visitor *visit, void *user);

/// Of one cloud?
static inline bool skin_are_kin(const skin *a, const skin *b) {
    return a->face->tree == b->face->tree;
}

/// The point of a triangle nearest to `p`, with the weights of its corners.
void skin_nearest_on(const stn_vec3 corner[3], stn_vec3 p, double weight[3]);
/// The point of a solid skin that is nearest to one in space.
typedef struct skin_nearest {
    int32_t triangle;       // -1: none within the distance that was asked for
    double weight[3];       // of its corners
    double distance;        // thickness not counted
    stn_vec3 point, normal; // there; of a face, an edge or a vertex, outwards, not unit
} skin_nearest;
skin_nearest skin_nearest_to(const skin *s, stn_vec3 p, double within);
/// The nearest one of the triangles that are admitted; -1: none within the distance.
typedef bool skin_admits(const void *user, const skin_facet *facet);
int32_t skin_nearest_of(const skin *s, stn_vec3 p, double within, skin_admits *admits, const void *user,
                        double *distance);
/// Is the point inside of a solid skin? And how far it is from the skin, thickness not counted; false with any
/// distance >= `within`.
bool skin_holds(const skin *s, stn_vec3 p, double within, double *distance);
/// Is a point, at most `depth` from the skin, inside of a solid or on it? One on it may be outside by rounding.
bool skin_has(const skin *s, stn_vec3 p, double depth, double tolerance);
/// The distance from the skin if that is below `within`, else `within`.
double skin_distance(const skin *s, stn_vec3 p, double within);

/// A triangle as a convex body; `shape` lives as long as that is used.
convex skin_triangle(const stn_vec3 corner[3], stn_shape *shape);

/// Part of a skin that carries a contact: a vertex, an edge or a triangle.
typedef struct skin_part {
    const skin *skin;
    int32_t count;     // vertices
    int32_t vertex[3]; // of the skin
    double weight[3];
    uint64_t name; // no other part of the skin has it
} skin_part;
skin_part skin_vertex_part(const skin *s, int32_t id);
skin_part skin_edge_part(const skin *s, int32_t edge, double t);
skin_part skin_face_part(const skin *s, int32_t triangle, const double weight[3]);
stn_vec3 skin_part_point(const skin_part *part);

/// Does an edge admit a contact whose other side lies in direction m (unit)? That is where neither of its triangles
/// comes nearer along m, by more than `slack` (a sine), and outside of a solid.
bool skin_edge_admits(const skin *s, int32_t edge, stn_vec3 m, double slack);

/// An edge and the triangles beside it, of a skin or a mesh.
typedef struct skin_edge {
    stn_vec3 end[2];
    int32_t side_count;
    stn_vec3 away[2]; // in the plane of each triangle, across the edge and out of it, unit; zero of one without area
    stn_vec3 mean;    // sum of their normals
    bool solid;       // what they bound
    bool goes_on[2];  // another edge leads on at the end, in about this one's direction
} skin_edge;
void skin_edge_of(const skin *s, int32_t edge, skin_edge *out);
/// Adds a triangle, whose third corner is `across`, to one with none or one.
void skin_edge_add_side(skin_edge *e, const skin_facet *f, stn_vec3 across);
bool skin_edge_is_ahead(stn_vec3 along, stn_vec3 next);
/// As skin_edge_admits.
bool skin_edge_faces(const skin_edge *e, stn_vec3 m, double slack);
static inline stn_vec3 skin_edge_point(const skin_edge *e, double t) {
    return stn_vec3_mul_add(e->end[0], t, stn_vec3_sub(e->end[1], e->end[0]));
}
/// Weights of the nearest points of two lines p + s d, q + t e, d and e between the ends; false: they are parallel, or
/// nearest beyond the ends.
bool skin_lines_cross(const stn_vec3 p[2], const stn_vec3 q[2], double *s, double *t);

/// A way out for the point of an edge at t.
typedef struct skin_edge_way {
    const skin_edge *edge;
    double t;
    double length; // a way along the edge that is no shorter counts for none
} skin_edge_way;
/// A way out over a triangle is much shorter than one across an edge, and counts instead, where it is shorter than this
/// times that one.
static const double skin_much = 0.5;
/// Does the edge come out of another body over a triangle of that (skin_admits of a skin_edge_way)? Where it lies along
/// the triangle, or runs through it and ends soon behind.
bool skin_edge_leaves_over(const void *user, const skin_facet *f);
/// Does an edge that lies below one of another body come out across that? Its point is inside of the body, where that
/// is solid, and no way out over a triangle is shorter than way->length, skin_much times the depth.
bool skin_leaves_across(const skin_edge_way *way, const skin *b);

/// Does a vertex? That is where none of its edges leads nearer, and outside of a solid.
bool skin_vertex_admits(const skin *s, int32_t id, stn_vec3 m, double slack);
/// Slack of edges and vertices: a nearly flat stretch keeps their contacts while the nearest point moves on.
static const double skin_slack = 0.5;
/// The part of skin_vertex_admits that is soon told: m does not lead into the solid.
static inline bool skin_vertex_is_outside(const skin *s, int32_t id, stn_vec3 m, double slack) {
    return s->mean == NULL || !(stn_vec3_dot(m, s->mean[id]) < -(slack < skin_slack ? slack : skin_slack));
}
/// Slack of edges beside a vertex: where they are nearest.
static const double skin_nearly = 1e-3;
/// Slack of edges that overlap: rims, also of bodies that bulge.
static const double skin_rim = 0.1;
/// Deeper than half of this times the size a vertex comes out in any direction that does not lead into its solid.
static const double skin_deep = 2e-3;
/// The slack of a vertex at a distance.
double skin_slack_at(const skin *s, double distance);
/// Where the nearest way out of a body is none for a corner, as beside a rim, another one counts that is no longer than
/// this times the size: across the whole body there is none.
static const double skin_far = 0.1;
/// Does a point lie below a triangle, or beside its rim by less than half of the depth, but for a tolerance? And how
/// deep below its plane.
bool skin_lies_below(const skin_facet *f, stn_vec3 p, double tolerance, double *depth);
/// A point inside of a solid or on it: how deep, and how long a way out may be.
typedef struct skin_sunk {
    double depth, within;
} skin_sunk;
/// Is a point inside of the skin, or on it? `far`: how long a way out may be that is not the nearest one, where the
/// point lies below the nearest triangle; beside a concave edge, which is nearest, it is no longer than twice the
/// depth.
bool skin_sinks(const skin *s, stn_vec3 p, double far, skin_sunk *out);
/// May a vertex come out of another body over a triangle of that (skin_admits of a skin_vertex_way)? That is where it
/// lies below it, and its own surface can face it.
typedef struct skin_vertex_way {
    const skin *skin;
    int32_t id;
    double tolerance, slack;
} skin_vertex_way;
bool skin_vertex_leaves_over(const void *user, const skin_facet *f);
/// What a corner inside of the skin, at p, comes out over: the part, and its normal, of the nearest triangle that is
/// admitted (by what looks for triangles that it lies below). False: there is none within the distance.
bool skin_way_out(const skin *s, stn_vec3 p, double within, skin_admits *admits, const void *user, skin_part *part,
                  stn_vec3 *normal);

/// Weights below count as 0: the point is on an edge or at a vertex, which has the contact.
static const double skin_tiny = 1e-7;

/// Where contacts of a pair go. A is the skin.
typedef struct skin_sink {
    const stn_contact_scene *scene; // prepared: skins
    const stn_contact_pair *pair;
    bool swap; // A is geometry b of the pair
    double margin;
    double deepest;     // least distance that was added; infinite before
    const convex *body; // core of the other side, where that is convex and bounded; else NULL
    double radius;      // of it around its core
    stn_vec3 middle;    // a point inside of it
    stn_contact_set *set;
    stn_status status;
    stn_error *err;
} skin_sink;
/// Not where a query asks.
static inline bool skin_is_step(const skin_sink *sink) {
    return sink->scene->dt > 0.0;
}
/// Adds a contact of a part of A with a body at `on_body`, or with a part of another skin (else NULL); m: unit, from
/// the core of A. The distance counts the thickness. `feature`: of the other side, for the id. Not what passes by.
void skin_add(skin_sink *sink, const skin_part *a, const skin_part *b, stn_vec3 on_body, stn_vec3 m, uint64_t feature);

/// Nearer than this times the size of the skin things touch.
static const double skin_touch = 1e-7;
/// The flat sides of a convex body, one by one: normal outwards and height of the plane, in the body's frame; false: it
/// has no more.
bool skin_flat_side(const stn_shape *shape, int32_t i, stn_vec3 *normal, double *height);

/// Any two convex shapes; normals from A into B (point.c).
void collide_convex(posed a, posed b, double margin, manifold *out);

/// A skin against a half space or a bounded convex shape; against a mesh or height field; against another skin or
/// itself.
void skin_against_convex(skin *a, posed b, skin_sink *sink);
void skin_against_mesh(skin *a, posed b, skin_sink *sink);
void skin_against_peaks(skin *a, posed b, skin_sink *sink); ///< of a mesh or height field, which that calls
void skin_against_skin(skin *a, skin *b, skin_sink *sink);

/// Called with triangles of A and B whose boxes are within reach of each other, cores alone. `level`: the normals
/// around the two differ so little that, of what the two own, only two vertices can have a contact.
typedef void skin_near_visitor(void *user, int32_t triangle_a, int32_t triangle_b, double reach, bool level);
/// Visits them in the order of the trees. Of one skin both orders of two triangles come.
void skin_visit_near(const skin *a, const skin *b, skin_sink *sink, skin_near_visitor *visit, void *user);

/// What lies wholly inside of a solid skin, or with its middle on it, and has no contact in overlap by now, gets one: a
/// convex body with `middle` in it, whose core is grown by `radius`; another skin, `turned` when that is A.
void skin_encloses_convex(const skin *solid, const convex *core, double radius, stn_vec3 middle, skin_sink *sink);
void skin_encloses_skin(const skin *solid, const skin *inner, bool turned, skin_sink *sink);
/// The other way round: all vertices of a solid skin are inside of a bounded convex body.
void skin_inside_convex(const skin *inner, posed body, skin_sink *sink);

static inline stn_aabb skin_box_of(const stn_vec3 *points, int32_t count, double grown) {
    stn_vec3 l = points[0], u = points[0];
    for (int32_t i = 1; i < count; i++) {
        stn_vec3 p = points[i];
        l = stn_vec3_make(p.x < l.x ? p.x : l.x, p.y < l.y ? p.y : l.y, p.z < l.z ? p.z : l.z);
        u = stn_vec3_make(p.x > u.x ? p.x : u.x, p.y > u.y ? p.y : u.y, p.z > u.z ? p.z : u.z);
    }
    stn_vec3 all = {grown, grown, grown};
    return (stn_aabb){stn_vec3_sub(l, all), stn_vec3_add(u, all)};
}
/// The box around two.
static inline stn_aabb skin_box_of_both(const stn_aabb *a, const stn_aabb *b) {
    const stn_vec3 corner[4] = {a->lower, a->upper, b->lower, b->upper};
    return skin_box_of(corner, 4, 0.0);
}
static inline stn_aabb skin_box_grown(stn_aabb box, double by) {
    const stn_vec3 all = {by, by, by};
    return (stn_aabb){stn_vec3_sub(box.lower, all), stn_vec3_add(box.upper, all)};
}
static inline bool skin_boxes_meet(const stn_aabb *a, const stn_aabb *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

#endif
