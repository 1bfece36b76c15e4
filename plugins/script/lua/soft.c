// SPDX-License-Identifier: Apache-2.0
// Soft bodies of a world, and what they do in a run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "soft.h"

/// The soft body of that number, from 0, of the world at `index`.
static const stn_lua_soft_body *body_of(lua_State *L, int world, lua_Integer number) {
    lua_getiuservalue(L, world, STN_LUA_SOFT_BODIES);
    lua_rawgeti(L, -1, number + 1);
    const stn_lua_soft_body *body = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return body;
}

static lua_Integer body_count(lua_State *L, int world) {
    lua_getiuservalue(L, world, STN_LUA_SOFT_BODIES);
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    lua_pop(L, 1);
    return count;
}

/// world:soft_body(name)
static int world_soft_body(lua_State *L) {
    stn_lua_world_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    const char *names[257] = {NULL};
    lua_Integer count = body_count(L, 1);
    for (lua_Integer i = 0; i < count; i++) {
        const stn_lua_soft_body *body = body_of(L, 1, i);
        if (strcmp(body->name, name) == 0) {
            stn_lua_object_new(L, 1, STN_LUA_SOFT, (int32_t)i);
            return 1;
        }
        names[i < 255 ? i : 255] = body->name;
    }
    stn_lua_unknown(L, "the world (soft bodies)", name, names);
}

static int world_soft_bodies(lua_State *L) {
    stn_lua_world_check(L, 1);
    lua_Integer count = body_count(L, 1);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        stn_lua_object_new(L, 1, STN_LUA_SOFT, (int32_t)i - 1);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

const luaL_Reg stn_lua_soft_methods[] = {
    {"soft_body", world_soft_body}, {"soft_bodies", world_soft_bodies}, {NULL, NULL}};

// ------------------------------------------------------------------------------------------------------------ in a run

/// The soft body of the handle that is the first argument; its world may be closed.
static const stn_lua_soft_body *handle_body(lua_State *L) {
    const stn_lua_object *o = luaL_checkudata(L, 1, STN_LUA_SOFT);
    lua_getiuservalue(L, 1, 1);
    const stn_lua_soft_body *body = body_of(L, -1, o->index);
    lua_pop(L, 1);
    return body;
}

/// The same, of a world that is open.
static const stn_lua_soft_body *check_body(lua_State *L) {
    (void)stn_lua_object_open(L, 1, STN_LUA_SOFT);
    return handle_body(L);
}

/// A soft body in its complete world.
typedef struct soft {
    const stn_lua_soft_body *body;
    stn_lua_world *w;
    const stn_model *model;
    const stn_tree *tree;
    const double *x, *v, *mass; // coordinates, velocities, masses of the nodes
    int32_t nq, nv;             // coordinates and velocities of one, whose first three are those of its place
} soft;

static soft check_soft(lua_State *L) {
    const stn_lua_object *o = stn_lua_object_check(L, 1, STN_LUA_SOFT);
    soft s = {.body = handle_body(L), .w = o->world, .model = stn_world_model(o->world->world)};
    s.tree = &s.model->trees[stn_lua_soft_tree(o)];
    const stn_state *state = stn_world_state(o->world->world);
    s.nq = stn_node_type_nq(s.tree->node_type);
    s.nv = stn_node_type_nv(s.tree->node_type);
    s.x = &state->q[s.tree->q_start];
    s.v = &state->v[s.tree->v_start];
    s.mass = &s.model->node_mass[s.tree->node_start];
    return s;
}

static stn_vec3 vector_at(const double *x, int32_t stride, int32_t i) {
    x += (size_t)stride * (size_t)i;
    return stn_vec3_make(x[0], x[1], x[2]);
}

static int push_vectors(lua_State *L, const double *x, int32_t stride, int32_t count) {
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        stn_lua_push_vector(L, vector_at(x, stride, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int soft_positions(lua_State *L) {
    const soft s = check_soft(L);
    return push_vectors(L, s.x, s.nq, s.tree->node_count);
}

static int soft_velocities(lua_State *L) {
    const soft s = check_soft(L);
    return push_vectors(L, s.v, s.nv, s.tree->node_count);
}

/// soft:nodes(selector): numbers of nodes, from 1.
static int soft_nodes(lua_State *L) {
    lua_settop(L, 2);
    int32_t count = 0;
    const int32_t *nodes = stn_lua_soft_select(L, 2, "nodes", check_body(L)->mesh, &count);
    lua_createtable(L, count, 0);
    for (int32_t i = 0; i < count; i++) {
        lua_pushinteger(L, nodes[i] + 1);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/// soft:position(selector), soft:velocity(selector): mean over these nodes, without a selector over all by their
/// masses; a number: of that node.
static int mean_of(lua_State *L, bool velocity) {
    lua_settop(L, 2);
    const char *owner = velocity ? "velocity" : "position";
    const soft s = check_soft(L);
    const double *values = velocity ? s.v : s.x;
    const int32_t stride = velocity ? s.nv : s.nq;
    if (lua_type(L, 2) == LUA_TNUMBER) {
        double number = stn_lua_real(L, 2, owner, "1");
        if (!(number >= 1.0 && number <= s.tree->node_count) || number != floor(number)) {
            stn_lua_fail(L, "%s: there is no node %g; nodes have numbers from 1 to %d", owner, number,
                         s.tree->node_count);
        }
        stn_lua_push_vector(L, vector_at(values, stride, (int32_t)number - 1));
        return 1;
    }
    int32_t count = 0;
    const int32_t *nodes = stn_lua_soft_select(L, 2, owner, s.body->mesh, &count);
    stn_vec3 sum = stn_vec3_zero();
    double mass = 0.0;
    for (int32_t i = 0; i < count; i++) {
        double weight = lua_isnil(L, 2) ? s.mass[nodes[i]] : 1.0;
        sum = stn_vec3_mul_add(sum, weight, vector_at(values, stride, nodes[i]));
        mass += weight;
    }
    stn_lua_push_vector(L, stn_vec3_scale(1.0 / mass, sum));
    return 1;
}

static int soft_position(lua_State *L) {
    return mean_of(L, false);
}

static int soft_velocity(lua_State *L) {
    return mean_of(L, true);
}

static int soft_mass(lua_State *L) {
    const soft s = check_soft(L);
    double mass = 0.0;
    for (int32_t i = 0; i < s.tree->node_count; i++) {
        mass += s.mass[i];
    }
    lua_pushnumber(L, mass);
    return 1;
}

static int soft_volume(lua_State *L) {
    const soft s = check_soft(L);
    lua_pushnumber(L, stn_soft_mesh_volume(s.body->mesh, s.x));
    return 1;
}

/// soft:attachment_force(link): what the link, or "world", exerted on the nodes that it holds in the last step [N].
static int soft_attachment_force(lua_State *L) {
    static const char owner[] = "attachment_force";
    const soft s = check_soft(L);
    stn_link_range links = {STN_WORLD, 1};
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "world") != 0) {
        links = stn_lua_links(L, 2, s.w, owner);
    }
    stn_vec3 sum = stn_vec3_zero();
    bool held = false;
    for (int32_t i = 0; i < s.tree->node_count; i++) {
        int32_t attachment = s.model->node_attachment[s.tree->node_start + i];
        int32_t link = attachment >= 0 ? s.model->attachments[attachment].link : INT32_MAX;
        double force[6] = {0.0};
        if (link < links.start || link >= links.start + links.count) {
            continue;
        }
        held = true;
        if (stn_world_attachment_force(s.w->world, attachment, force) >= 3) {
            sum = stn_vec3_add(sum, stn_vec3_make(force[0], force[1], force[2]));
        }
    }
    if (!held) {
        stn_lua_fail(L, "%s: none of the body's nodes is attached to '%s'", owner,
                     links.start == STN_WORLD ? "world" : stn_lua_push_links_name(L, s.w, links));
    }
    stn_lua_push_vector(L, sum);
    return 1;
}

/// soft:contact_force([by, [options]]): as world:contact_force(soft, by, options).
static int soft_contact_force(lua_State *L) {
    lua_settop(L, 3);
    (void)stn_lua_object_check(L, 1, STN_LUA_SOFT);
    lua_getiuservalue(L, 1, 1);
    lua_insert(L, 1);
    lua_getfield(L, 1, "contact_force");
    lua_insert(L, 1);
    lua_call(L, 4, 1);
    return 1;
}

// -------------------------------------------------------------------------------------------------------------
// elements

/// Chamber number, from 0, of the argument; raises when there is none.
static int32_t check_chamber(lua_State *L, int index, const soft *s, const char *owner) {
    int32_t count = s->body->mesh->chamber_count;
    double number = stn_lua_real(L, index, owner, "1");
    if (count == 0) {
        stn_lua_fail(L, "%s: the body has no chambers", owner);
    }
    if (!(number >= 1.0 && number <= count) || number != floor(number)) {
        stn_lua_fail(L, "%s: there is no chamber %g; the body has %d, from 1", owner, number, count);
    }
    return (int32_t)number - 1;
}

/// soft:set_pressure(chamber, Pa); soft:set_pressure(Pa): all chambers.
static int soft_set_pressure(lua_State *L) {
    static const char owner[] = "set_pressure";
    const bool all = lua_gettop(L) <= 2; // a second argument that is nil is a mistake, not all chambers
    lua_settop(L, 3);
    const soft s = check_soft(L);
    int32_t first = all ? 0 : check_chamber(L, 2, &s, owner), end = all ? s.body->mesh->chamber_count : first + 1;
    if (end == 0) {
        stn_lua_fail(L, "%s: the body has no chambers", owner);
    }
    double pressure = stn_lua_real(L, all ? 2 : 3, owner, "Pa");
    for (int32_t c = first; c < end; c++) {
        stn_error err = {0};
        stn_lua_check(
            L, stn_world_set_element_channel(s.w->world, s.body->parts.chambers + c, "pressure", &pressure, 1, &err),
            &err);
    }
    return 0;
}

static int soft_pressure(lua_State *L) {
    const soft s = check_soft(L);
    stn_constraint_value value;
    stn_error err = {0};
    int32_t group = s.body->parts.chambers + check_chamber(L, 2, &s, "pressure");
    stn_lua_check(L, stn_world_get_element_channel(s.w->world, group, "pressure", &value, &err), &err);
    lua_pushnumber(L, value.values[0]);
    return 1;
}

static int soft_chamber_volume(lua_State *L) {
    const soft s = check_soft(L);
    int32_t chamber = check_chamber(L, 2, &s, "chamber_volume");
    lua_pushnumber(L, stn_soft_mesh_chamber_volume(s.body->mesh, chamber, s.x));
    return 1;
}

/// Place of an output among those of a plugin and its size; -1: there is none.
static int32_t find_output(const stn_element_group *group, const char *name, int32_t *size) {
    const stn_element_ops *ops = group->instance->desc->ops.element;
    int32_t count = STN_PLUGIN_HAS(ops, output_count) ? ops->output_count : 0;
    for (int32_t i = 0, at = 0; i < count; at += ops->outputs[i++].size) {
        if (strcmp(ops->outputs[i].name, name) == 0) {
            *size = ops->outputs[i].size;
            return at;
        }
    }
    return -1;
}

/// soft:output(name): what the elements tell, a number or list for each.
static int soft_output(lua_State *L) {
    const soft s = check_soft(L);
    const char *name = luaL_checkstring(L, 2);
    const char *names[65] = {NULL};
    int32_t known = 0;
    for (int32_t i = 0; i < 1 + s.body->mesh->chamber_count; i++) {
        int32_t g = i == 0 ? s.body->parts.elements : s.body->parts.chambers + i - 1;
        const stn_element_group *group = &s.model->element_groups[g];
        const stn_element_ops *ops = group->instance->desc->ops.element;
        int32_t size = 0, at = find_output(group, name, &size);
        for (int32_t k = 0; k < ops->output_count && known < 64; k++) {
            names[known++] = ops->outputs[k].name;
        }
        if (at < 0) {
            continue;
        }
        int32_t stride = stn_element_output_count(group);
        double *values = lua_newuserdatauv(L, (size_t)group->element_count * (size_t)stride * sizeof *values, 0);
        stn_error err = {0};
        stn_lua_check(L, stn_world_element_outputs(s.w->world, g, values, &err), &err);
        lua_createtable(L, group->element_count, 0);
        for (int32_t e = 0; e < group->element_count; e++) {
            const double *value = &values[(size_t)e * (size_t)stride + (size_t)at];
            if (size == 1) {
                lua_pushnumber(L, *value);
            } else {
                stn_lua_push_reals(L, value, size);
            }
            lua_rawseti(L, -2, e + 1);
        }
        return 1;
    }
    stn_lua_unknown(L, "output: the elements", name, names);
}

/// soft:elastic_forces(): of the elements on every node.
static int soft_elastic_forces(lua_State *L) {
    const soft s = check_soft(L);
    double *forces = lua_newuserdatauv(L, ((size_t)s.tree->nv + 1) * sizeof *forces, 0);
    stn_error err = {0};
    stn_lua_check(L, stn_world_element_forces(s.w->world, s.body->parts.elements, true, forces, &err), &err);
    return push_vectors(L, forces, s.nv, s.body->mesh->node_count);
}

// -------------------------------------------------------------------------------------------------------------- class

static const char *const soft_properties[] = {"name", "node_count", NULL};

static bool get_soft(lua_State *L, void *self, const char *name) {
    (void)self;
    if (strcmp(name, "name") == 0) {
        lua_pushstring(L, handle_body(L)->name);
    } else if (strcmp(name, "node_count") == 0) {
        lua_pushinteger(L, check_body(L)->mesh->node_count);
    } else {
        return false;
    }
    return true;
}

static int soft_text(lua_State *L) {
    lua_pushfstring(L, "soft body '%s'", handle_body(L)->name);
    return 1;
}

void stn_lua_open_soft(lua_State *L) {
    static const luaL_Reg methods[] = {{"positions", soft_positions},
                                       {"velocities", soft_velocities},
                                       {"nodes", soft_nodes},
                                       {"position", soft_position},
                                       {"velocity", soft_velocity},
                                       {"mass", soft_mass},
                                       {"volume", soft_volume},
                                       {"attachment_force", soft_attachment_force},
                                       {"contact_force", soft_contact_force},
                                       {"set_pressure", soft_set_pressure},
                                       {"pressure", soft_pressure},
                                       {"chamber_volume", soft_chamber_volume},
                                       {"output", soft_output},
                                       {"elastic_forces", soft_elastic_forces},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", soft_text}, {"__eq", stn_lua_object_equal}, {NULL, NULL}};
    stn_lua_class(L, STN_LUA_SOFT, methods, meta, get_soft, soft_properties);
}
