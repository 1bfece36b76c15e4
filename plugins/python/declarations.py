# SPDX-License-Identifier: Apache-2.0
"""What of Stiction's C interface is called from Python: constants, structs and functions, as C text.

The text stands once. It is read here into ctypes, and the test `python/layout` gives it to a C compiler beside the headers, which
refuses a prototype, a member, an offset or a constant that differs from theirs. A struct that ends in "...;" may have more members
behind; it is only read through pointers.
"""
import ctypes
import re

CONSTANTS = {
    "STN_WORLD": -1,
    "STN_ANY": -2,
    "STN_SUPPORT_NODES": 4,
    "STN_MAX_NODES": 8,
    "STN_STAGE_COUNT": 9,
    "STN_PHASE_COUNT": 8,
    "STN_OK": 0,
    "STN_ERR_ARGUMENT": -1,
    "STN_ERR_INTERRUPTED": -11,
    "STN_LOG_WARNING": 2,
    "STN_SEVERITY_WARNING": 1,
    "STN_SETTING_NUMBER": 0,
    "STN_SETTING_BOOL": 1,
    "STN_SETTING_TEXT": 2,
    "STN_NEEDS_LAW": 2,
    "STN_REGULARIZED_BY_LAW": 4,
    "STN_YIELDS_VELOCITY": 1,
    "STN_FORM_LOCAL": 1,
    "STN_SCRIPT_NUMBER": 0,
    "STN_SCRIPT_BOOL": 1,
    "STN_SCRIPT_TEXT": 2,
    "STN_SCRIPT_CHOICE": 3,
    "STN_RELAXATION_SERIES": 1,
    "STN_KIND_LOADER": 0,
    "STN_KIND_CONTACT": 1,
    "STN_KIND_LAW": 2,
    "STN_KIND_INTEGRATOR": 3,
    "STN_KIND_SOLVER": 4,
    "STN_KIND_FACTOR": 5,
    "STN_KIND_CONTROLLER": 6,
    "STN_KIND_RECORDER": 8,
    "STN_KIND_SCRIPT": 10,
}

ENUMERATIONS = """
stn_status stn_kind stn_log_level stn_severity stn_contact_point_rule stn_relaxation_rule stn_shape_type stn_joint_type stn_tree_kind
stn_node_type stn_constraint_kind stn_constraint_set stn_problem_form stn_velocity_kind stn_contact_state stn_batch_field
stn_script_type stn_formulation stn_yield
""".split()

STRUCTS = """
struct stn_error { stn_status status; char text[1024]; };
struct stn_context_options {
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory);
    void *allocator_user;
    void (*log)(void *user, stn_log_level level, const char *text);
    void *log_user;
    const char *plugin_path;
    bool separate_arena_blocks;
};
struct stn_vec3 { double x, y, z; };
struct stn_mat3 { double m[3][3]; };
struct stn_pose { stn_mat3 rotation; stn_vec3 position; };
struct stn_mass { double mass; stn_vec3 com; stn_mat3 inertia; };

struct stn_setting { const char *name; unsigned int form; double number; const char *text; const char *where; };
struct stn_plugin_choice { const char *id; const stn_setting *settings; int32_t setting_count; };
struct stn_plugin_desc {
    uint32_t size; stn_kind kind;
    const char *id; const char *version; const char *summary; const char *reference;
    const char *const *capabilities;
    uint32_t config_size; const stn_param *params; int32_t param_count; int32_t memory_per_constraint;
    stn_status (*create)(stn_context *context, const void *config, void **self, stn_error *err);
    void (*destroy)(void *self);
    void *ops;
};
struct stn_plugin_info { const stn_plugin_desc *desc; const char *file; uint32_t abi_major, abi_minor; };
struct stn_instance {
    stn_context *context; const stn_plugin_desc *desc; const char *file; void *config; void *common; void *self;
};
struct stn_solver_ops { uint32_t size; stn_formulation formulation; stn_yield yields; uint32_t needs; ...; };
struct stn_channel { const char *name, *unit, *summary; int32_t size; };
struct stn_controller_ops {
    uint32_t size; int32_t channel_count; const stn_channel *channels;
    stn_status (*bind)(void *self, const stn_control_target *target, stn_error *err);
    size_t (*state_size)(const void *self, const stn_control_target *target);
    void (*initial_reference)(const void *self, const stn_control_target *target, const double *q, double *reference);
    stn_status (*evaluate)(void *self, const stn_control_view *view, const double *reference, void *state, stn_forces *forces,
                           stn_error *err);
    const int32_t *channel_rows;
    ...;
};
struct stn_control_target {
    const stn_model *model; int32_t group; int32_t joint_count; const int32_t *joint; int32_t dof_count; const int32_t *dof;
};

struct stn_shape { stn_shape_type type; double radius; double half_length; stn_vec3 half_extents; const stn_mesh *mesh; };
struct stn_material {
    double mu; double stiffness; double relaxation_time; double dissipation; double restitution; double modulus; double mu_static;
    double mu2;
};
struct stn_named_material { const char *name; double density; stn_material surface; };
struct stn_field_spec { double resolution; double margin; double thickness; int32_t volume_mesh; };
struct stn_geometry_spec {
    const char *name; stn_shape shape; stn_pose pose; stn_material material; float rgba[4]; bool collision; bool visual; int32_t mesh;
    stn_field_spec field; uint32_t category; uint32_t mask; stn_vec3 surface_velocity; stn_vec3 friction_direction; const char *where;
};
struct stn_link_spec { const char *name; stn_mass mass; const char *where; };
struct stn_diagnostic { stn_severity severity; const char *code; const char *file; int32_t line; const char *where; const char *text; };
struct stn_diagnostics {
    stn_context *context; int32_t count, capacity, error_count, warning_count; stn_diagnostic *items;
};
struct stn_load_request {
    const char *path; const char *robot_name; const char *const *package_paths; bool allow_absolute; bool visual_meshes;
    stn_plugin_choice loader; struct stn_soft_list *softs;
};

struct stn_tree {
    const char *name; stn_tree_kind kind; int32_t body_start, body_count; int32_t node_start, node_count; int32_t q_start, nq;
    int32_t v_start, nv; const int32_t *row_start, *column; stn_node_type node_type; const double *mass;
};
struct stn_body { const char *name; int32_t parent; int32_t tree; int32_t joint; stn_mass mass; int32_t group; };
struct stn_joint {
    const char *name; stn_joint_type type; int32_t group; int32_t parent, child; int32_t q_start, v_start, nq, nv; stn_pose origin;
    stn_vec3 axis; double lower, upper, effort, velocity, acceleration, damping, friction; double stiffness, rest;
    double servo_kp, servo_kd; double screw_pitch; double reflected_inertia; int32_t mimic; double mimic_multiplier, mimic_offset;
    const char *actuator; const char *where;
};
struct stn_link {
    const char *name; int32_t group; int32_t body; stn_pose pose; stn_mass mass; int32_t parent; int32_t joint;
    const char *joint_name; const char *where, *joint_where; stn_pose origin; int32_t joint_rank;
};
struct stn_group {
    const char *name; int32_t link_start, link_count; int32_t joint_start, joint_count; int32_t keyframe_start, keyframe_count;
    int32_t root_link; stn_pose base; bool fixed; bool velocity_limits;
};
struct stn_geometry {
    const char *name; int32_t body, node, link; int32_t surface; stn_shape shape; stn_pose pose; stn_material material; float rgba[4];
    bool collision, visual; uint32_t category, mask; int32_t mesh; stn_field_spec field; stn_vec3 surface_velocity;
    stn_vec3 friction_direction; const char *where; stn_pose in_link;
};
struct stn_model {
    stn_context *context; int32_t nq, nv, node_count;
    int32_t tree_count, body_count, joint_count, link_count, group_count, geometry_count, mesh_count;
    int32_t element_group_count, keyframe_count, exclude_count, constraint_count, attachment_count, surface_count;
    const stn_tree *trees; const stn_body *bodies; const stn_joint *joints; const stn_link *links; const stn_group *groups;
    const stn_geometry *geometries; ...;
};
struct stn_state_sizes {
    size_t nq, nv, reference_count, wrench_count, kinematic_count, surface_count, activation_count, controller_bytes, sleep_count,
        mass_count, friction_count, integrator_bytes;
};
struct stn_state {
    double time; int64_t step; uint64_t rng[4]; stn_vec3 gravity; stn_state_sizes sizes;
    double *q; double *v; double *reference; double *effort; ...;
};
struct stn_kinematics { const stn_model *model; const double *q, *v; stn_pose *body_pose; ...; };

struct stn_world_options {
    uint32_t size; double dt; stn_vec3 gravity; stn_plugin_choice solver, law, contact, integrator, factor;
    stn_contact_point_rule contact_point; stn_relaxation_rule relaxation_rule; double margin; bool margin_only; int32_t threads;
    bool certificate_light; bool stiction; bool exact_contacts; uint64_t seed; bool profile; double sleep_velocity; double sleep_time;
    bool varied;
};
struct stn_support { int32_t body; int32_t node_count; int32_t node[STN_SUPPORT_NODES]; double weight[STN_SUPPORT_NODES]; };
struct stn_contact {
    uint64_t id; int32_t geometry_a, geometry_b; stn_support a, b; stn_vec3 point; stn_vec3 normal; double phi0; stn_material material;
    stn_vec3 bias; stn_vec3 direction; double mu2; int32_t patch; int32_t vertex_start, vertex_count; double area, pressure;
};
struct stn_contact_set { int32_t count, patch_count, vertex_count; stn_contact *contacts; ...; };
struct stn_contact_report {
    stn_contact_state state; stn_vec3 normal_part, friction_part; double slip_speed; double separation_speed; double glide_gap;
};
struct stn_contradiction { int32_t islands; stn_status claimed; double tolerance; const char *residual; double found, bound; };
struct stn_certificate {
    double momentum; double complementarity; double complementarity_J; double cone; double penetration_m; double natural_ncp;
    double natural_ccp; double natural_scaled; double natural_ccp_scaled; double friction_work_J; double law_residual; double box;
    bool finite; double momentum_size; double contact_start_J, contact_J;
};
struct stn_step_report {
    stn_status status; int32_t iterations, island_count, contact_count, constraint_count; int32_t not_converged; double cost;
    const char *reason; double step_us; double stage_us[STN_STAGE_COUNT]; double kinetic_J, potential_J, elastic_J;
    double input_work_J; double overlap_m; double phase_us[STN_PHASE_COUNT]; double overlap_without_contact_m;
    int32_t overlap_geometry[2], bare_geometry[2]; double contact_J, contact_start_J; stn_contradiction contradiction;
    int32_t inverted_count; int32_t inverted_group, inverted_element; int32_t fallbacks; int32_t sleeping_count; double stopped_J;
    ...;
};
struct stn_observation {
    const stn_model *model; int64_t step; double time, dt; const double *q, *v; const stn_kinematics *kinematics;
    const stn_contact_set *contacts; const stn_problem *problem; const double *solution_v, *gamma;
    const stn_certificate *certificate; const stn_step_report *report; ...;
};

struct stn_batch_options { uint32_t size; int32_t count; int32_t threads; uint32_t outputs; };
struct stn_batch_tally { int64_t steps; int64_t not_converged; int64_t stalled; int32_t failed; };

struct stn_jacobian {
    int32_t tree; int32_t node_count; int32_t node_size; int32_t node[STN_MAX_NODES]; const double *values; const double *wrench;
    int32_t tip;
};
struct stn_constraint {
    uint64_t id; stn_constraint_kind kind; stn_constraint_set set; int32_t row, rows; stn_jacobian J[2]; double phi0; double stiffness;
    double relaxation_time; double dissipation; double mu1, mu2; double restitution; double w; double w_trace; double gamma_n0;
    double vn0; int32_t memory; double anchor[2]; int32_t body[2]; int32_t contact; int32_t patch; stn_vec3 point; stn_mat3 frame;
    int32_t more_count; const stn_jacobian *more;
};
struct stn_problem {
    const char *name; stn_problem_form form; stn_velocity_kind velocity_kind; double theta; double dt;
    int32_t nv, tree_count, constraint_count, row_count; stn_problem_tree *trees; stn_constraint *constraints;
    double *v0; double *v_star; double *v_guess; double *free_impulse;
    double *W, *q, *V, *R_bilateral, *s; int32_t bilateral_count; bool general_W;
    double *bias; double *lo, *hi; double *R; double *v_hat; double *phi; double *gamma_guess; bool explicit_R;
    double beta, sigma, stiction_tolerance;
};
struct stn_problem_solver_options {
    const stn_instance *solver; const stn_instance *law; const stn_instance *factor; stn_threads *threads;
};
struct stn_solve_request {
    bool masses; const stn_inverse *inverse; const void *law_memory; void *solver_memory; uint32_t certificate_flags; double *phase_us;
    const stn_solve_info *given;
};
struct stn_unheld { int32_t tree, dof; };
struct stn_solution { double *v; double *gamma; double *v_position; };
struct stn_solve_report {
    stn_status status; int32_t iterations, island_count, not_converged; int32_t factorizations, line_search_evaluations;
    int32_t fallbacks; double cost; const char *reason; int32_t worst; double prepare_us, solve_us, certificate_us;
    stn_contradiction contradiction; stn_unheld unheld;
};

struct stn_script_parameter {
    const char *name; stn_script_type type; double number; const char *text; bool bounded; double min, max; const char *unit;
    const char *const *choices; int32_t choice_count;
};
struct stn_script_host_ops {
    uint32_t size;
    stn_status (*parameter)(stn_script_host *host, stn_script_parameter *parameter, stn_error *err);
    stn_status (*options)(stn_script_host *host, struct stn_world_options *options, stn_error *err);
    stn_status (*choose)(stn_script_host *host, const char *kind, stn_plugin_choice *choice, stn_error *err);
    stn_status (*step)(stn_script_host *host, struct stn_world *world, stn_error *err);
    stn_status (*end)(stn_script_host *host, struct stn_world *world, stn_error *err);
    stn_status (*begin)(stn_script_host *host, struct stn_world *world,
                        stn_status (*opens)(void *user, struct stn_world *world, stn_plugin_choice *recorder, stn_error *err),
                        void *user, stn_error *err);
    void (*touched)(stn_script_host *host, struct stn_world *world);
    void (*until)(stn_script_host *host, double time);
    bool (*stopped)(const stn_script_host *host);
    stn_status (*check)(stn_script_host *host, const stn_script_check *check, stn_error *err);
    stn_status (*result)(stn_script_host *host, const char *name, double value, const char *unit, stn_error *err);
    void (*claim)(stn_script_host *host, const char *failed);
    stn_status (*skip)(stn_script_host *host, const char *reason, stn_error *err);
    void (*leave)(stn_script_host *host, int status, const char *text);
    bool (*declare_test)(stn_script_host *host, const char *name);
    stn_status (*tests)(stn_script_host *host, const stn_test_batch *batch, stn_error *err);
    void (*group)(stn_script_host *host, const stn_test_group *group);
};
struct stn_script_host {
    uint32_t size; const stn_script_host_ops *ops; stn_context *context; const char *path; double dt; double seconds; int64_t seed;
    int32_t threads; bool stiction, profile; const char *output; bool approve; bool lists_tests; bool isolates_tests;
};
struct stn_script_ops {
    uint32_t size; const char *const *extensions;
    stn_status (*run)(void *self, stn_script_host *host, stn_error *err);
    void (*stop)(void *self);
    const char *example;
};
"""

FUNCTIONS = """
const char *stn_status_text(stn_status status);
const char *stn_kind_name(stn_kind kind);
stn_status stn_context_create_sized(const stn_context_options *options, size_t size, stn_context **out, stn_error *err);
void stn_context_destroy(stn_context *context);
int64_t stn_context_allocations(const stn_context *context);
const char *stn_find_shipped(const char *name, char *path);

stn_status stn_plugins_of_kind(stn_context *context, stn_kind kind, const stn_plugin_info **plugins, int32_t *count, stn_error *err);
stn_status stn_plugin_load(stn_context *context, stn_kind kind, const char *name, stn_error *err);
stn_status stn_plugin_for_file(stn_context *context, stn_kind kind, const char *path, const char **id, stn_error *err);
stn_status stn_instance_create(stn_context *context, stn_kind kind, const char *id, const stn_setting *settings,
                               int32_t setting_count, stn_instance **out, stn_error *err);
void stn_instance_destroy(stn_instance *instance);

stn_status stn_world_create(stn_context *context, const stn_world_options *options, stn_world **out, stn_error *err);
void stn_world_destroy(stn_world *world);
stn_model_builder *stn_world_builder(stn_world *world);
stn_status stn_world_compile(stn_world *world, stn_error *err);
stn_status stn_world_add_controller(stn_world *world, stn_instance *instance, int32_t group, const int32_t *joints,
                                    int32_t joint_count, int32_t *controller, stn_error *err);
stn_status stn_world_set_controller(stn_world *world, int32_t controller, int32_t priority, bool active, stn_error *err);
stn_status stn_world_step(stn_world *world, stn_error *err);
const stn_model *stn_world_model(const stn_world *world);
const stn_state *stn_world_state(const stn_world *world);
double stn_world_dt(const stn_world *world);
stn_status stn_world_set_dt(stn_world *world, double dt, stn_error *err);
stn_status stn_world_set_gravity(stn_world *world, stn_vec3 gravity, stn_error *err);
const stn_kinematics *stn_world_kinematics(stn_world *world);
double stn_world_elastic_energy(stn_world *world);
double stn_kinetic_energy(const stn_kinematics *kinematics);
double stn_gravitational_energy(const stn_kinematics *kinematics, stn_vec3 gravity);
const stn_observation *stn_world_observation(const stn_world *world);
void stn_observation_contact(const stn_observation *observation, int32_t contact, stn_contact_report *out);
const char *stn_contact_state_name(stn_contact_state state);
const char *stn_world_parameters(const stn_world *world);
stn_status stn_world_set_q(stn_world *world, const double *q, stn_error *err);
stn_status stn_world_set_v(stn_world *world, const double *v, stn_error *err);
stn_status stn_world_set_effort(stn_world *world, int32_t dof, double effort, stn_error *err);
stn_status stn_world_set_wrench(stn_world *world, int32_t body, stn_vec3 force, stn_vec3 torque, stn_vec3 point, stn_error *err);
stn_status stn_world_set_mass_factor(stn_world *world, int32_t body, double factor, stn_error *err);
stn_status stn_world_set_friction_factor(stn_world *world, int32_t geometry, double factor, stn_error *err);
stn_status stn_world_set_reference(stn_world *world, int32_t controller, const char *channel, const double *values, int32_t count,
                                   stn_error *err);
stn_status stn_world_activate_controller(stn_world *world, int32_t controller, bool active, double blend, stn_error *err);
double stn_world_controller_weight(const stn_world *world, int32_t controller);
int32_t stn_world_controller_count(const stn_world *world);
const stn_instance *stn_world_controller(const stn_world *world, int32_t controller);
const stn_control_target *stn_world_controller_target(const stn_world *world, int32_t controller);
void stn_world_reset(stn_world *world);
stn_status stn_world_clone(const stn_world *world, stn_world **out, stn_error *err);
uint64_t stn_world_hash(const stn_world *world);
stn_status stn_world_snapshot(const stn_world *world, stn_snapshot **out, stn_error *err);
void stn_snapshot_destroy(stn_snapshot *snapshot);
stn_status stn_world_restore(stn_world *world, const stn_snapshot *snapshot, stn_error *err);
stn_status stn_world_record(stn_world *world, stn_instance *recorder, const char *path, stn_error *err);
stn_status stn_world_close_recordings(stn_world *world, stn_error *err);

stn_status stn_builder_begin_group(stn_model_builder *builder, const char *name, int32_t *group, stn_error *err);
void stn_builder_discard(stn_model_builder *builder, int32_t group);
stn_status stn_builder_set_base(stn_model_builder *builder, int32_t group, const stn_pose *base, bool fixed, stn_error *err);
void stn_builder_get_base(const stn_model_builder *builder, int32_t group, stn_pose *base, bool *fixed);
stn_status stn_builder_add_link(stn_model_builder *builder, const stn_link_spec *spec, int32_t *link, stn_error *err);
stn_status stn_builder_add_geometry(stn_model_builder *builder, int32_t link, const stn_geometry_spec *spec, int32_t *geometry,
                                    stn_error *err);
stn_status stn_builder_attach(stn_model_builder *builder, int32_t group, int32_t link, const stn_pose *pose, stn_error *err);
stn_status stn_builder_disable_collisions(stn_model_builder *builder, int32_t link_a, int32_t link_b, stn_error *err);
stn_status stn_builder_set_contact_material(stn_model_builder *builder, int32_t link_a, int32_t link_b,
                                            const stn_material *material, stn_error *err);
stn_status stn_builder_scale_mass(stn_model_builder *builder, int32_t group, double factor, stn_error *err);
stn_status stn_builder_set_material(stn_model_builder *builder, int32_t group, const stn_material *material, stn_error *err);
void stn_builder_group_links(const stn_model_builder *builder, int32_t group, int32_t *start, int32_t *count);
int32_t stn_builder_group_count(const stn_model_builder *builder);
const char *stn_builder_group_name(const stn_model_builder *builder, int32_t group);
int32_t stn_builder_find_link(const stn_model_builder *builder, int32_t group, const char *name);
stn_geometry_spec stn_geometry_spec_default(stn_shape shape);
stn_material stn_material_unset(void);
const stn_named_material *stn_named_material_find(const char *name);
stn_shape stn_shape_sphere(double radius);
stn_shape stn_shape_box(stn_vec3 half_extents);
stn_shape stn_shape_capsule(double radius, double half_length);
stn_shape stn_shape_cylinder(double radius, double half_length);
stn_shape stn_shape_half_space(void);
stn_shape stn_shape_ellipsoid(stn_vec3 semi_axes);
stn_status stn_shape_check(const stn_shape *shape, stn_error *err);
stn_status stn_shape_mass(const stn_shape *shape, double mass, stn_mass *out, stn_error *err);
double stn_shape_volume(const stn_shape *shape);
void stn_diagnostics_init(stn_diagnostics *list, stn_context *context);
void stn_diagnostics_clear(stn_diagnostics *list);
stn_status stn_load_robot(stn_context *context, const stn_load_request *request, stn_model_builder *builder, int32_t *group,
                          stn_diagnostics *diagnostics, stn_error *err);
const char *stn_joint_type_name(stn_joint_type type);
int32_t stn_model_find_link(const stn_model *model, int32_t group, const char *name);
int32_t stn_model_find_joint(const stn_model *model, int32_t group, const char *name);
int32_t stn_model_find_keyframe(const stn_model *model, int32_t group, const char *name);
int32_t stn_model_find_group(const stn_model *model, const char *name);
void stn_model_keyframe_apply(const stn_model *model, int32_t keyframe, double *q);

const char *stn_batch_field_name(stn_batch_field field);
stn_status stn_batch_create(const stn_world *world, const stn_batch_options *options, stn_batch **out, stn_error *err);
void stn_batch_destroy(stn_batch *batch);
int32_t stn_batch_columns(const stn_batch *batch, stn_batch_field field);
stn_status stn_batch_step(stn_batch *batch, int32_t steps, stn_error *err);
const stn_error *stn_batch_error(const stn_batch *batch, int32_t world);
stn_batch_tally stn_batch_count_steps(const stn_batch *batch);
stn_status stn_batch_get(const stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count, double *values,
                         stn_error *err);
stn_status stn_batch_set(stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count, const double *values,
                         stn_error *err);
stn_status stn_batch_reset(stn_batch *batch, const int32_t *worlds, int32_t count, stn_error *err);
stn_status stn_batch_copy(stn_batch *batch, const int32_t *from, const int32_t *to, int32_t count, stn_error *err);
uint64_t stn_batch_hash(const stn_batch *batch, int32_t world);
stn_status stn_batch_save_capsule(stn_batch *batch, int32_t world, const char *path, stn_error *err);

const char *stn_constraint_kind_name(stn_constraint_kind kind);
const char *stn_constraint_set_name(stn_constraint_set set);
stn_status stn_problem_load(stn_context *context, const char *path, stn_problem_owner **out, stn_error *err);
const stn_problem *stn_problem_of(const stn_problem_owner *owner);
void stn_problem_destroy(stn_problem_owner *owner);
stn_status stn_problem_save(stn_context *context, const stn_problem *problem, const char *format, const char *path, stn_error *err);
stn_status stn_problem_copy(stn_context *context, const stn_problem *problem, stn_problem_owner **out, stn_error *err);
stn_status stn_problem_local(stn_context *context, const stn_problem *problem, stn_problem_owner **out, stn_error *err);
void stn_problem_jacobian_transposed_add(const stn_problem *problem, double s, const double *gamma, double *y);
void stn_problem_contact_velocity(const stn_problem *problem, const double *v, bool with_bias, double *v_c);
void stn_problem_mass_times(const stn_problem *problem, const double *x, const double *x0, double *y);
stn_status stn_threads_create(stn_context *context, int32_t count, stn_threads **out, stn_error *err);
void stn_threads_destroy(stn_threads *threads);
stn_status stn_problem_solver_create_sized(stn_context *context, const stn_problem_solver_options *options, size_t size,
                                           stn_problem_solver **out, stn_error *err);
void stn_problem_solver_destroy(stn_problem_solver *solver);
stn_status stn_problem_solve(stn_problem_solver *solver, stn_problem *problem, const stn_solve_request *request,
                             stn_solution *solution, stn_solve_report *report, stn_certificate *certificate, stn_error *err);
"""

_PLAIN = {
    "void": None,
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


def _pieces(text, separator):
    """Parts of `text` between separators that stand in no bracket."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "({") - (letter in ")}")
        if letter == separator and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    parts.append(part.strip())
    return [p for p in parts if p]


class _Reader:
    def __init__(self):
        self.types = dict(_PLAIN, **{name: ctypes.c_int for name in ENUMERATIONS})
        self.structs = {}

    def value(self, text):
        """The type of a parameter or result: every pointer is an address, but for texts that are handed in or out."""
        borrowed = re.match(r"\s*const\b", text)
        text = re.sub(r"\b(const|struct)\b", " ", text).strip()
        if "(*" in text or "[" in text:
            return ctypes.c_void_p
        stars = text.count("*")
        base = re.match(r"unsigned int|\w+", text).group(0)
        if stars == 0:
            return self.types[base]
        return ctypes.c_char_p if borrowed and base == "char" and stars == 1 else ctypes.c_void_p

    def function(self, result, parameters):
        parameters = [] if parameters.strip() == "void" else _pieces(parameters, ",")
        return self.value(result), [self.value(p) for p in parameters]

    def members(self, text):
        for member in _pieces(text, ";"):
            called = re.match(r"([^(]*)\(\*(\w+)\)\((.*)\)$", member, re.S)
            if called:
                result, parameters = self.function(called.group(1), called.group(3))
                yield called.group(2), ctypes.CFUNCTYPE(result, *parameters)
                continue
            member = re.sub(r"\b(const|struct)\b", " ", member).strip()
            base, names = re.match(r"(unsigned int|\w+)\s*(.*)$", member, re.S).groups()
            for name in names.split(","):
                stars, name, sizes = re.match(r"\s*([*\s]*)(\w+)((?:\[\w+\])*)$", name).groups()
                stars = stars.count("*")
                kind = ctypes.c_char_p if base == "char" and stars == 1 else ctypes.c_void_p if stars else self.types[base]
                for size in reversed(re.findall(r"\w+", sizes)):
                    kind = kind * (int(size) if size.isdigit() else CONSTANTS[size])
                yield name, kind

    def struct(self, text):
        name, body = re.match(r"struct (\w+) \{(.*)\}$", text, re.S).groups()
        partial = "...;" in body
        fields = list(self.members(body.replace("...;", "")))
        kind = type(name, (ctypes.Structure,), {"_fields_": fields, "partial": partial})
        self.types[name] = self.structs[name] = kind


def read():
    """(structs, functions): ctypes classes by name, and (result, parameters) of every function by name."""
    reader = _Reader()
    for text in _pieces(STRUCTS, ";"):
        reader.struct(text)
    functions = {}
    for text in _pieces(FUNCTIONS, ";"):
        result, name, parameters = re.match(r"(.*?)(\w+)\((.*)\)$", text, re.S).groups()
        functions[name] = reader.function(result, parameters)
    return reader.structs, functions
