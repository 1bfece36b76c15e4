// SPDX-License-Identifier: Apache-2.0
#include "common/elastic.h"

#include <math.h>

stn_status elastic_check(const elastic *e, bool solid, stn_error *err) {
    if (!(e->young > 0.0) || !isfinite(e->young)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "young = %g Pa must be > 0 and finite", e->young);
    }
    if (!(e->density >= 0.0) || !isfinite(e->density)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "density = %g kg/m^3 must be >= 0 and finite", e->density);
    }
    if (solid && e->poisson >= 0.5) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "poisson = %g must be in (-1, 0.5): a solid of 0.5 cannot change its volume, and its stiffness is "
            "infinite; take 0.45 for rubber",
            e->poisson);
    }
    if (!(e->poisson > -1.0 && e->poisson <= 0.5)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "poisson = %g must be in (-1, 0.5%s", e->poisson, solid ? ")" : "]");
    }
    return STN_OK;
}
