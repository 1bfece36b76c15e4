// SPDX-License-Identifier: Apache-2.0
// See channel.h.
#include "channel.h"

stn_channel_name stn_lua_channel_name(const char *name) {
    if (strcmp(name, STN_COMMAND) == 0) {
        return (stn_channel_name){"position", true};
    }
    const size_t before = sizeof STN_REFERENCE - 1;
    return (stn_channel_name){strncmp(name, STN_REFERENCE, before) == 0 ? name + before : NULL, false};
}

stn_channel_place *stn_lua_channels(lua_State *L, const stn_lua_world *w, int32_t *count) {
    const int32_t controllers = stn_world_controller_count(w->world);
    int32_t most = 0;
    for (int32_t i = 0; i < controllers; i++) {
        most += stn_world_controller(w->world, i)->desc->ops.controller->channel_count;
    }
    stn_channel_place *places = lua_newuserdatauv(L, sizeof *places * (size_t)(most + 1), 0);
    *count = 0;
    for (int32_t i = 0; i < controllers; i++) {
        const stn_controller_ops *ops = stn_world_controller(w->world, i)->desc->ops.controller;
        const int32_t dofs = stn_world_controller_target(w->world, i)->dof_count;
        for (int32_t k = 0; k < ops->channel_count; k++) {
            const double *at = stn_lua_channel(w, i, k);
            places[(*count)++] = (stn_channel_place){
                .controller = i,
                .channel = ops->channels[k].name,
                .start = (int32_t)(at - stn_world_state(w->world)->reference),
                .size = stn_channel_count(ops, k, dofs),
                .by_velocity = ops->channels[k].size == 0 && stn_channel_rows(ops, k) == 1,
            };
        }
    }
    return places;
}
