// SPDX-License-Identifier: Apache-2.0
// Soft bodies: meshes for them, made from sizes, files or numbers, sets of their nodes, and adding them to a model. In
// a static library of its own, Stiction::soft, above libstiction.
#ifndef STICTION_SOFT_H
#define STICTION_SOFT_H

#include <stiction/plugin.h>

STN_BEGIN_C

/// Nodes, tetrahedra, triangles that one mesh may have: as many as the model takes of elements.
enum { STN_SOFT_COUNT_MAX = INT32_MAX / 64 };

/// A mesh in its own frame: tetrahedra and their boundary, a sheet of triangles, or a line of nodes. Owned by who
/// created it, constant after. The boundary of tetrahedra falls into closed surfaces that share no node; one that lies
/// around a hollow inside of the material is a chamber, all others are the skin.
typedef struct stn_soft_mesh {
    stn_context *context;                                  // that its memory is from
    int32_t node_count, tetrahedron_count, triangle_count; // 0 tetrahedra: a sheet; 0 triangles, too: a line
    double *nodes;                                         // (node_count x 3) [m]
    int32_t *origin;                                       // (node_count) the node's number in the data it is made from
    int32_t *tetrahedra;                                   // (tetrahedron_count x 4), positive volume
    /// (triangle_count x 3) corners counter-clockwise seen from outside of the material, which for a chamber is its
    /// inside: the skin, then chamber after chamber. Of a sheet: its triangles as given.
    int32_t *triangles;
    int32_t chamber_count;  // hollows, by their smallest node
    int32_t *chamber_start; // (chamber_count + 1) first triangle of each; before the first one lies the skin
    /// (triangle_count x 3) of a sheet: the far corner of the neighbour across the edge opposite to each corner; the
    /// corner itself where there is none. NULL beside tetrahedra.
    int32_t *across;
    int32_t part_count; // pieces that share no face (of a sheet: no edge)
} stn_soft_mesh;

/// Numbers to make a mesh from; borrowed for the call.
typedef struct stn_soft_mesh_data {
    const char *name;                                      // for messages
    int32_t node_count, tetrahedron_count, triangle_count; // tetrahedra, or without them triangles
    const double *nodes;                                   // (node_count x 3), finite, within 1e50 m
    const int32_t *tetrahedra;                             // (tetrahedron_count x 4), of either orientation
    const int32_t *triangles; // (triangle_count x 3) of a sheet; not read beside tetrahedra, whose boundary counts
} stn_soft_mesh_data;

/// Checks and copies. Told in the log: tetrahedra with negative volume, which are turned round; nodes that nothing
/// uses, which are dropped; pieces that do not hang together. STN_ERR_ARGUMENT names element and nodes: an index out of
/// range, a number that is not finite, an element without volume (6 V at most 1e-14 of the product of the edges at its
/// first node) or area, the same element twice, a face of more than two tetrahedra or of two on one side of it, an edge
/// of more than two triangles or of two that run along it the same way. STN_ERR_MEMORY says how much is needed: before
/// anything is made where a body of the mesh in a complete world needs more than the machine has, or RLIMIT_AS leaves
/// the process; steps need more on top.
/// Thread: [any], as all of this file.
stn_status stn_soft_mesh_create(stn_context *context, const stn_soft_mesh_data *data, stn_soft_mesh **out,
                                stn_error *err);
void stn_soft_mesh_destroy(stn_soft_mesh *mesh); ///< accepts NULL

/// The same from a mesh of the core, as of a file: its tetrahedra, or its triangles as a sheet. What was found when it
/// was read (stn_mesh_finding_of) is told in the log.
stn_status stn_soft_mesh_from(const stn_mesh *mesh, stn_context *context, const char *name, stn_soft_mesh **out,
                              stn_error *err);

/// Shapes that meshes are generated of, centred at the origin.
typedef enum stn_soft_shape_type {
    STN_SOFT_BOX,        // size: its edges
    STN_SOFT_BALL,       // size: its diameters along x, y, z
    STN_SOFT_CYLINDER,   // size: its diameters along x and y, its length along z
    STN_SOFT_SHEET,      // size: its edges along x and y
    STN_SOFT_FINGER,     // a box from its base (low x) to its tip, with chambers
    STN_SOFT_SHAPE_COUNT // how many there are
} stn_soft_shape_type;

/// A shape and how it is divided. Members that a type does not use are not read.
typedef struct stn_soft_shape {
    stn_soft_shape_type type; // decides what the others mean
    stn_vec3 size;            // 1e-50 to 1e50 [m]
    /// Cells along x, y, z, > 0. A cell of a box or finger has 5 tetrahedra, one of a ball or cylinder 6, one of a
    /// sheet 2 triangles. Along a finger's axes it is the number that a box without chambers would have: every wall and
    /// chamber gets its share, at least 1.
    int32_t cells[3];
    // finger:
    int32_t chambers; // along x in each row, > 0
    int32_t rows;     // of chambers along y, > 0. Chamber (row r, i along x) has number r * chambers + i
    double wall;      // thickness at base and tip, between chambers, at the sides and above [m], > 0
    double floor;     // thickness below the chambers, at low z, to which it bends under pressure [m], > 0
} stn_soft_shape;

/// Sets `cells` so that the longest edge has `count` > 0 of them and the others as many as make them nearly cubes, at
/// least 1; a sheet's z is left out.
void stn_soft_shape_divide(stn_soft_shape *shape, int32_t count);

/// A mesh of a shape. The cells of a box or finger are cut into a regular tetrahedron and one at each of the corners
/// that it leaves, in turns with the mirror image of that. Those of a ball or cylinder are cut into 6 tetrahedra along
/// their diagonal [kuhn-1960] that begins at the corner furthest from the middle of the mesh: none of these has two
/// faces on the skin, where it would become flat, unless a single cell lies between two sides. The cells of a sheet are
/// cut across the way to its middle, so by parallel diagonals within each quarter. All meshes with even numbers of
/// cells are mirror images of themselves. Balls and cylinders are boxes of which each shell is moved to a sphere, or
/// circle, of its size: by x_i sqrt(1 - x_j^2/2 - x_k^2/2 + x_j^2 x_k^2/3) on [-1, 1]^3, by x_i sqrt(1 - x_j^2/2) on
/// [-1, 1]^2. STN_ERR_ARGUMENT names the member that is out of range, or says how many elements the cells make when
/// there would be too many; STN_ERR_MEMORY as stn_soft_mesh_create.
stn_status stn_soft_mesh_generate(stn_context *context, const stn_soft_shape *shape, stn_soft_mesh **out,
                                  stn_error *err);

/// A line of nodes for a cable: the polygon through `points` (point_count x 3) [m] in `segments` > 0 parts of equal
/// length along it, so segments + 1 nodes, the first and last at its ends. Corners between nodes are cut.
/// STN_ERR_ARGUMENT: fewer than 2 points, one that is not finite or beyond 1e50 m, a polygon without length;
/// STN_ERR_MEMORY as stn_soft_mesh_create.
stn_status stn_soft_mesh_line(stn_context *context, int32_t point_count, const double *points, int32_t segments,
                              stn_soft_mesh **out, stn_error *err);

/// Enclosed by the boundary of the tetrahedra, which is the sum of their volumes, with the nodes at `nodes`
/// (node_count x 3); NULL: the mesh's own [m^3]. Of a sheet and a line 0.
double stn_soft_mesh_volume(const stn_soft_mesh *mesh, const double *nodes);
/// The same of the hollow of a chamber, 0 to chamber_count - 1.
double stn_soft_mesh_chamber_volume(const stn_soft_mesh *mesh, int32_t chamber, const double *nodes);
/// Of the skin, or of the triangles of a sheet [m^2].
double stn_soft_mesh_area(const stn_soft_mesh *mesh);

/// How nodes are told.
typedef enum stn_soft_where {
    STN_SOFT_IN_REGION,    // region
    STN_SOFT_IN_BOX,       // lower, upper
    STN_SOFT_BEYOND_PLANE, // normal, offset
    STN_SOFT_LISTED        // node_count, listed
} stn_soft_where;

/// Nodes of a mesh by a predicate in the mesh's frame.
typedef struct stn_soft_selector {
    stn_soft_where where; // decides which of the others count
    /// "all"; "surface": on the skin or the sheet; "x_min", "x_max", ..., "z_max": those with the smallest or largest
    /// coordinate, within 1e-6 of the mesh's largest extent; "chamber1", ...: on the wall of that chamber; "start" and
    /// "end": the first and last node of a line.
    const char *region;
    stn_vec3 lower, upper; // lower <= x <= upper, within 1e-9 of the mesh's largest extent [m]; infinite: no bound
    stn_vec3 normal;       // of any length > 0
    double offset;         // normal / |normal| . x >= offset, within the same [m]
    int32_t node_count;    // of the list
    const int32_t *listed; // (node_count) numbers of nodes
} stn_soft_selector;

/// The nodes that any of the selectors tells, ascending, each once: nodes (room for mesh->node_count), `*count`.
/// STN_ERR_ARGUMENT: a region that the mesh does not have, a node that it does not have, a selector that tells no node.
stn_status stn_soft_mesh_select(const stn_soft_mesh *mesh, int32_t selector_count, const stn_soft_selector *selectors,
                                int32_t *nodes, int32_t *count, stn_error *err);

/// Nodes that keep their place on a link.
typedef struct stn_soft_attachment {
    int32_t link;                       // of the builder; STN_WORLD: they stay where they start
    int32_t selector_count;             // > 0
    const stn_soft_selector *selectors; // (selector_count)
} stn_soft_attachment;

/// Part of the skin with a contact material of its own: the triangles that have all three corners among these nodes.
typedef struct stn_soft_patch {
    const char *name;                   // its surface is called "body/name"
    int32_t selector_count;             // > 0
    const stn_soft_selector *selectors; // (selector_count)
    stn_material material;              // NaN: as of the body
} stn_soft_patch;

/// A soft body: tetrahedra, or a sheet. Everything is borrowed for the call.
typedef struct stn_soft_spec {
    const char *name;          // of the body, for messages
    const stn_soft_mesh *mesh; // at rest
    stn_pose pose;             // mesh frame -> world, at the start
    /// Of kind element: 4 nodes for tetrahedra, 6 for a sheet, where the last three are those of `across`. id NULL:
    /// "fem" or "shell".
    stn_plugin_choice element;
    const double *node_mass; // (mesh->node_count) beside that of the elements, >= 0; NULL: none [kg]
    /// Of the skin: all but name, triangles and solid, which follow from the mesh. With self_collision the walls of
    /// each chamber, surface "body/chamber1", ..., collide with themselves and with other chambers, with nothing else;
    /// where it has no thickness they have a twentieth of their shortest edge.
    stn_surface_spec surface;
    int32_t patch_count;
    /// Of a triangle in several the last counts. With patches a solid is felt from both sides of its skin, within the
    /// thickness of the surface, which then must be > 0.
    const stn_soft_patch *patches;
    int32_t attachment_count;
    const stn_soft_attachment *attachments;
} stn_soft_spec;

/// What became of it.
typedef struct stn_soft_body {
    int32_t cloud;    // of the builder's clouds; in the model they are the last trees, in this order
    int32_t elements; // group of elements
    int32_t chambers; // groups of elements "chamber1", ... of plugin "pressure", one after the other; -1: no chambers
} stn_soft_body;

/// A soft body that came with a robot.
typedef struct stn_soft_item {
    char name[256];      // "robot/name"
    stn_soft_mesh *mesh; // owned
    stn_soft_body body;  // its cloud and elements
} stn_soft_item;

/// Soft bodies that robot files brought into a builder (stn_load_request.softs), in the order of its clouds. Begins as
/// all zeros but the context.
typedef struct stn_soft_list {
    stn_context *context;    // that its memory is from
    int32_t count, capacity; // there; room
    stn_soft_item *items;    // (count)
} stn_soft_list;

/// Adds one, taking the mesh over, also on failure. STN_ERR_MEMORY.
stn_status stn_soft_list_add(stn_soft_list *list, const char *name, stn_soft_mesh *mesh, const stn_soft_body *body,
                             stn_error *err);
void stn_soft_list_clear(stn_soft_list *list); ///< destroys what is in it

/// Adds nodes, elements, chambers, surfaces and attachments. STN_ERR_ARGUMENT, or what the element plugin says of its
/// settings, and nothing added: a mesh that the element does not go with, a selector that tells no node, a patch
/// without triangles, a node that is attached twice, a number of the surface that is out of range. [setup]
stn_status stn_soft_add(stn_model_builder *builder, stn_context *context, const stn_soft_spec *spec,
                        stn_soft_body *body, stn_error *err);

/// A cable, rope or rod: frames at the nodes of a line with their x axes along it, a capsule on each, and elements that
/// stretch, shear, twist and bend between neighbours. Everything is borrowed for the call.
typedef struct stn_soft_cable_spec {
    const char *name;           // of the cable, for messages and contacts
    const stn_soft_mesh *mesh;  // a line, along which it lies at the start
    stn_pose pose;              // mesh frame -> world, at the start
    double radius;              // of the round cross-section and of the capsules, > 0 [m]
    double density, mass;       // [kg/m^3], or of the whole [kg], > 0; NaN: the other one is given
    bool straight;              // at rest it is straight and not twisted; else at rest as it starts
    stn_plugin_choice element;  // of kind element, which joins 2 frames. id NULL: "cable". Its `radius` is that above
    stn_geometry_spec geometry; // of the capsules: all but name, shape, pose and mesh
    /// The capsules of two nodes touch when between them lie pi radius of the cable or more: nearer ones overlap
    /// without any fault and come near each other in no bend whose radius is above that of the cable.
    bool self_collision;
    int32_t attachment_count;
    const stn_soft_attachment *attachments; // nodes keep their orientation, too
} stn_soft_cable_spec;

/// Adds nodes, capsules, elements and attachments. At the start nothing is stretched or twisted. A node has the mass of
/// the halves of the segments beside it. STN_ERR_ARGUMENT, or what the element plugin says of its settings, and nothing
/// added: a mesh that is no line, a number out of range, neither or both of density and mass, a line that turns back on
/// itself at a node, a selector that tells no node, a node that is attached twice. [setup]
stn_status stn_soft_add_cable(stn_model_builder *builder, stn_context *context, const stn_soft_cable_spec *spec,
                              stn_soft_body *body, stn_error *err);

STN_END_C
#endif
