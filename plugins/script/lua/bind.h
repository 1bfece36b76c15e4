// SPDX-License-Identifier: Apache-2.0
// What the binding's files share: the objects that Lua holds, errors with script position, checked reading of tables.
#ifndef STICTION_SCRIPT_LUA_BIND_H
#define STICTION_SCRIPT_LUA_BIND_H

#include <stdatomic.h>

#include <lauxlib.h>
#include <lua.h>
#include <stiction/script.h>
#include <stiction/stiction.h>

#include "common/inverse_kinematics.h"

#define STN_LUA_WORLD       "stiction.world"
#define STN_LUA_GROUP       "stiction.group"
#define STN_LUA_LINK        "stiction.link"
#define STN_LUA_JOINT       "stiction.joint"
#define STN_LUA_CONTROLLER  "stiction.controller"
#define STN_LUA_CONSTRAINT  "stiction.constraint"
#define STN_LUA_SOFT        "stiction.soft"
#define STN_LUA_STEP        "stiction.step"
#define STN_LUA_CERTIFICATE "stiction.certificate"
#define STN_LUA_SNAPSHOT    "stiction.snapshot"
#define STN_LUA_POSE        "stiction.pose"
#define STN_LUA_SKIP        "stiction.skip"
#define STN_LUA_TASK        "stiction.task"
#define STN_LUA_BATCH       "stiction.batch"

typedef struct stn_lua_patch_log stn_lua_patch_log; // run.c

/// The script that runs in one Lua state.
typedef struct lua_session {
    stn_context *context;
    stn_script_host *host;     // NULL: a stock interpreter, which nobody asks for anything
    lua_State *volatile state; // the coroutine that runs; NULL: none
    atomic_int stopped;        // the script is to end; set by signal handlers, read by threads
    bool stepped;              // some world made a step
    bool declares_seconds;     // by stn.params: --seconds has reached it that way
    bool exited;               // by os.exit
    char exit_text[256];       // "file:line: os.exit: ..."
    char *assertion;           // text of the last failed assert(), as raised; owned
    stn_error failed_step;     // of the last step that failed
    stn_error unwritten;       // the first failure of recordings that were closed with their world by the collector
    bool testing;              // a test or a fixture runs
    const char *test_name;     // of the test that runs, else NULL
    bool check_failed;         // in the test or fixture that runs
    char failed_check[512];    // the first such check, as a message
} lua_session;

/// A world in Lua's hand. User value 1: table of start values, in order, applied when the model is compiled and after a
/// reset; user value 2: set of the names in use; user value 3: findings about the files of loaded robots, by group;
/// user value 4: what world:log was given; user value 5: kinematic motions (control.c); user value 6: functions of
/// world:capture; user value 7: tasks that have not ended (task.c); user value 8: functions
/// of controllers (control.c); user value 9: sensors (sensor.c); user value 10: what predicts (predict.c);
/// user value 11: soft bodies (soft.c).
typedef struct stn_lua_world {
    lua_session *session;
    stn_world *world;     // NULL once closed
    bool compiled, begun; // begun: the first step was asked for
    bool cloned;          // from another world
    int64_t made;         // steps that scripts made, whatever reset, restore or load_state did to the state's number
    double made_time;     // and the sum of their dt [s]
    bool has_columns;     // by world:log
    stn_lua_patch_log *patch_log; // and pairs of sides, in user value 4; NULL: none
    int64_t tables_begin; // `made` from which on a table that is open gets no new columns; INT64_MAX: none is open
    lua_State *L;         // while it steps: where, and the world's index there
    int at;
    long recorded_by;      // process that opened a recording, 0: none; a copy of it in another one cannot go on
    const char *asks;      // while it waits for what a function of the script returns: whose; else NULL
    char compiled_at[128]; // "file:line" of the call that completed the model
    char compiled_by[32];  // and its name: "controller", "run"; "" when Lua does not tell
    int32_t unnamed;       // bodies that were named automatically
    int64_t task_names;    // the same of tasks
    bool runs_tasks;       // their code is under way
} stn_lua_world;

/// A group, link, joint, controller or constraint of a world. User value 1: the world.
typedef struct stn_lua_object {
    stn_lua_world *world;
    int32_t index; // of the model, which is the builder's
} stn_lua_object;

// ------------------------------------------------------------------------------------------ errors (table.c)

/// Pushes "file:line: " of the innermost Lua function, "" when there is none.
void stn_lua_where(lua_State *L);
/// Pushes the same without the colon and space: "file:line".
void stn_lua_position(lua_State *L);
/// Raises "file:line: text".
_Noreturn void stn_lua_fail(lua_State *L, const char *format, ...) STN_PRINTF(2, 3);
/// Raises an error of the core with the script's position; does nothing for STN_OK and the positive statuses.
void stn_lua_check(lua_State *L, stn_status status, const stn_error *err);
/// Makes the table on top of the stack, an answer, tell names of earlier versions when they are asked for.
void stn_lua_tell_renamed(lua_State *L);
/// Raises "owner has no 'name', did you mean 'x'?" or the list of `names` (NULL-terminated).
_Noreturn void stn_lua_unknown(lua_State *L, const char *owner, const char *name, const char *const *names);
/// The userdata of that type at the index; of another value an error, which tells a method called by a dot of the
/// colon.
void *stn_lua_self(lua_State *L, int index, const char *type);
/// Of two names in a list of them, for qsort: tables have no order, without one of ours messages differ from run to
/// run.
int stn_lua_compare_names(const void *a, const void *b);
/// Makes a class: methods, and properties read by `get` (a name -> pushes one value and returns true). An unknown name
/// is an error that lists `properties` and the methods. Leaves nothing on the stack.
typedef bool (*stn_lua_getter)(lua_State *L, void *self, const char *name);
void stn_lua_class(lua_State *L, const char *type, const luaL_Reg *methods, const luaL_Reg *meta, stn_lua_getter get,
                   const char *const *properties);
/// Adds methods to a class.
void stn_lua_extend(lua_State *L, const char *type, const luaL_Reg *methods);

// -------------------------------------------------------------------------------- checked tables (table.c)

/// A table argument being read. `owner` names the function in messages: "world:box".
typedef struct stn_fields {
    lua_State *L;
    int table;
    const char *owner;
    bool raw; // entries of the table itself alone, none that its metatable computes
} stn_fields;

/// Checks that the argument is a table with keys from `keys` (NULL-terminated; NULL: any text key) and at most
/// `positional` list entries.
stn_fields stn_fields_open(lua_State *L, int index, const char *owner, const char *const *keys, int positional);
/// Pushes a value; false and nothing pushed when it is nil.
bool stn_fields_push(const stn_fields *f, const char *key);
/// The readers return false, and leave `out` alone, when the key is absent. A wrong type, NaN or infinity raises.
bool stn_fields_real(const stn_fields *f, const char *key, const char *unit, double *out);
bool stn_fields_at_least(const stn_fields *f, const char *key, const char *unit, double low, double *out);
bool stn_fields_above_zero(const stn_fields *f, const char *key, const char *unit, double *out);
/// Like stn_fields_above_zero, but math.huge is a value: rigid.
bool stn_fields_stiffness(const stn_fields *f, const char *key, const char *unit, double *out);
/// How far a query looks [m]: likewise, and math.huge is no limit.
bool stn_fields_reach(const stn_fields *f, const char *key, double *out);
bool stn_fields_vector(const stn_fields *f, const char *key, const char *unit, stn_vec3 *out);
bool stn_fields_reals(const stn_fields *f, const char *key, const char *unit, int32_t count, double *out);
bool stn_fields_integer(const stn_fields *f, const char *key, lua_Integer low, lua_Integer high, lua_Integer *out);
bool stn_fields_boolean(const stn_fields *f, const char *key, bool *out);
const char *stn_fields_text(const stn_fields *f, const char *key); ///< NULL when absent
/// One of `words` (NULL-terminated): its index, or -1 when absent.
int stn_fields_choice(const stn_fields *f, const char *key, const char *const *words);
void stn_fields_material(const stn_fields *f, stn_material *out); ///< mu, stiffness, ...; unset members stay
/// What a table says of a surface and of the pressure field inside of it; unset members: not there.
typedef struct stn_lua_surface {
    stn_material asked;    // what there is to warn of where no plugin uses it: numbers of the table
    stn_material material; // these, and below them what `material` says, a name or a table of its own
    stn_field_spec field;  // the same of resolution, field_margin, slab_thickness
    double density;        // of `material` [kg/m^3]
} stn_lua_surface;
void stn_fields_surface(const stn_fields *f, stn_lua_surface *out);
/// Warns, once a run and key, of what none of the world's law, solver and contact model uses.
void stn_fields_warn_unread(const stn_fields *f, const stn_world *world, const stn_material *given);
/// The same of a modulus that is given for pairs: that of the bodies alone counts.
void stn_fields_warn_modulus(const stn_fields *f, const stn_material *given);
/// The same of how pressure fields are made.
void stn_fields_warn_field(const stn_fields *f, const stn_world *world, const stn_field_spec *given);
void stn_fields_warn_dissipation(const stn_fields *f, const stn_world *world, const stn_material *given);
/// The same of a restitution that is given for pairs; of those of surfaces the world itself tells.
void stn_fields_warn_restitution(const stn_fields *f, const stn_world *world, const stn_material *given);

/// `count` finite numbers from the table at `index`; `what` names it in messages. Raises.
void stn_lua_reals(lua_State *L, int index, const char *what, const char *unit, int32_t count, double *out);
double stn_lua_real(lua_State *L, int index, const char *what, const char *unit);
stn_vec3 stn_lua_vector(lua_State *L, int index, const char *what, const char *unit);
void stn_lua_push_reals(lua_State *L, const double *values, int32_t count);
/// A list of rows.
void stn_lua_push_rows(lua_State *L, const double *values, int32_t rows, int32_t columns);
void stn_lua_push_vector(lua_State *L, stn_vec3 v);
/// A field of the table on top of the stack.
void stn_lua_set_number(lua_State *L, const char *key, double value);
void stn_lua_set_vector(lua_State *L, const char *key, stn_vec3 value);

#define STN_MATERIAL_KEYS \
    "mu", "mu2", "mu_static", "stiffness", "relaxation_time", "dissipation", "restitution", "modulus"
#define STN_SURFACE_KEYS "material", STN_MATERIAL_KEYS
#define STN_FIELD_KEYS   "resolution", "field_margin"

// ---------------------------------------------------------------------------------------- poses (pose.c)

#define STN_POSE_KEYS "xyz", "rpy", "quat", "rotation_vector", "matrix", "axes"
/// Is the value at the index a pose? It is a table with a key of one then.
bool stn_lua_is_pose(lua_State *L, int index);
/// From these keys of an open table; identity where absent. True when any was there.
bool stn_fields_pose_here(const stn_fields *f, stn_pose *out);
/// From a table under `key` (pose = { xyz = ..., rpy = ... }).
bool stn_fields_pose(const stn_fields *f, const char *key, stn_pose *out);
void stn_lua_pose(lua_State *L, int index, const char *owner, stn_pose *out);
/// A table { xyz = {...}, quat = {w, x, y, z} } with the operations of poses (pose.c).
void stn_lua_push_pose(lua_State *L, const stn_pose *pose);
/// Linear and angular velocity from { linear =, angular = } or { x, y, z }.
void stn_lua_velocity(lua_State *L, int index, const char *owner, stn_vec3 *linear, stn_vec3 *angular);
void stn_lua_push_velocity(lua_State *L, stn_vec3 linear, stn_vec3 angular);

/// The pose of a body: under `pose`, or from the keys here; false and the identity when there is none.
bool stn_fields_body_pose(const stn_fields *f, stn_pose *pose);

// --------------------------------------------------------------------------------------- shapes (shape.c)

#define STN_GEOMETRY_KEYS \
    STN_SURFACE_KEYS, "color", "category", "mask", "surface_velocity", "friction_direction", "visual"
/// A shape of a body as a table describes it; its pose stays the identity.
typedef struct stn_lua_shape {
    stn_geometry_spec geometry;
    stn_material asked; // as in stn_lua_surface
    double density;     // likewise
    stn_shape solid; // what its mass is computed from: the shape itself, or the closed surface that it is the hull of
    const stn_mesh *volume; // tetrahedra of its file for a pressure field, NULL: none
    const char *path;       // mesh file, NULL: none
    stn_vec3 scale;
} stn_lua_shape;
/// Reads sizes or mesh, material, pressure field, colour and filters. The list at stack index `keep` holds meshes while
/// the caller needs them.
void stn_fields_shape(const stn_fields *f, stn_shape_type type, int keep, stn_lua_shape *out);
/// The same where the first entry of the table is the shape's name, with its pose: { "box", size = {...}, xyz = {...}
/// }.
void stn_fields_named_shape(const stn_fields *f, int keep, stn_lua_shape *out);
void stn_fields_color(const stn_fields *f, float rgba[4]); ///< {r, g, b} or {r, g, b, a} under `color`
void stn_fields_filter(const stn_fields *f, uint32_t *category, uint32_t *mask);
#define STN_SIZE_KEYS "radius", "size", "length", "radii", "file", "scale", "convex"

// ------------------------------------------------------------------------------ plugin choices (choice.c)

/// Reads `key = "id"` or `key = { "id", name = value, ... }`. The settings lie in memory that stays on Lua's stack: the
/// caller must not pop below the present top.
stn_plugin_choice stn_fields_plugin(const stn_fields *f, const char *key);
/// Puts what the command line asks of a kind over a choice: another plugin, settings; and loads the file that it names.
void stn_lua_override(lua_State *L, stn_kind kind, stn_plugin_choice *choice);
/// Loads the file of a plugin that a script names; NULL and an id are accepted, and nothing is done.
void stn_lua_load_plugin(lua_State *L, stn_kind kind, const char *id);
/// The table at `index` as a choice: [1] is the id, every key that is not in `own` a setting.
stn_plugin_choice stn_lua_plugin(lua_State *L, int index, stn_kind kind, const char *owner, const char *const *own);

// ------------------------------------------------------------------------------------------ memory (table.c)

/// Pushes zeroed memory of `size` bytes that `release` gets when Lua drops it: what the core made and a later error of
/// Lua would lose. The caller pops it, or calls stn_lua_release for it at once.
void *stn_lua_own(lua_State *L, size_t size, void (*release)(void *object));
/// Calls `release` now, of the memory at `index`; Lua does not call it again.
void stn_lua_release(lua_State *L, int index);

// ------------------------------------------------------------------------------------------ objects

/// Of the state; a stock interpreter gets one of its own. Raises while the state is being closed.
lua_session *stn_lua_session(lua_State *L);
/// Makes a state use this session, before `stiction` is first required. The session must outlive the state.
void stn_lua_install(lua_State *L, lua_session *session);
/// A function of the host failed: STN_ERR_INTERRUPTED also ends the script, which no pcall prevents. Raises.
void stn_lua_check_host(lua_State *L, stn_status status, const stn_error *err);
/// What assert, stn.near and the like are: claims.
void stn_lua_claim(lua_State *L);
/// The state or gravity of a world was changed by hand.
void stn_lua_touched(const stn_lua_world *w);
/// Message handler: Lua's own functions do not always say where, and error objects may be no text.
int stn_lua_place_message(lua_State *L);
/// Does the message name a line, ":12:"?
bool stn_lua_has_place(const char *text);
/// Asks the script to end: from here on every instruction raises. Async-signal-safe.
void stn_lua_stop(lua_session *session);
/// Lets the session know which coroutine runs; stn_lua_stop reaches no other.
void stn_lua_follow_coroutines(lua_State *L);
/// Puts an os.exit in place of Lua's that ends the script, not the process: worlds and recordings are closed.
void stn_lua_replace_exit(lua_State *L);
/// Pushes an empty world object: its tables exist before anything can fail.
stn_lua_world *stn_lua_push_world(lua_State *L, lua_session *session);
/// Pushes an object for a world that is to be a copy of the complete one at `index`, and has the same names.
stn_lua_world *stn_lua_push_twin(lua_State *L, int index, const stn_lua_world *w);
stn_lua_world *stn_lua_world_check(lua_State *L, int index); ///< open world, or raises
/// The same, raises also while the world waits for what a function of the script returns, in the middle of a step or of
/// its description: then `what` must not be called.
stn_lua_world *stn_lua_world_idle(lua_State *L, int index, const char *what);
/// Calls the function below `arguments` values on the stack for a world that waits, as by lua_pcall, `asks`: its name
/// in messages. What fails is told with the script's position.
int stn_lua_world_ask(lua_State *L, stn_lua_world *w, int arguments, int results, const char *asks);
/// The world, compiled; compiles it when that was not done before.
stn_lua_world *stn_lua_world_compiled(lua_State *L, int index);
void stn_lua_world_complete(lua_State *L, int index, stn_lua_world *w);
/// The builder, or raises "the world is complete since file:line".
stn_model_builder *stn_lua_world_builder(lua_State *L, stn_lua_world *w, const char *what);
/// Links that an argument names: a group (all of its links), { group, "link" }, "group/link" or a link object. They
/// have one number in the builder and in the model.
typedef struct stn_link_range {
    int32_t start, count;
} stn_link_range;
stn_link_range stn_lua_links(lua_State *L, int index, stn_lua_world *w, const char *owner);
/// One side of contacts: the geometries of links, or of a soft body (contact.c).
typedef struct stn_lua_side {
    const stn_model *model;
    stn_link_range links;           // of a soft body none
    int32_t node_start, node_count; // of a soft body; none of links
    bool with_pads;                 // and of the soft bodies whose first attached node is on one of the links
} stn_lua_side;
bool stn_lua_side_has(const void *side, int32_t geometry); ///< as stn_contact_side.has
/// The side that the argument names, by links as stn_lua_links or by a soft body.
stn_lua_side stn_lua_side_at(lua_State *L, int index, stn_lua_world *w, const char *owner);
/// Marks the shapes of what `key` names, one side or a list of them, in `marked` (geometry_count of the model); false:
/// the key is absent.
bool stn_fields_sides(const stn_fields *f, const char *key, stn_lua_world *w, bool *marked);
/// Pushes its name: "group", "group/link" or that of the soft body.
const char *stn_lua_push_side_name(lua_State *L, const stn_lua_world *w, const stn_lua_side *side);
/// The sides that the arguments at `index` and after it name; raises when a link is on both.
void stn_lua_sides(lua_State *L, int index, stn_lua_world *w, const char *owner, stn_lua_side *a, stn_lua_side *b);
/// Applies the start values (user value 1 of the world at `index`).
void stn_lua_world_apply_start(lua_State *L, int index, stn_lua_world *w);
/// Notes a start value of a group: the value on top of the stack, popped, under `key`.
void stn_lua_note_start(lua_State *L, int world_index, int32_t group, const char *key);
/// Makes an object of class `type` that keeps the world at `world_index` alive.
stn_lua_object *stn_lua_object_new(lua_State *L, int world_index, const char *type, int32_t index);
/// The object at `index`; its world is open and compiled.
stn_lua_object *stn_lua_object_check(lua_State *L, int index, const char *type);
/// The object at `index` while its world is open, complete or not.
stn_lua_object *stn_lua_object_open(lua_State *L, int index, const char *type);
/// The tree of a soft body in its complete world.
int32_t stn_lua_soft_tree(const stn_lua_object *soft);
/// The number, from 0, of the soft body that a tree of nodes is.
int32_t stn_lua_soft_index(const stn_model *model, int32_t tree);
/// The object without demanding a compiled world; NULL when it is none of that class.
stn_lua_object *stn_lua_object_test(lua_State *L, int index, const char *type);
/// The word of a status >= 0 for scripts, as in the JSON of `stiction solve` where that has it.
const char *stn_lua_status_word(stn_status status);
/// Pushes a copy of residuals as steps have them.
void stn_lua_push_certificate(lua_State *L, const stn_certificate *certificate);
/// What the solver says and the certificate found, a text; nil: no contradiction.
void stn_lua_push_contradiction(lua_State *L, const stn_contradiction *contradiction);
/// List of the last step's contacts (contact.c).
void stn_lua_push_contacts(lua_State *L, stn_lua_world *w);
/// Sets two fields of the table on top: the names of a link's group and of the link; for nodes (STN_CLOUD - tree) the
/// name of their soft body alone, "world" alone for what has neither.
void stn_lua_set_link(lua_State *L, const stn_model *model, int32_t link, const char *group_key, const char *link_key);
int stn_lua_object_equal(lua_State *L); ///< __eq of groups, links and joints
/// World pose and velocity of a link.
stn_pose stn_lua_link_pose(stn_lua_world *w, int32_t link);

// ------------------------------------------------------------------------------ names (object.c)

/// Names of groups and links, whether the world is complete or not.
const char *stn_lua_group_name(const stn_lua_world *w, int32_t group);
const char *stn_lua_link_name(const stn_lua_world *w, int32_t link);
/// Pushes "group", or "group/link" where it has others too.
const char *stn_lua_push_links_name(lua_State *L, const stn_lua_world *w, stn_link_range links);
/// Index by name within a group, or (group -1) "group/name" or a name that only one group has. Raises with the nearest
/// one. Joints have the builder's numbers before the world is complete.
stn_link_range stn_lua_group_links(const stn_lua_world *w, int32_t group);
int32_t stn_lua_find_link(lua_State *L, const char *owner, const stn_lua_world *w, int32_t group, const char *name);
int32_t stn_lua_find_joint(lua_State *L, const char *owner, const stn_lua_world *w, int32_t group, const char *name);

// -------------------------------------------------------------------------- values of joints (joint.c)

typedef enum stn_lua_quantity { STN_LUA_POSITION, STN_LUA_VELOCITY, STN_LUA_EFFORT } stn_lua_quantity;

/// A group's share of `values`, from a flat list or a table by joint name, where joints that mimic follow their
/// masters.
void stn_lua_read_joints(lua_State *L, int index, const char *owner, stn_lua_world *w, int32_t group,
                         stn_lua_quantity quantity, double *values);
/// Moves a group to a keyframe of it, at rest; `keep_base`: a floating root stays where it is. Raises for names that it
/// does not have, with the nearest one; `owner` begins the message.
void stn_lua_apply_keyframe(lua_State *L, const char *owner, stn_lua_world *w, int32_t group, const char *name,
                            bool keep_base);
/// The present coordinates or velocities of the whole model, in memory that it pushes; and setting them.
double *stn_lua_copy_coordinates(lua_State *L, const stn_lua_world *w, stn_lua_quantity quantity);

// ------------------------------------------------------------------------- equations of motion (group.c)

// ---------------------------------------------------------------------------- inverse kinematics (group.c)

/// What a group keeps clear of at a place.
typedef struct stn_lua_clearance stn_lua_clearance;
/// `key` = true or { margin =, self_margin =, exclude = }; NULL: nothing asked for. In memory on Lua's stack.
stn_lua_clearance *stn_fields_clearance(const stn_fields *f, const char *key, const stn_lua_object *group);
/// Does the group with coordinates `q` (nq) keep clear of it? As stn_ik_goal.accepts; raises what fails.
bool stn_lua_is_clear(void *clearance, const double *q);
/// The link under the key `link`: the name of one of the group's, or any way to name one; -1: absent.
int32_t stn_fields_link(const stn_fields *f, const stn_lua_object *group);
/// Coordinates (nq) of the model with the group's joints at a goal; false: it is not reached, and why is pushed.
bool stn_lua_solve_place(lua_State *L, const stn_lua_object *group, const stn_ik_goal *goal, double *q);

// ------------------------------------------------------------------------------------- references (control.c)

/// The first active controller that takes references of a channel for a joint with one velocity, and their place in
/// them.
bool stn_lua_find_reference(const stn_lua_world *w, int32_t joint, const char *channel, int32_t *controller,
                            int32_t *at);
/// Does it take references of a channel, one for each velocity of its joints?
bool stn_lua_takes_reference(const stn_lua_world *w, int32_t controller, const char *channel);
/// Its references of that channel as they are now, until they are set again; and setting one of them, with room for all
/// in `scratch`.
const double *stn_lua_reference(const stn_lua_world *w, int32_t controller, const char *channel);
stn_status stn_lua_set_reference(const stn_lua_world *w, int32_t controller, const char *channel, int32_t at,
                                 double value, double *scratch, stn_error *err);
/// The value on top of the stack as one vector of a channel: a number, a list, or values by joint over those in
/// `values`, where the other joints keep what they are. `what` names it in messages. Raises.
void stn_lua_read_reference(lua_State *L, const char *what, const stn_control_target *target,
                            const stn_channel *channel, double *values);
/// Its reference of the channel of that number, as it is now, until it is set again.
const double *stn_lua_channel(const stn_lua_world *w, int32_t controller, int32_t channel);
/// Its reference of a channel of one number, as it is now; NULL: it has no such channel.
const double *stn_lua_scalar_reference(const stn_lua_world *w, int32_t controller, const char *channel);

// ------------------------------------------------------------------------------------- predictions (predict.c)

struct stn_predictor;
/// What predicts steps of the world at index 1 as it is now, its clone and snapshot ready; the world keeps it. Raises.
struct stn_predictor *stn_lua_predictor(lua_State *L, const stn_lua_world *w);

// ------------------------------------------------------------------------ controllers' functions (control.c)

/// Before a step: asks those that are due, and sets what they return.
void stn_lua_updates_step(lua_State *L, int index, stn_lua_world *w);
/// Gives one world the functions of another, both at absolute indices.
void stn_lua_updates_copy(lua_State *L, int from, int to);

// ------------------------------------------------------------------------------------------ sensors (sensor.c)

/// The state of the world at `index` has jumped: a step of the same number may follow, and is measured anew.
void stn_lua_sensors_forget(lua_State *L, int index);
enum { STN_LUA_SENSORS = 9 }; // user value of the world: a list of its sensors
/// Of such a list on top of the stack: numbers that all of them read; the sensors themselves, which live as long as it.
int32_t stn_lua_sensors_columns(lua_State *L);
void stn_lua_sensors_list(lua_State *L, const void **sensors);
/// All that they read of the last step of a world of the same description, one after the other, with noise of their
/// seeds and of the stream, 0: their own. Changes nothing of theirs. Thread: [any].
stn_status stn_lua_sensors_measure(const void *const *sensors, int32_t count, stn_world *world, uint64_t stream,
                                   double *row, stn_error *err);

// ------------------------------------------------------------------------------ kinematic motion (control.c)

enum { STN_LUA_MOTIONS = 5 }; ///< user value of a world: a list of its motions

int stn_lua_group_kinematic(lua_State *L);
/// Puts the kinematic bodies of the world at `index` where they are at the present time.
void stn_lua_motions_start(lua_State *L, int index, stn_lua_world *w);
/// Tells the world where they will be at the end of the next step.
void stn_lua_motions_step(lua_State *L, int index, stn_lua_world *w);
/// Gives one world the motions of another, both at absolute indices.
void stn_lua_motions_copy(lua_State *L, int from, int to);
/// Has the world functions in Lua that its steps ask: kinematic motions, or those of controllers?
bool stn_lua_runs_functions(lua_State *L, int index);

// ------------------------------------------------------------------------------------------- soft bodies (soft.c)

/// User value of a world: list of stn_lua_soft_body (soft.h) by cloud, from 1.
enum { STN_LUA_SOFT_BODIES = 11 };

// ----------------------------------------------------------------------------------------------- tasks (task.c)

/// Asks the tasks of the world at `index`: after a step, or, not `stepped`, those that were made since. Raises the
/// error of one that failed and that no other waits for.
void stn_lua_tasks_advance(lua_State *L, int index, stn_lua_world *w, bool stepped);
/// Raises when one is under way: "what: task 'pick', begun at a.lua:3, is under way, and why; ...".
void stn_lua_tasks_refuse(lua_State *L, int index, const char *what, const char *why);
/// Cancels all, the last one first.
void stn_lua_tasks_end(lua_State *L, int index);
/// Pushes a world that is open, nil without any; returns how many there are.
int stn_lua_push_open_world(lua_State *L);
/// lua_resume of a thread, which the session follows; raises when the script is to stop.
int stn_lua_resume(lua_State *L, lua_State *thread, int arguments, int *results);

typedef enum stn_task_state { STN_TASK_WAITING, STN_TASK_DONE, STN_TASK_FAILED, STN_TASK_CANCELLED } stn_task_state;

/// User values of a task.
enum {
    STN_TASK_WORLD = 1,   // that drives it
    STN_TASK_THREAD = 2,  // its coroutine
    STN_TASK_RESULT = 3,  // list of what it returned, with n; of one that failed the error
    STN_TASK_OWNER = 4,   // the task whose parallel or race made it
    STN_TASK_AWAITED = 5, // list of the tasks that it waits for
    STN_TASK_VALUES = 5
};

typedef struct stn_lua_task {
    stn_lua_world *world;
    lua_State *thread;
    struct stn_lua_task *owner; // NULL: none
    stn_task_state state;
    bool begun, running;
    bool on_tasks;         // it waits for other tasks, which may end at the same time
    int arguments;         // of its function, until it begins
    double started, since; // it was made, its present wait began [s]
    char name[64];
    char started_at[96], waits_at[96], cancelled_at[96]; // "file:line"
    char what[96];                                       // it waits for
} stn_lua_task;

/// Makes a task of the function at `index` and the arguments above it, which are popped; pushes it. `name` NULL: by its
/// number.
stn_lua_task *stn_lua_task_new(lua_State *L, int world_index, const char *name, int index, stn_lua_task *owner);
/// The task that runs this code; raises outside of one, and where it cannot wait. Pushes it.
stn_lua_task *stn_lua_task_here(lua_State *L, const char *what);
/// The same without raising: NULL and nothing pushed outside of a task.
stn_lua_task *stn_lua_task_running(lua_State *L);
/// Ends the task at `index` if it has not ended: what it made by parallel and race first, then its to-be-closed
/// variables.
void stn_lua_task_cancel(lua_State *L, int index);
/// Lets the step go on; the continuation is called when the task is asked again. Returns what a C function of Lua must.
int stn_lua_task_yield(lua_State *L, stn_lua_task *task, const char *what, lua_KContext context,
                       lua_KFunction continuation);
double stn_lua_task_time(const stn_lua_task *task); ///< of its world [s]
/// Has the world's time come to `time`? Half a millionth of a step forgives the rounding of a sum of many dt.
bool stn_lua_task_is_past(const stn_lua_task *task, double time);

// ------------------------------------------------------------------------------------------------ sessions, files

/// The reason when the value is what stn.skip raises, else NULL.
const char *stn_lua_skip_reason(lua_State *L, int index);
/// Adds stn.before_all and the like to the module on top of the stack.
void stn_lua_add_fixtures(lua_State *L);

// Classes and functions, by file.
void stn_lua_open_state(lua_State *L); // snapshots
void stn_lua_open_group(lua_State *L); // groups and links
void stn_lua_open_joint(lua_State *L);
void stn_lua_open_control(lua_State *L);
void stn_lua_open_sensor(lua_State *L);
void stn_lua_open_constraint(lua_State *L);
void stn_lua_open_soft(lua_State *L);
void stn_lua_open_step(lua_State *L);
void stn_lua_open_motion(lua_State *L);
void stn_lua_open_patch(lua_State *L);
void stn_lua_open_pose(lua_State *L);
void stn_lua_open_task(lua_State *L);
void stn_lua_open_batch(lua_State *L);
void stn_lua_open_rollout(lua_State *L);
void stn_lua_open_move(lua_State *L);
/// Is this the first time that the state meets the file? What is said about it needs saying once.
bool stn_lua_first_time(lua_State *L, const char *path);
/// Notes that a name is in use, so that no body gets it automatically.
void stn_lua_take_name(lua_State *L, int world_index, const char *name);
/// Methods of worlds.
extern const luaL_Reg stn_lua_show_methods[], stn_lua_model_methods[], stn_lua_pair_methods[], stn_lua_state_methods[],
    stn_lua_run_methods[], stn_lua_log_methods[], stn_lua_control_methods[], stn_lua_constraint_methods[],
    stn_lua_world_name_methods[], stn_lua_query_methods[], stn_lua_contact_methods[], stn_lua_solve_methods[],
    stn_lua_capture_methods[], stn_lua_patch_methods[], stn_lua_task_methods[], stn_lua_sensor_methods[],
    stn_lua_predict_methods[], stn_lua_linearize_methods[], stn_lua_soft_methods[], stn_lua_soft_describe_methods[];
/// Of groups.
extern const luaL_Reg stn_lua_name_methods[], stn_lua_coordinate_methods[], stn_lua_finding_methods[],
    stn_lua_grip_methods[], stn_lua_move_methods[], stn_lua_path_methods[];
/// Of groups and links.
extern const luaL_Reg stn_lua_factor_methods[];
/// Functions of the module.
extern const luaL_Reg stn_lua_params_functions[], stn_lua_report_functions[], stn_lua_test_functions[],
    stn_lua_near_functions[], stn_lua_reference_functions[], stn_lua_pose_functions[], stn_lua_finding_functions[],
    stn_lua_material_functions[], stn_lua_task_functions[], stn_lua_batch_functions[], stn_lua_rollout_functions[],
    stn_lua_wait_functions[];
/// Of tasks.
extern const luaL_Reg stn_lua_wait_methods[];

// ------------------------------------------------------------------------------------------ files (session.c)

/// Finds a file that a script names: as given from the current folder, beside the script, below the folder that holds
/// Stiction's models and scripts. Pushes the path; raises with the places that were tried.
const char *stn_lua_find_file(lua_State *L, const char *owner, const char *name);
/// The same, NULL when there is none; `tried` then lists the places, pushed.
const char *stn_lua_search_file(lua_State *L, const char *name, const char **tried);
/// Pushes the folder that holds models/ and scripts/ (source tree or installed share folder); "" when there is none.
void stn_lua_push_root(lua_State *L);

#endif
