// SPDX-License-Identifier: Apache-2.0
// Does a soft body fit into the memory of this machine?
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "room.h"

/// What the machine has, or less where the process is limited [bytes].
static double memory_there(void) {
    struct rlimit limit;
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        bytes = fmin(bytes, (double)limit.rlim_cur);
    }
    return bytes;
}

stn_status soft_check_room(int32_t nodes, double count, stn_error *err) {
    // Measured: a complete world of 40^3 cells of a box held 1,050 bytes a tetrahedron, one of a sheet of 300^2 cells
    // 3,300 a triangle, one of a cable of 10^5 segments 7,600 a segment.
    const double each = nodes == 4 ? 1000.0 : (nodes == 3 ? 3000.0 : 7000.0);
    const double needed = each * count, there = memory_there();
    if (needed <= there) {
        return STN_OK;
    }
    return stn_fail(
        err, STN_ERR_MEMORY, "%.0f %s need at least %.3g GiB of memory, of which there are %.3g GiB; use fewer cells",
        count, nodes == 4 ? "tetrahedra" : (nodes == 3 ? "triangles" : "segments"), needed / 0x1p30, there / 0x1p30);
}
