// SPDX-License-Identifier: Apache-2.0
// Meshes: surfaces of triangles and solids of tetrahedra, read from files or made from numbers, checked once, then
// constant and shared.
#ifndef STICTION_MESH_H
#define STICTION_MESH_H

#include <stiction/geometry.h>

STN_BEGIN_C

/// What was found and repaired in tetrahedra; zeros where nothing was. stn_mesh_finding_of puts it into words.
typedef struct stn_solid_facts {
    int32_t inverted_count;  // given with negative volume, turned round
    int32_t flat_count;      // without volume, or slivers, dropped
    int32_t duplicate_count; // given more than once, dropped but for one
    int32_t curved_count;    // elements of higher order, of which the corners alone are kept
    int32_t unused_count;    // vertices that no tetrahedron has, dropped
    int32_t part_count;      // pieces that share no face
    int32_t touching_count;  // vertices of the surface where it touches itself: more than one fan of triangles
    int32_t raised_count;    // vertices of the surface whose given extent was not 0, set to 0
    double least_quality; // of those kept: 12 (3 V)^(2/3) / (sum of the squared edges) [liu-1994], 1: regular, 0: flat
} stn_solid_facts;

/// What is known of a surface as it was given, before repairs and before its hull was taken. Lengths after scaling.
typedef struct stn_mesh_facts {
    int32_t vertex_count;      // as given: a corner that three triangles repeat counts three times
    int32_t triangle_count;    // as given, polygons as fans, degenerate ones included; of tetrahedra: their boundary
    int32_t tetrahedron_count; // as given
    int32_t degenerate_count;  // triangles without area, dropped: two corners equal, or all on a line but for rounding
    int32_t open_edge_count;   // edges of all given triangles, joined by position, that other than two of them share
    double area;               // [m^2]; 0: lost, as a hull was stretched by unequal factors, which forgot its source
    double volume;             // integral of x . n / 3 over the surface; negative when that is inside out [m^3]
    double unit;               // [m] that the file says its lengths are in, already applied; 1 when it does not say
    char up_axis;              // 'x', 'y' or 'z' as the file says ('z' when it does not); never applied
    int32_t instance_count;    // placements of parts in a scene file; 1 for others
    stn_solid_facts solid;     // of tetrahedra; of a surface curved_count alone
} stn_mesh_facts;

/// Faces, edges and neighbours of a convex hull. Triangles that lie in one plane as far as the numbers of a file in
/// single precision can tell (2^-21 of the largest coordinate, and less on a thin body) are one face.
typedef struct stn_polytope {
    int32_t face_count, edge_count; // flat pieces, and the lines between them
    const int32_t *face_start;      // (face_count + 1): face f has the corners face_start[f] .. face_start[f + 1] - 1
    const int32_t *face_vertices;   // counter-clockwise seen from outside
    const int32_t *face_edges;      // the edge from that corner to the next one
    const double *planes;           // (face_count x 4) unit outward normal n and d, n . x <= d at its corners [m]
    /// (edge_count x 4) two vertices, the face that runs from the first to the second, the other one.
    const int32_t *edges;
    const int32_t *outline_start; // (face_count + 1): of each face all corners, or the STN_OUTLINE_MAX that together
    const int32_t *outline;       // keep its area, as positions in face_vertices
    const int32_t *neighbour_start, *neighbours; // (vertex_count + 1): vertices that share a triangle's side with one
    const int32_t *vertex_face_start, *vertex_faces; // (vertex_count + 1): faces that a vertex belongs to
    int32_t start_side;    // cells along an edge of the cube of directions that `starts` divides; 0: too few vertices
    const int32_t *starts; // (6 x start_side x start_side): a vertex far along the directions of a cell
    double slack; // vertices of one height along a unit direction, for climbing: rounding, and what bends inwards [m]
    /// Of few vertices, else NULL: all x, then all y, then all z, each filled up with the first to a multiple of 4 [m].
    const double *columns;
} stn_polytope;

/// Corners of a face's outline, at most.
enum { STN_OUTLINE_MAX = 16 };

/// A regular grid of vertices, seen from above: vertex r * columns + c at (x + c dx, y + r dy) in the mesh's frame, up
/// to rounding. Cell (r, c) has the triangles (r, c) (r, c + 1) (r + 1, c + 1) and (r, c) (r + 1, c + 1) (r + 1, c).
typedef struct stn_grid {
    int32_t rows, columns; // of vertices, along y and along x; 0: the mesh is no height field
    double x, y;           // of vertex (0, 0) [m]
    double dx, dy;         // spacing [m]
} stn_grid;

/// Immutable after it is made; counted references, stn_mesh_keep and stn_mesh_release from any thread.
struct stn_mesh {
    int32_t vertex_count, triangle_count, tetrahedron_count; // 0 tetrahedra: a surface
    const double *vertices;                                  // (vertex_count x 3) [m]; equal positions are one vertex
    const int32_t *triangles;  // (triangle_count x 3) corners counter-clockwise seen from outside, whatever way round
                               // the closed surface was given; of a solid: its boundary
    const int32_t *tetrahedra; // (tetrahedron_count x 4), positive volume; NULL for a surface
    const double *extents;     // (vertex_count) pressure field of a solid, linear within each tetrahedron: 0 on its
                               // surface, 1 where it is deepest; NULL: none was given
    bool convex;               // a convex hull: closed, no coplanar vertices inside its faces
    const stn_polytope *polytope; // of a convex hull; else NULL
    stn_aabb bounds;
    stn_mass solid; // of unit density, by exact integration; zero mass when the surface encloses no solid: it has a
                    // border, its triangles face different ways, or no volume is left beside rounding
    stn_mesh_facts facts;
    stn_grid grid; // rows 0: no height field
};

/// Numbers to make a mesh from; borrowed for the call.
typedef struct stn_mesh_data {
    int32_t vertex_count, triangle_count, tetrahedron_count; // 0 tetrahedra: a surface
    const double *vertices;                                  // (vertex_count x 3)
    const int32_t *triangles;                                // (triangle_count x 3)
    const int32_t *tetrahedra;                               // (tetrahedron_count x 4)
    const double *extents;                                   // (vertex_count) of tetrahedra, as in stn_mesh; NULL: none
} stn_mesh_data;

/// Checks and copies: vertices finite and within 1e50 m, indices in range, some triangle with an area or some
/// tetrahedron, else STN_ERR_ARGUMENT. Equal positions become one vertex, degenerate triangles and unused vertices go,
/// a closed surface that is inside out is turned round. Tetrahedra are turned positive; repeated ones and those without
/// volume go, and the triangles are their boundary whatever triangles were given. STN_ERR_ARGUMENT when a face belongs
/// to more than two or to two on one side of it, when dropping a flat one would tear the solid open, when the field is
/// not finite, not from 0 to 1 or 0 everywhere. The field becomes 0 on the surface. Thread: [any].
STN_API stn_status stn_mesh_create(stn_context *context, const stn_mesh_data *data, stn_mesh **out, stn_error *err);
/// The convex hull (quickhull [barber-1996], by qhull) of a mesh, whose facts it carries. A flat mesh has none:
/// STN_ERR_ARGUMENT; over four million vertices, or more than some four thousand corners in one plane, take too long:
/// STN_ERR_UNSUPPORTED. Works outside the context's allocator in part. Thread: [any].
STN_API stn_status stn_mesh_create_hull(const stn_mesh *mesh, stn_mesh **out, stn_error *err);
/// Stretched along the axes by factors that are finite and not 0. An odd number of negative ones mirrors, and the
/// corners are turned round so that outside stays outside. Thread: [any].
STN_API stn_status stn_mesh_create_scaled(const stn_mesh *mesh, stn_vec3 scale, stn_mesh **out, stn_error *err);

/// The numbers that stn_mesh_create asks for, times `scale`: counts, indices, coordinates, extents. STN_ERR_ARGUMENT
/// names the first that is wrong. O(n). Thread: [any].
STN_API stn_status stn_mesh_data_check(const stn_mesh_data *data, stn_vec3 scale, stn_error *err);
/// A mesh of finished parts, copied, as of one that was stored: bounds and polytope are found, all else of `parts` is
/// believed once numbers and the ranges of the facts are checked (vertices joined, tetrahedra positive, convexity,
/// facts that fit). Grids are made by stn_mesh_create_height_field. STN_ERR_ARGUMENT, STN_ERR_MEMORY. Thread: [any].
STN_API stn_status stn_mesh_create_finished(stn_context *context, const stn_mesh *parts, stn_mesh **out,
                                            stn_error *err);

/// What integration over a mesh gives.
typedef struct stn_mesh_integrals {
    double area;    // of the triangles [m^2]
    double volume;  // of tetrahedra, or integral of x . n / 3 over the surface; negative when that is inside out [m^3]
    stn_mass solid; // of unit density; zero mass unless `closed` and a volume is left beside rounding
} stn_mesh_integrals;
/// Integrates over sound numbers, exact but for rounding. `closed`: the surface has no border. Thread: [any].
STN_API stn_mesh_integrals stn_mesh_integrate(const stn_mesh_data *data, bool closed);
/// The box of points (count x 3); upside down and infinite without any. Thread: [any].
STN_API stn_aabb stn_points_box(const double *points, int32_t count);

/// Something that was found, and perhaps repaired, in the tetrahedra of a mesh.
typedef struct stn_mesh_finding {
    bool warning;     // else a note
    const char *code; // "inverted_tetrahedra", for programs
    char text[200];   // a sentence without the name of the file
} stn_mesh_finding;
/// The finding number `index`, from 0 in an order of weight, of a mesh, its hull or a scaled one; false: there are no
/// more. Thread: [any].
STN_API bool stn_mesh_finding_of(const stn_mesh *mesh, int32_t index, stn_mesh_finding *out);
/// The vertex furthest along a direction of any length, the first of several: the same as a look at all vertices would
/// find. A convex hull is climbed from neighbour to neighbour instead. Bounded; allocates nothing. Thread: [any].
STN_API int32_t stn_mesh_support(const stn_mesh *mesh, stn_vec3 direction);

/// A height field over the rectangle |x| <= size_x / 2, |y| <= size_y / 2.
typedef struct stn_height_field_spec {
    int32_t rows, columns; // of heights, >= 2, along y and along x
    double size_x, size_y; // [m], > 0
    /// (rows x columns), z of the surface [m]: row by row, y and x increasing; borrowed for the call.
    const double *heights;
} stn_height_field_spec;
/// The surface of a height field as a mesh with a grid; shapes of it are STN_SHAPE_HEIGHT_FIELD. Its vertices and
/// triangles stand as stn_grid says. STN_ERR_ARGUMENT for fewer than 2 x 2 heights, too many, sizes outside of
/// 1e-50 to 1e50 m or heights that are not finite or beyond 1e50 m. Thread: [any].
STN_API stn_status stn_mesh_create_height_field(stn_context *context, const stn_height_field_spec *spec, stn_mesh **out,
                                                stn_error *err);
STN_API const stn_mesh *stn_mesh_keep(const stn_mesh *mesh);
STN_API void stn_mesh_release(const stn_mesh *mesh);         ///< accepts NULL
STN_API stn_context *stn_mesh_context(const stn_mesh *mesh); ///< that it was made in

/// Who holds a mesh, and what it takes.
typedef struct stn_mesh_use {
    int32_t references; // calls of stn_mesh_release that are still to come
    size_t bytes;       // memory, with its polytope and what queries have made: tree, neighbours, bends
} stn_mesh_use;
STN_API stn_mesh_use stn_mesh_use_of(const stn_mesh *mesh); ///< Thread: [any].

/// A mesh file as a robot description names it.
typedef struct stn_mesh_request {
    const char *path; // of the file
    stn_vec3 scale;   // factors along the axes, finite and not 0 [1]
    bool convex;      // its convex hull is wanted
    const char *root; // files that it names in turn (glTF buffers) must lie below this folder; NULL: beside the file
} stn_mesh_request;

/// Reads a file of a format that its name (.obj .stl .vtk .msh .dae .gltf .glb, in any case) and content tell. STL,
/// OBJ, VTK and gmsh by bounded readers; DAE and glTF by a worker process (assimp) with limits of time and memory. What
/// was read before, found again by its content, comes from the context or from the cache folder (docs/meshes.md).
/// Errors: STN_ERR_FILE, or STN_ERR_ARGUMENT "path:line: what is wrong" for a bad file. Thread: [any].
STN_API stn_status stn_mesh_load(stn_context *context, const stn_mesh_request *request, const stn_mesh **out,
                                 stn_error *err);

STN_END_C
#endif
