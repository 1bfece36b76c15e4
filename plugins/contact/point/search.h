// SPDX-License-Identifier: Apache-2.0
// The search for the nearest points of two convex bodies, one of which may be moved: gjk.c.
#ifndef STN_PLUGIN_CONTACT_POINT_SEARCH_H
#define STN_PLUGIN_CONTACT_POINT_SEARCH_H

#include "gjk.h"

/// The face of a simplex that is nearest to the origin, as corners with weights, and its nearest point.
typedef struct foot {
    int32_t count, corner[3];
    double weight[3];
    stn_vec3 v;
    double length2; // |v|^2
} foot;

/// How a search ends: with the nearest point; with a distance that is more than the margin; around the origin; at a
/// distance that is nothing; SPOILT: by rounding, before the nearest point was certain.
typedef enum outcome { NEAREST, BEYOND, AROUND, TOUCHING, SPOILT } outcome;

/// A search for the point of the Minkowski difference C + shift, C = B - A, that is nearest to the origin.
typedef struct search {
    const convex *a, *b;
    stn_vec3 shift;
    double margin, least; // least: lower bound of the signed distance of A and B, not shifted
    double goal;          // how near to the nearest point's |v|^2 ends the search, relative
    vertex s[4];          // the first f.count carry the foot; w is shifted, a and b are not
    foot f;
} search;

/// Begins with the point furthest along `towards`, with the smallest goal; the shift is given.
void search_begin(const convex *a, const convex *b, stn_vec3 towards, double margin, search *g);
outcome search_nearest(search *g);
/// A point inside of a body, not of a triangle.
stn_vec3 convex_middle(const convex *c);
/// Goes over to another shift, with the corners found so far.
void search_shift(search *g, stn_vec3 shift);
/// The normal is that of C + shift, phi the separation of A and B along it; a and b are their points over the foot.
separation search_separation(const search *g);

#endif
