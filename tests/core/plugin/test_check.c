// SPDX-License-Identifier: Apache-2.0
// Descriptors with one mistake each, given to stn_plugin_register.
#include "stn_test.h"

#include <string.h>

#include <stiction/plugin.h>

typedef struct sample {
    double gain;
    int32_t every;
    const char *title;
} sample;

static const stn_param good_params[] = {
    STN_PARAM_REAL(sample, gain, "m", 1.0, 0.0, 2.0, "a length"),
    STN_PARAM_INT(sample, every, "1", 1.0, 1.0, 9.0, "steps"),
    STN_PARAM_TEXT(sample, title, NULL, "first line"),
};

/// A table of operations in which every pointer is set; none is ever called, so any bits but zero will do.
typedef union table {
    uint32_t size;
    stn_loader_ops loader;
    stn_contact_ops contact;
    stn_law_ops law;
    stn_integrator_ops integrator;
    stn_solver_ops solver;
    stn_factor_ops factor;
    stn_controller_ops controller;
    stn_element_ops element;
    stn_recorder_ops recorder;
    stn_mesh_ops mesh;
    stn_problem_file_ops problem_file;
    stn_constraint_ops constraint;
} table;

static size_t table_size(stn_kind kind) {
    static const size_t sizes[STN_KIND_COUNT] = {
        [STN_KIND_LOADER] = sizeof(stn_loader_ops),
        [STN_KIND_CONTACT] = sizeof(stn_contact_ops),
        [STN_KIND_LAW] = sizeof(stn_law_ops),
        [STN_KIND_INTEGRATOR] = sizeof(stn_integrator_ops),
        [STN_KIND_SOLVER] = sizeof(stn_solver_ops),
        [STN_KIND_FACTOR] = sizeof(stn_factor_ops),
        [STN_KIND_CONTROLLER] = sizeof(stn_controller_ops),
        [STN_KIND_ELEMENT] = sizeof(stn_element_ops),
        [STN_KIND_RECORDER] = sizeof(stn_recorder_ops),
        [STN_KIND_COMMAND] = sizeof(stn_command_ops),
        [STN_KIND_SCRIPT] = sizeof(stn_script_ops),
        [STN_KIND_MESH] = sizeof(stn_mesh_ops),
        [STN_KIND_PROBLEM_FILE] = sizeof(stn_problem_file_ops),
        [STN_KIND_CONSTRAINT] = sizeof(stn_constraint_ops),
    };
    return sizes[kind];
}

static const char *const words[] = {"word", NULL}, *const no_words[] = {NULL};

static stn_plugin_desc make(stn_kind kind, table *ops) {
    memset(ops, 1, sizeof *ops);
    ops->size = (uint32_t)table_size(kind);
    if (kind == STN_KIND_LAW) {
        ops->law.coefficient_count = 4;
        ops->law.sets = 1u << STN_SET_CONE;
    } else if (kind == STN_KIND_SOLVER) {
        ops->solver.formulation = STN_NCP;
        ops->solver.yields = STN_YIELDS_BOTH;
        ops->solver.needs = STN_NEEDS_DELASSUS | STN_NEEDS_LAW;
        ops->solver.sets = 1u << STN_SET_CONE | 1u << STN_SET_EQUALITY;
        ops->solver.supports = 0;
    } else if (kind == STN_KIND_CONTROLLER) {
        ops->controller.channel_count = 0;
    } else if (kind == STN_KIND_CONSTRAINT) {
        ops->constraint.channel_count = 0;
        ops->constraint.output_count = 0;
    } else if (kind == STN_KIND_ELEMENT) {
        ops->element.nodes_per_element = 4;
        ops->element.constant_count = 2;
        ops->element.node_type = STN_NODE_POINT;
        ops->element.parameter_count = ops->element.channel_count = ops->element.output_count = 0;
        ops->element.state_count = 0;
        ops->element.initial_state = NULL;
        ops->element.measure = NULL;
    } else if (kind == STN_KIND_MESH) {
        ops->mesh.extensions = words;
    } else if (kind == STN_KIND_PROBLEM_FILE) {
        ops->problem_file.extensions = words;
        ops->problem_file.formats = words;
    }
    stn_plugin_desc desc = {
        .size = sizeof desc,
        .kind = kind,
        .id = "toy",
        .version = "1",
        .summary = "for tests",
        .config_size = sizeof(sample),
        .params = good_params,
        .param_count = STN_COUNT(good_params),
    };
    memcpy(&desc.ops, &ops, sizeof ops);
    return desc;
}

/// The line that the check gives; "" when it lets the descriptor through.
static const char *judge(const stn_plugin_desc *desc) {
    static stn_error err;
    stn_context *context = NULL;
    err = (stn_error){STN_OK, ""};
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_status status = stn_plugin_register(context, desc, &err);
    assert_true(status == STN_OK || status == STN_ERR_PLUGIN);
    stn_context_destroy(context);
    return err.text;
}

static void test_a_complete_plugin_of_every_kind_passes(void **state) {
    (void)state;
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        table ops;
        stn_plugin_desc desc = make((stn_kind)kind, &ops);
        assert_string_equal(judge(&desc), "");
    }
}

/// Clears the pointer at `offset` and expects the operation to be missed.
static void assert_required(stn_kind kind, size_t offset, const char *name) {
    table ops;
    char line[256];
    stn_plugin_desc desc = make(kind, &ops);
    memset((unsigned char *)&ops + offset, 0, sizeof(void *));
    snprintf(line, sizeof line, "%s toy: required operation %s is missing", stn_kind_name(kind), name);
    assert_memory_equal(judge(&desc), line, strlen(line));
    desc = make(kind, &ops);
    ops.size = (uint32_t)offset;
    assert_string_not_equal(judge(&desc), "");
}

#define REQUIRED(kind, member) assert_required(STN_KIND_##kind, offsetof(table, member), strchr(#member, '.') + 1)

static void test_every_required_operation_is_missed(void **state) {
    (void)state;
    REQUIRED(LOADER, loader.recognises);
    REQUIRED(LOADER, loader.load);
    REQUIRED(CONTACT, contact.handles);
    REQUIRED(CONTACT, contact.collide);
    REQUIRED(CONTACT, contact.release);
    REQUIRED(LAW, law.prepare);
    REQUIRED(LAW, law.evaluate);
    REQUIRED(INTEGRATOR, integrator.form);
    REQUIRED(INTEGRATOR, integrator.advance);
    REQUIRED(SOLVER, solver.solve);
    REQUIRED(SOLVER, solver.destroy_workspace);
    REQUIRED(FACTOR, factor.symbolic);
    REQUIRED(FACTOR, factor.release);
    REQUIRED(FACTOR, factor.numeric);
    REQUIRED(FACTOR, factor.solve);
    REQUIRED(CONTROLLER, controller.evaluate);
    REQUIRED(ELEMENT, element.evaluate);
    REQUIRED(CONSTRAINT, constraint.row_count);
    REQUIRED(CONSTRAINT, constraint.emit);
    REQUIRED(RECORDER, recorder.extension);
    REQUIRED(RECORDER, recorder.open);
    REQUIRED(RECORDER, recorder.observe);
    REQUIRED(RECORDER, recorder.close);
}

static void test_optional_operations_may_be_absent_or_beyond_the_size(void **state) {
    (void)state;
    table ops;
    stn_plugin_desc desc = make(STN_KIND_LAW, &ops);
    ops.law.reach = NULL;
    ops.law.regularize = NULL;
    ops.size = offsetof(stn_law_ops, max_step); // a table of an older minor version
    assert_string_equal(judge(&desc), "");
    desc = make(STN_KIND_CONTACT, &ops);
    ops.contact.prepare = NULL;
    ops.contact.release = NULL;
    assert_string_equal(judge(&desc), "");
}

static void test_figures_in_the_operation_tables_are_checked(void **state) {
    (void)state;
    table ops;
    stn_plugin_desc desc = make(STN_KIND_SOLVER, &ops);
    ops.solver.sets = 0;
    assert_string_equal(judge(&desc), "solver toy: sets = 0x0 must name constraint sets, 1u << STN_SET_...");
    desc = make(STN_KIND_SOLVER, &ops);
    ops.solver.needs = 64;
    assert_string_equal(judge(&desc), "solver toy: needs = 0x40 asks for something unknown");
    desc = make(STN_KIND_SOLVER, &ops);
    ops.solver.supports = 16;
    assert_string_equal(judge(&desc), "solver toy: supports = 0x10 names something unknown");
    desc = make(STN_KIND_SOLVER, &ops);
    ops.solver.supports = STN_SUPPORTS_SINGULAR_A;
    ops.solver.yields = STN_YIELDS_BOTH;
    ops.solver.needs = STN_NEEDS_DELASSUS;
    assert_string_equal(judge(&desc), "");
    ops.solver.needs = STN_NEEDS_INVERSE;
    assert_string_equal(judge(&desc), ""); // where A is regular
    ops.solver.supports = STN_SUPPORTS_UNFACTORED_A;
    assert_string_equal(judge(&desc), "solver toy: supports an unfactored A and needs its inverse");
    ops.solver.needs = 0;
    assert_string_equal(judge(&desc), "");
    ops.solver.yields = STN_YIELDS_IMPULSE;
    assert_string_equal(judge(&desc), "");
    desc = make(STN_KIND_SOLVER, &ops);
    ops.solver.yields = (stn_yield)0;
    assert_string_equal(judge(&desc), "solver toy: yields = 0 must be velocity, impulse or both");
    static const char *const misplaced[] = {"dense", "slack", NULL}, *const unknown[] = {"aproximate", NULL};
    static const char *const known[] = {"dense", "approximate", NULL};
    desc = make(STN_KIND_SOLVER, &ops);
    desc.capabilities = known;
    assert_string_equal(judge(&desc), "");
    desc.capabilities = misplaced;
    assert_string_equal(
        judge(&desc), "solver toy: capability \"slack\" is a word of kind element; a solver knows approximate, dense, "
                      "dissipation, modulus, restitution");
    desc.capabilities = unknown;
    assert_string_equal(judge(&desc), "solver toy: unknown capability \"aproximate\"; a solver knows approximate, "
                                      "dense, dissipation, modulus, restitution");
    desc = make(STN_KIND_CONTROLLER, &ops);
    desc.capabilities = misplaced;
    assert_string_equal(judge(&desc), "controller toy: capability \"dense\" is a word of kind solver; a controller "
                                      "knows inertia, joint_by_joint");
    desc = make(STN_KIND_RECORDER, &ops);
    desc.capabilities = misplaced;
    assert_string_equal(judge(&desc), "recorder toy: capability \"dense\" is a word of kind solver; a recorder knows "
                                      "none");
    desc = make(STN_KIND_ELEMENT, &ops);
    ops.element.prepare = NULL;
    assert_string_equal(judge(&desc), "element toy: constant_count = 2 must be >= 0, and > 0 needs prepare");
    desc = make(STN_KIND_ELEMENT, &ops);
    ops.element.nodes_per_element = 9;
    assert_string_equal(judge(&desc), "element toy: nodes_per_element = 9, must be 2 to 8");
    desc = make(STN_KIND_CONTROLLER, &ops);
    ops.controller.channel_count = 2;
    ops.controller.channels = NULL;
    assert_string_equal(judge(&desc), "controller toy: channels and channel_count = 2 do not fit together");
    static const stn_channel whole = {"tension", "N", "that pulls", 1};
    const int32_t many = STN_CHANNEL_MOST + 1;
    ops.controller.channel_count = 1;
    ops.controller.channels = &whole;
    ops.controller.channel_rows = &many;
    assert_string_equal(judge(&desc),
                        "controller toy: channel 0 needs name, unit, summary, size and rows of 0 to 4096");
    desc = make(STN_KIND_CONSTRAINT, &ops);
    ops.constraint.channel_count = 2;
    ops.constraint.channels = NULL;
    assert_string_equal(judge(&desc), "constraint toy: channels and channel_count = 2 do not fit together");
    ops.constraint.channel_count = -1;
    assert_string_equal(judge(&desc), "constraint toy: channels and channel_count = -1 do not fit together");
    const stn_channel wrong[] = {{NULL, "N", "that pulls", 1},
                                 {"tension", NULL, "that pulls", 1},
                                 {"tension", "N", NULL, 1},
                                 {"tension", "N", "that pulls", 0},
                                 {"tension", "N", "that pulls", STN_CHANNEL_MOST + 1}};
    for (int32_t i = 0; i < STN_COUNT(wrong); i++) {
        const stn_channel channels[] = {whole, wrong[i]};
        ops.constraint.channel_count = 2;
        ops.constraint.channels = channels;
        assert_string_equal(judge(&desc), "constraint toy: channel 1 needs name, unit, summary and size of 1 to 4096");
    }
    ops.constraint.channel_count = 1;
    ops.constraint.channels = &whole;
    assert_string_equal(judge(&desc), "");
    static const stn_constraint_output told = {"load", "N", "that it carries", 1, NULL};
    const stn_constraint_output wrong_output[] = {{NULL, "N", "that it carries", 1, NULL},
                                                  {"load", NULL, "that it carries", 1, NULL},
                                                  {"load", "N", NULL, 1, NULL},
                                                  {"load", "N", "that it carries", 0, NULL},
                                                  {"load", "N", "that it carries", STN_CHANNEL_MOST + 1, NULL}};
    for (int32_t i = 0; i < STN_COUNT(wrong_output); i++) {
        const stn_constraint_output outputs[] = {told, wrong_output[i]};
        ops.constraint.output_count = 2;
        ops.constraint.outputs = outputs;
        assert_string_equal(judge(&desc), "constraint toy: output 1 needs name, unit, summary and size of 1 to 4096");
    }
    const stn_constraint_output twice = {"tension", "N", "that pulls", 1, NULL};
    ops.constraint.output_count = 1;
    ops.constraint.outputs = &twice;
    assert_string_equal(judge(&desc), "constraint toy: 'tension' is a channel and an output; rename one");
    ops.constraint.outputs = &told;
    assert_string_equal(judge(&desc), "");
    desc = make(STN_KIND_PROBLEM_FILE, &ops);
    ops.problem_file.formats = no_words;
    assert_string_equal(judge(&desc), "problem_file toy: formats is empty: write needs the name of what it writes");
    ops.problem_file.write = NULL;
    assert_string_equal(judge(&desc),
                        "problem_file toy: formats is empty: write_solution needs the name of what it writes");
    ops.problem_file.write_solution = NULL;
    assert_string_equal(judge(&desc), "");
    desc = make(STN_KIND_MESH, &ops);
    ops.mesh.extensions = no_words;
    assert_string_equal(judge(&desc), "");
    ops.mesh.recognises = NULL;
    assert_string_equal(judge(&desc), "mesh toy: extensions is empty and recognises is missing: no file could be read");
}

static void test_a_descriptor_without_identity_is_refused(void **state) {
    (void)state;
    static const char *const bad_ids[] = {NULL, "", "Sap", "2d", "a-b", "a b", "_x"};
    table ops;
    stn_plugin_desc desc = make(STN_KIND_RECORDER, &ops);
    assert_string_equal(judge(NULL), "an empty place in the list of plugins");
    for (int32_t i = 0; i < STN_COUNT(bad_ids); i++) {
        desc.id = bad_ids[i];
        assert_non_null(strstr(judge(&desc), "must be lower case, digits and _"));
    }
    desc = make(STN_KIND_RECORDER, &ops);
    desc.size = 8;
    assert_non_null(strstr(judge(&desc), "descriptor size = 8, must be >="));
    desc = make(STN_KIND_RECORDER, &ops);
    desc.kind = (stn_kind)77;
    assert_string_equal(judge(&desc), "kind 77 is unknown, must be 0 to 13");
    desc = make(STN_KIND_RECORDER, &ops);
    desc.summary = NULL;
    assert_string_equal(judge(&desc), "recorder toy: version and summary must be given");
    desc = make(STN_KIND_RECORDER, &ops);
    memset(&desc.ops, 0, sizeof desc.ops);
    assert_string_equal(judge(&desc), "recorder toy: the table of operations is missing");
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context;
    (void)config;
    *self = NULL;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "never called");
}

static void test_create_needs_destroy(void **state) {
    (void)state;
    table ops;
    stn_plugin_desc desc = make(STN_KIND_RECORDER, &ops);
    desc.create = create;
    assert_string_equal(judge(&desc), "recorder toy: create and destroy must be given both or neither");
}

static const char *judge_param(stn_kind kind, stn_param param) {
    table ops;
    stn_plugin_desc desc = make(kind, &ops);
    stn_param params[2] = {good_params[0], param};
    desc.params = params;
    desc.param_count = 2;
    return judge(&desc);
}

static void test_bad_parameter_declarations_are_refused(void **state) {
    (void)state;
    static const char *const empty[] = {NULL};
    stn_param p = good_params[1];
    p.name = NULL;
    assert_non_null(strstr(judge_param(STN_KIND_RECORDER, p), "parameter 1: name \"\" must be lower case"));
    p = good_params[0];
    assert_string_equal(judge_param(STN_KIND_RECORDER, p), "recorder toy: parameter gain is declared twice");
    p = good_params[1];
    p.name = "max_iterations";
    assert_string_equal(judge_param(STN_KIND_SOLVER, p),
                        "solver toy: parameter max_iterations: every solver has it already; leave it out");
    assert_string_equal(judge_param(STN_KIND_RECORDER, p), "");
    p = good_params[1];
    p.offset = sizeof(sample);
    assert_non_null(
        strstr(judge_param(STN_KIND_RECORDER, p), "parameter every: offset 24 with 4 bytes does not lie in"));
    p = good_params[1];
    p.offset = 2;
    assert_non_null(strstr(judge_param(STN_KIND_RECORDER, p), "parameter every: offset 2 with 4 bytes"));
    p = good_params[1];
    p.default_number = (double)NAN;
    assert_string_equal(judge_param(STN_KIND_RECORDER, p),
                        "recorder toy: parameter every: default nan is outside its range 1 to 9");
    p = good_params[1];
    p.default_number = 1.5;
    assert_string_equal(judge_param(STN_KIND_RECORDER, p),
                        "recorder toy: parameter every: default 1.5 must be a whole number");
    p = good_params[1];
    p.maximum = (double)INFINITY;
    assert_string_equal(judge_param(STN_KIND_RECORDER, p),
                        "recorder toy: parameter every: range 1 to inf must fit into 32 bits");
    p = good_params[1];
    p.type = STN_PARAM_TYPE_CHOICE;
    p.choices = empty;
    assert_string_equal(judge_param(STN_KIND_RECORDER, p),
                        "recorder toy: parameter every: a choice without its list of names");
    p = good_params[1];
    p.type = (stn_param_type)9;
    assert_string_equal(judge_param(STN_KIND_RECORDER, p), "recorder toy: parameter every: unknown type 9");
    p = good_params[1];
    p.unit = NULL;
    assert_non_null(strstr(judge_param(STN_KIND_RECORDER, p), "parameter every: needs a unit"));
}

static void test_parameters_and_their_count_must_fit(void **state) {
    (void)state;
    table ops;
    stn_plugin_desc desc = make(STN_KIND_RECORDER, &ops);
    desc.params = NULL;
    assert_string_equal(judge(&desc), "recorder toy: params and param_count = 3 do not fit together");
    desc.param_count = 0;
    desc.config_size = 0;
    assert_string_equal(judge(&desc), "");
    desc.memory_per_constraint = -8;
    assert_string_equal(judge(&desc), "recorder toy: memory_per_constraint = -8 must be >= 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_complete_plugin_of_every_kind_passes),
        cmocka_unit_test(test_every_required_operation_is_missed),
        cmocka_unit_test(test_optional_operations_may_be_absent_or_beyond_the_size),
        cmocka_unit_test(test_figures_in_the_operation_tables_are_checked),
        cmocka_unit_test(test_a_descriptor_without_identity_is_refused),
        cmocka_unit_test(test_create_needs_destroy),
        cmocka_unit_test(test_bad_parameter_declarations_are_refused),
        cmocka_unit_test(test_parameters_and_their_count_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
