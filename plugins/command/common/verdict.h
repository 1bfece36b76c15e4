// SPDX-License-Identifier: Apache-2.0
// What a run that ended without a complaint has to be asked all the same: whether energy came from nowhere, bodies sank
// into each other, went too far within a step, or left the scene, whether elements of soft bodies turned inside out,
// and whether its solver tells the truth. Figures without a scale of their own, each beside what it is compared with:
// docs/verdict.md has the reasons.
#ifndef STICTION_COMMAND_VERDICT_H
#define STICTION_COMMAND_VERDICT_H

#include <stiction/world.h>

typedef enum stn_figure_kind {
    STN_FIGURE_ENERGY,   // [J] the largest rise of all energy, less the work of the inputs, above its running minimum
    STN_FIGURE_OVERLAP,  // [m] the deepest, compared with the thinner of both shapes
    STN_FIGURE_MOVE,     // [m] the farthest way of a body within a step, compared with its size
    STN_FIGURE_DISTANCE, // [m] the farthest that a body was below or above the scene that the world began with
    STN_FIGURE_CLAIM,    // [1] the residual that contradicts the solver most, compared with its bound
    STN_FIGURE_INVERTED, // [1] the most elements that were inside out at once, compared with none
    STN_FIGURE_COUNT
} stn_figure_kind;

/// The worst of its kind.
typedef struct stn_figure {
    double value, ratio; // ratio: over what it is compared with; 0: nothing of the kind
    double time;         // when [s]
    char what[160];      // which bodies; of a claim what the solver says, and what is true
} stn_figure;

/// "energy", "overlap", "move", "distance", "claim", "inverted".
const char *stn_figure_name(stn_figure_kind kind);
/// Of `value`: "J", "m", "1".
const char *stn_figure_unit(stn_figure_kind kind);
/// The ratio beyond which a run is not simply ok.
double stn_figure_limit(stn_figure_kind kind);
static inline bool stn_figure_reserved(const stn_figure *figures, stn_figure_kind kind) {
    return !(figures[kind].ratio <= stn_figure_limit(kind)); // NaN: of a run that computed none
}
/// "energy rose by 29 J at t = 3.1 s, 41 % of what moved".
void stn_figure_describe(const stn_figure *figure, stn_figure_kind kind, char *text, size_t size);
/// Keeps the worse of both in `worst`.
void stn_figure_merge(stn_figure *worst, const stn_figure *other);

/// What figures are compared with in one world; made before its first step.
typedef struct stn_scene stn_scene;
/// STN_ERR_MEMORY.
stn_status stn_scene_create(stn_context *context, stn_world *world, stn_scene **out, stn_error *err);
void stn_scene_destroy(stn_context *context, stn_scene *scene); // accepts NULL
/// The energy that lifts all bodies by a twentieth of the size of the scene, or takes them as far within the time so
/// far [J].
double stn_scene_shift(const stn_scene *scene, stn_vec3 gravity);
/// Before a step to which bodies come with speeds that no step gave them: they may go as far as these carry them.
void stn_scene_note_speeds(stn_scene *scene, stn_world *world);
/// Overlap, move and distance of a step, the worse of both in `figures`.
void stn_scene_observe(stn_scene *scene, const stn_observation *observation, stn_vec3 gravity, stn_figure *figures);

#endif
