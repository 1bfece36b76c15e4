// SPDX-License-Identifier: Apache-2.0
// The contact surface of two solids, one function a kind of pair.
#ifndef HYDROELASTIC_MEET_H
#define HYDROELASTIC_MEET_H

#include "face.h"

/// A solid in the world.
typedef struct posed {
    const solid *solid;
    const stn_pose *pose; // X_WS
    double modulus;       // [Pa]
} posed;

// Each finds the faces and sets the frame that they are in. The sink tells when memory ran out.

/// Where the pressures of two fields are equal. The order of both is free: the caller's.
void meet_fields(face_sink *sink, const posed *m, const posed *n);
/// A rigid surface inside of a field.
void meet_facets(face_sink *sink, const posed *m, const posed *n);
/// The plane of a rigid half space inside of a field.
void meet_plane(face_sink *sink, const posed *m, const posed *n);
/// Where the pressures of a field and of a half space's layer are equal.
void meet_layer(face_sink *sink, const posed *m, const posed *n);
/// A rigid surface (n) inside the layer of a half space (m).
void meet_layer_facets(face_sink *sink, const posed *m, const posed *n);

#endif
