// SPDX-License-Identifier: Apache-2.0
// Private parts of recorder/png. Lengths [m], world frame unless said. A picture is drawn in samples, SAMPLES x SAMPLES
// of them a pixel; x goes right, y down, the first sample's centre is (0.5, 0.5).
#ifndef PNG_PICTURE_H
#define PNG_PICTURE_H

#include <stiction/plugin.h>

#include "common/camera_path.h"

enum {
    SAMPLES = 2,       // of a pixel along x and y
    SIDE_MAX = 4096,   // pixels
    SEGMENTS_MAX = 128 // of a circle
};

// ------------------------------------------------------------------------------------------------------- camera.c

/// Where points land. View coordinates of p are (right . d, up . d, forward . d), d = p - origin.
typedef struct view {
    stn_mat3 axes;   // rows right, up, forward: world -> view
    stn_vec3 origin; // the eye of a perspective view
    bool perspective;
    double scale;              // samples for a tangent of 1; of a parallel view samples [1/m]
    double centre_x, centre_y; // where the line of sight lands [samples]
    double near;               // what is nearer is cut off
    double range;              // parallel: depth at which nearness is 0
} view;

/// How the user looks at the scene. Angles [rad].
typedef struct camera {
    int32_t width, height; // [pixels]
    double azimuth, elevation, field_of_view;
    double distance; // 0: fitted
    bool aimed;      // `target` counts
    stn_vec3 target;
    bool own; // some of these were asked for, so that the camera of the world does not count
} camera;

/// The furthest reach of a scene along a direction, max d . p over its points; -infinity without any.
typedef double (*reach_function)(const void *points, stn_vec3 direction);

/// A view from which all points of a scene are in the picture, or the one that the camera asks for. `centre`, `radius`:
/// a ball around the scene.
view camera_view(const camera *c, reach_function reach, const void *points, stn_vec3 centre, double radius);
/// Along the light, of a ball, onto size x size samples.
view camera_light_view(stn_vec3 to_light, stn_vec3 centre, double radius, int32_t size);
/// What a sample at view coordinates z counts for in the raster's comparison: larger is nearer, > 0.
double view_nearness(const view *v, double z);

// ------------------------------------------------------------------------------------------------------- raster.c

/// A corner of a triangle: place in view coordinates, outward normal in the world's axes, of unit length.
typedef struct vertex {
    stn_vec3 place, normal;
    double value; // that a colour stands for; NaN: none
} vertex;

/// For every sample the nearest surface. Holds the rows [row_start, row_start + row_count) of the view.
typedef struct raster {
    int32_t width, row_start, row_count; // [samples]
    float *nearness;                     // 0: nothing there
    uint32_t *normal;                    // packed, turned towards the viewer; NULL: neither is kept
    int32_t *item;
    float *value; // of the vertices; NULL: not kept
} raster;

#define BOOST 1e12

/// What triangles are drawn as.
typedef struct paint {
    int32_t item;
    bool closed;  // triangles that are seen from inside lie behind others
    double boost; // multiplies the nearness: 1, or BOOST to lie over everything else
} paint;

void raster_clear(const raster *r);
/// Corners counter-clockwise seen from outside.
void raster_triangle(const raster *r, const view *v, const vertex corner[3], const paint *with);

/// Unit vectors in 32 bits, within 1e-3 of each component.
uint32_t normal_pack(stn_vec3 normal);
stn_vec3 normal_unpack(uint32_t packed);

// --------------------------------------------------------------------------------------------------- tessellate.c

/// A shape at a place of the world, or a surface over nodes, whose pose does not count.
typedef struct solid {
    stn_shape shape;
    stn_pose pose;
    const uint32_t *normals;    // of a mesh, from mesh_normals
    const stn_surface *surface; // of a surface
    stn_vec3 *place, *normal;   // (surface->vertex_count) world: where its vertices are, and the mean normals there
    stn_vec3 *rest_normal;      // (surface->vertex_count) the same at rest
    const float *node_value;    // (node_count of the model) that colours of surfaces stand for; NULL: none
    double value;               // the same of a shape; NaN: none
} solid;

/// Draws a bounded shape; a mesh without data and a half space draw nothing.
void solid_draw(const solid *s, const raster *r, const view *v, int32_t item_number, double boost);
/// Draws a flat triangle, world, which is seen from both sides.
void triangle_draw(const stn_vec3 corner[3], const raster *r, const view *v, int32_t item_number, double boost);
/// The normal of a triangle of `place`, as long as twice its area.
static inline stn_vec3 triangle_area(const stn_vec3 *place, const int32_t *v) {
    return stn_vec3_cross(stn_vec3_sub(place[v[1]], place[v[0]]), stn_vec3_sub(place[v[2]], place[v[0]]));
}

/// Packed normals (3 x triangle_count) of a mesh's corners, owned by the caller.
stn_status mesh_normals(stn_context *context, const stn_mesh *mesh, uint32_t **out, stn_error *err);

// ---------------------------------------------------------------------------------------------------------- png.c

/// A triangle of the polygon of a patch's face.
typedef struct pressed {
    stn_vec3 corner[3];
    double pressure; // mean of its corners [Pa]
} pressed;

/// Poses of a step, copied.
typedef struct moment {
    bool filled;
    int64_t step;
    double time;
    stn_pose *body_pose; // (body_count)
    stn_vec3 *node;      // (node_count)
    stn_pose *node_pose; // (node_count); NULL where all nodes are points
    float *value;        // (node_count) that colours stand for, NaN: none; NULL: of no node
    stn_vec3 *contact;
    int32_t contact_count, contact_capacity;
    const camera_shot *shot; // of the camera of the world; NULL: none
    pressed *pressed;        // of faces of patches, which are no points
    int32_t pressed_count, pressed_capacity;
} moment;

// -------------------------------------------------------------------------------------------------------- scene.c

/// Linear light, 0 to 1.
typedef struct colour {
    float r, g, b;
} colour;

/// A bounded shape of the model.
typedef struct scene_item {
    solid solid;   // its pose is that of the last scene_place
    stn_pose pose; // in the body's frame
    int32_t body, node;
    colour colour;
    float alpha;
} scene_item;

/// A half space.
typedef struct scene_plane {
    stn_pose pose, world;
    int32_t body;
    colour colour;
} scene_plane;

typedef struct scene_mesh {
    const stn_mesh *mesh; // kept
    uint32_t *normals;
    bool unusable; // said
} scene_mesh;

typedef enum scene_choice { SCENE_VISUAL, SCENE_COLLISION, SCENE_BOTH } scene_choice;

/// What is drawn of a model.
typedef struct scene {
    const stn_model *model;
    scene_item *items;
    scene_plane *planes;
    scene_mesh *meshes; // (model->mesh_count)
    stn_vec3 *vertices; // places and normals of surfaces
    int32_t item_count, plane_count;
    int64_t triangle_count; // of meshes
    bool translucent;       // some item is
    stn_vec3 centre;        // a ball around all items, of the last scene_place
    double radius;          // 0: no items
} scene;

/// A scene that failed to open needs no close.
stn_status scene_open(scene *s, const stn_model *model, scene_choice choice, stn_error *err);
void scene_close(scene *s);
/// Puts the items where bodies and nodes are, with the numbers that their colours stand for.
void scene_place(scene *s, const moment *m);
double scene_reach(const void *points, stn_vec3 direction); ///< a reach_function

// -------------------------------------------------------------------------------------------------------- light.c

enum { SHADOW_SIZE = 1024 };

/// One parallel light with the shadows of the scene.
typedef struct light {
    stn_vec3 direction; // to the light
    view view;
    raster shadow; // nearness to the light
    double texel;  // [m]
} light;

/// How much of the light reaches a point whose surface is lit under the cosine `facing`: 0 to 1.
float light_reaching(const light *l, stn_vec3 point, float facing);
/// Light that a surface sends to the eye, as a part of its colour: 1 where it faces the light and nothing is between.
float light_shade(const light *l, stn_vec3 normal, stn_vec3 to_eye, float reaching);
colour colour_mix(colour a, colour b, float t); ///< (1 - t) a + t b
colour colour_scale(float s, colour a);
colour colour_of(float red, float green, float blue); ///< from sRGB

// --------------------------------------------------------------------------------------------------------- draw.c

/// Items past the scene's: marks over everything else.
enum { PRESSURES = 16 }; // steps of the colours of pressure
enum { MARK_CONTACT, MARK_X, MARK_Y, MARK_Z, MARK_PRESSURE, MARK_COUNT = MARK_PRESSURE + PRESSURES };
enum {
    SKY = -1,          // in place of an item; the planes follow as SKY - 1 - plane
    ENCODED_MAX = 4096 // steps of linear light in the table of sRGB
};

typedef struct picture_options {
    camera camera;
    scene_choice choice;
    bool contacts, frames;
    const char *value_name, *value_unit; // what colours stand for; NULL: nothing
    bool ranged;                         // `range` counts; else it is that of each picture
    double range[2];
} picture_options;

/// All that drawing needs, allocated when the recording is opened, so that its end does not fail for want of memory.
typedef struct picture {
    stn_context *context;
    picture_options options;
    scene scene;
    view view; // of the first picture; kept for the others
    bool viewed;
    light light;
    raster front, glass; // the nearest opaque and, above it, the nearest translucent surface
    uint8_t *row;        // of pixels
    uint8_t *encoded;    // sRGB of linear light
    double range[2];     // of the colours of this picture, low < high; both NaN: nothing has one
} picture;

stn_status picture_open(picture *p, const stn_model *model, const picture_options *options, stn_error *err);
void picture_close(picture *p); ///< also of a picture that failed to open
/// Draws a moment into the file, which appears whole or not at all.
stn_status picture_draw(picture *p, const moment *m, const char *path, const char *parameters, stn_error *err);

// -------------------------------------------------------------------------------------------------------- shade.c

/// A plane as one view shows it.
typedef struct shown_plane {
    stn_vec3 centre; // middle of the part that is drawn
    double height;   // of the eye above it; <= 0: not seen from below
    double fall[3];  // how fast the ray of the sample (column, row) nears it: constant, per column, per row
} shown_plane;

/// What the samples of a picture are shaded from.
typedef struct shading {
    const picture *picture;
    double grid;         // distance of the lines on planes
    double edge;         // radius where planes end
    shown_plane *planes; // (plane_count)
    colour zenith, horizon, marks[MARK_COUNT];
} shading;

/// Fills in the colours that are the same in every picture.
void shade_colours(shading *s);

/// The pixels of one row of the picture, whose samples the rasters hold, as sRGB (3 x width).
void shade_row(const shading *s, int32_t row, uint8_t *pixels);

/// The colour of a number in the picture's range.
colour shade_value(const picture *p, double value);

// ------------------------------------------------------------------------------------------------------- legend.c

/// What the colours of a picture stand for: a bar with its ends, and the name with its unit above.
typedef struct legend {
    double unit;                       // size of a part of a letter, of which it has 8 [pixels]
    int32_t left, top, width, height;  // with its ground [pixels]
    char title[96], low[32], high[32]; // low, high: of the ends
    int32_t bar_left, bar_top, bar_width, bar_height;
} legend;

/// Lays it out; false: the picture is too small for one.
bool legend_open(legend *l, const picture *p);
/// Draws its part of a row of pixels, sRGB (3 x width).
void legend_row(const legend *l, int32_t row, uint8_t *pixels);

// -------------------------------------------------------------------------------------------------------- write.c

/// A PNG file under construction beside its path.
typedef struct writer writer;
/// `text` is kept in the file.
stn_status writer_open(stn_context *context, const char *path, int32_t width, int32_t height, const char *text,
                       writer **out, stn_error *err);
/// The next row (3 x width); failures are told by writer_close.
void writer_row(writer *w, const uint8_t *row);
/// Finishes the file and puts it in place; unless all is well or `keep` is false, nothing is left. Frees the writer.
stn_status writer_close(writer *w, bool keep, stn_error *err);
/// Could a file be put there? Leaves nothing.
stn_status writer_try(const char *path, stn_error *err);

#endif
