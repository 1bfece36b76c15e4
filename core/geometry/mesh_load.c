// SPDX-License-Identifier: Apache-2.0
// Mesh files: which reader, what was read before.
#include <stiction/mesh.h>

stn_status stn_mesh_load(stn_context *context, const stn_mesh_request *request, const stn_mesh **out, stn_error *err) {
    (void)context;
    *out = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: not built yet", request->path);
}
