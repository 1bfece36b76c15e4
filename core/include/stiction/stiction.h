// SPDX-License-Identifier: Apache-2.0
// Everything an embedding program needs.
#ifndef STICTION_STICTION_H
#define STICTION_STICTION_H

#include <stiction/batch.h>
#include <stiction/mesh_query.h>
#include <stiction/query.h>
#include <stiction/record.h>
#include <stiction/replay.h>
#include <stiction/sensor.h>
#include <stiction/solve.h>
#include <stiction/spline.h>
#include <stiction/world.h>

#endif
