// SPDX-License-Identifier: Apache-2.0
// The plugin border. One shared object exports one symbol, and it is constant data: listing plugins runs no plugin
// code.
#ifndef STICTION_PLUGIN_H
#define STICTION_PLUGIN_H

#include <stiction/certificate.h>
#include <stiction/command.h>
#include <stiction/constraint.h>
#include <stiction/contact.h>
#include <stiction/controller.h>
#include <stiction/element.h>
#include <stiction/factor.h>
#include <stiction/integrator.h>
#include <stiction/law.h>
#include <stiction/loader.h>
#include <stiction/mesh_file.h>
#include <stiction/params.h>
#include <stiction/problem_file.h>
#include <stiction/recorder.h>
#include <stiction/script.h>
#include <stiction/shared.h>
#include <stiction/solver.h>

STN_BEGIN_C

/// Major must match; a plugin's minor may be older than the host's, not newer.
#define STN_ABI_MAJOR 1
#define STN_ABI_MINOR 0

/// Kinds: enumerator, name in files and on the command line.
#define STN_KINDS(X)                       \
    X(STN_KIND_LOADER, loader)             \
    X(STN_KIND_CONTACT, contact)           \
    X(STN_KIND_LAW, law)                   \
    X(STN_KIND_INTEGRATOR, integrator)     \
    X(STN_KIND_SOLVER, solver)             \
    X(STN_KIND_FACTOR, factor)             \
    X(STN_KIND_CONTROLLER, controller)     \
    X(STN_KIND_ELEMENT, element)           \
    X(STN_KIND_RECORDER, recorder)         \
    X(STN_KIND_COMMAND, command)           \
    X(STN_KIND_SCRIPT, script)             \
    X(STN_KIND_MESH, mesh)                 \
    X(STN_KIND_PROBLEM_FILE, problem_file) \
    X(STN_KIND_CONSTRAINT, constraint)

/// Kinds of plugins, as listed above.
typedef enum stn_kind {
#define STN_KIND_ENUM(name, word) name,
    STN_KINDS(STN_KIND_ENUM)
#undef STN_KIND_ENUM
        STN_KIND_COUNT
} stn_kind;
STN_API const char *stn_kind_name(stn_kind kind); ///< "solver"; NULL outside the range

/// Describes one plugin. Constant data; `size` first, grows at the tail only.
typedef struct stn_plugin_desc {
    uint32_t size;         // sizeof of the struct as the plugin was compiled; the tail that it does not reach is zero
    stn_kind kind;         // decides which member of ops counts
    const char *id;        // lower case, digits and _; unique within its kind
    const char *version;   // of the plugin
    const char *summary;   // one line
    const char *reference; // paper and equations that it implements; NULL for none
    const char *const *capabilities; // words of stn_kind_capabilities, NULL-terminated; may be NULL. They change how it
                                     // is judged and what is said of it; any other word is refused
    uint32_t config_size;            // 0 without parameters
    const stn_param *params;
    int32_t param_count;
    int32_t memory_per_constraint; // bytes that a law or solver keeps across steps, by the constraint's id; zeros for a
                                   // new one
    /// OPTIONAL; without it `self` is the config. Only this can fail when a plugin is chosen. [setup]
    stn_status (*create)(stn_context *context, const void *config, void **self, stn_error *err);
    void (*destroy)(void *self); // REQUIRED with create; accepts NULL
    /// The operations of its kind; REQUIRED. See the header of that name.
    union {
        const stn_loader_ops *loader;             // loader.h
        const stn_contact_ops *contact;           // contact.h
        const stn_law_ops *law;                   // law.h
        const stn_integrator_ops *integrator;     // integrator.h
        const stn_solver_ops *solver;             // solver.h
        const stn_factor_ops *factor;             // factor.h
        const stn_controller_ops *controller;     // controller.h
        const stn_element_ops *element;           // element.h
        const stn_recorder_ops *recorder;         // recorder.h
        const stn_command_ops *command;           // command.h
        const stn_script_ops *script;             // script.h
        const stn_mesh_ops *mesh;                 // mesh_file.h
        const stn_problem_file_ops *problem_file; // problem_file.h
        const stn_constraint_ops *constraint;     // constraint.h
    } ops;                                        // the member that `kind` names
} stn_plugin_desc;

/// The exported symbol `stn_plugin`. Its first two words never move.
typedef struct stn_plugin_entry {
    uint32_t abi_major, abi_minor;         // STN_ABI_MAJOR and STN_ABI_MINOR of the headers that it was compiled with
    int32_t count;                         // plugins in this object
    const stn_plugin_desc *const *plugins; // (count)
} stn_plugin_entry;

/// Is this slot of an operation table there and set (not NULL, not 0)? For slots that came after the first release of a
/// table: a plugin that was compiled before them has a `size` that does not reach them.
#define STN_PLUGIN_HAS(ops, slot) \
    ((size_t)((const char *)(&(ops)->slot + 1) - (const char *)(ops)) <= (ops)->size && (ops)->slot)

/// STN_PLUGIN_LIBRARY(&a, &b); once per shared object.
#define STN_PLUGIN_LIBRARY(...)                                            \
    static const stn_plugin_desc *const stn_plugin_list[] = {__VA_ARGS__}; \
    extern STN_API const stn_plugin_entry stn_plugin;                      \
    const stn_plugin_entry stn_plugin = {STN_ABI_MAJOR, STN_ABI_MINOR, STN_COUNT(stn_plugin_list), stn_plugin_list}

/// A plugin as found: `file` is the shared object, "built in" for those of the core. Borrowed from the context.
typedef struct stn_plugin_info {
    const stn_plugin_desc *desc;   // of the plugin
    const char *file;              // shared object, or "built in"
    uint32_t abi_major, abi_minor; // STN_ABI_MAJOR and STN_ABI_MINOR of the headers that it was compiled with
} stn_plugin_info;

/// Where plugins are found: in the files *.so of the folders of the context's plugin_path, then of
/// STICTION_PLUGIN_PATH, then in <folder of the library>/stiction/plugins. The names in all folders are read at a
/// context's first question; a file is opened when it may hold what is asked for, and then at most once. Of several
/// plugins with one id the first folder's is found; within a folder that of the file named <kind>_<id>.so, then of a
/// file <kind>_*.so, then of a file whose name begins with no kind's word and '_', then of any other, each in the order
/// of their names. A registered plugin (stn_plugin_register) comes before all. A plugin of a named folder that hides
/// one beside the library is warned of when it is found by its id, once in a context.

/// All plugins, sorted by kind and id; opens all files. `problems` (NULL accepted) receives one line per file or folder
/// that was refused ("file: why"). Arrays are borrowed from the context. Thread: [any].
STN_API stn_status stn_plugins(stn_context *context, const stn_plugin_info **plugins, int32_t *count,
                               const char *const **problems, int32_t *problem_count, stn_error *err);
/// Plugins that are not among those of stn_plugins because one of their kind and id comes first, sorted alike. The
/// array is borrowed from the context. Thread: [any].
STN_API stn_status stn_plugins_hidden(stn_context *context, const stn_plugin_info **plugins, int32_t *count,
                                      stn_error *err);
/// Those of one kind, sorted by id; a refused file that is named for the kind is warned of once. Opens all files of the
/// folders on the two paths, and of the folder beside the library only those named <kind>_*.so or after no kind. The
/// array is borrowed from the context. Thread: [any].
STN_API stn_status stn_plugins_of_kind(stn_context *context, stn_kind kind, const stn_plugin_info **plugins,
                                       int32_t *count, stn_error *err);
/// Loads the shared object at a path that a person or a script names, which runs its code: never call it with text from
/// a data file. It must hold one plugin of this kind; stn_plugin_find then finds that by the path, and by its id where
/// no other has that id. A name without '/' is an id: nothing is loaded. STN_ERR_PLUGIN: why the file was refused.
/// Thread: [any].
STN_API stn_status stn_plugin_load(stn_context *context, stn_kind kind, const char *name, stn_error *err);
/// By id, or by the path of a shared object that stn_plugin_load loaded before or a folder of the search holds; opens
/// no file elsewhere, so that data may name plugins. Where the file <kind>_<id>.so beside the library has it, no other
/// file there is opened. STN_ERR_PLUGIN: unknown, with the nearest id and the list. Thread: [any].
STN_API stn_status stn_plugin_find(stn_context *context, stn_kind kind, const char *id, const stn_plugin_info **out,
                                   stn_error *err);
/// The plugin of kind recorder or script for files that end like `path`: its id, borrowed from the context.
/// STN_ERR_PLUGIN: there is none; the message lists the endings that exist. Thread: [any].
STN_API stn_status stn_plugin_for_file(stn_context *context, stn_kind kind, const char *path, const char **id,
                                       stn_error *err);
/// Adds a descriptor of the running program (tests, embedding programs), checked like one from a file. Borrowed until
/// the context ends. STN_ERR_PLUGIN when the id is taken: registered before, or in a file that was opened before.
STN_API stn_status stn_plugin_register(stn_context *context, const stn_plugin_desc *desc, stn_error *err);
/// Parameters that all plugins of a kind share (a solver's tolerance, max_iterations); listed before its own.
STN_API void stn_kind_params(stn_kind kind, const stn_param **params, int32_t *count, size_t *config_size);
/// Parameter `index` of those, with the default that this plugin has for it.
STN_API stn_param stn_shared_param(const stn_plugin_desc *desc, int32_t index);

/// A word that a plugin of some kind may have among its capabilities.
typedef struct stn_capability {
    const char *word, *meaning; // the meaning in one line
} stn_capability;
/// All words of a kind; NULL and 0: it has none. Thread: [any].
STN_API const stn_capability *stn_kind_capabilities(stn_kind kind, int32_t *count);

/// Shared parameters of solvers; the members of stn_solve_control.
typedef struct stn_solver_common {
    double tolerance, absolute_tolerance; // as in stn_solve_control
    int32_t max_iterations;               // as in stn_solve_control
} stn_solver_common;

/// A chosen plugin: descriptor, validated configuration, and what create made.
struct stn_instance {
    stn_context *context;        // that it was made from
    const stn_plugin_desc *desc; // of the plugin
    const char *file;            // shared object, or "built in"
    void *config;                // NULL without parameters
    void *common;                // the kind's shared parameters, NULL without
    void *self;                  // what create made; without create the config
};

/// Finds, configures and creates a plugin. Settings go to the kind's shared and the plugin's own parameters by name.
STN_API stn_status stn_instance_create(stn_context *context, stn_kind kind, const char *id, const stn_setting *settings,
                                       int32_t setting_count, stn_instance **out, stn_error *err);
STN_API void stn_instance_destroy(stn_instance *instance); ///< accepts NULL
/// Is the word among its capabilities? NULL says nothing. Thread: [any].
STN_API bool stn_plugin_says(const stn_instance *plugin, const char *word);
/// What a plugin answers is data from a stranger too. Before a call of its operations that may fail: no older text can
/// be taken for the plugin's own. Thread: [any].
STN_API void stn_answer_begin(stn_error *err);
/// After it: `status` as it stands, or STN_ERR_PLUGIN when there is no such status. A failure has a text and the status
/// in `err` (NULL accepted). Thread: [any].
STN_API stn_status stn_answer_end(stn_status status, stn_error *err);
/// Hash of the machine code and the constants of the program or library that holds an address, so that two builds can
/// be told apart; 0 where the system does not tell. Thread: [any].
STN_API uint64_t stn_code_hash(const void *address);
/// The law of an instance; NULL: none. Thread: [any].
STN_API stn_law stn_law_of(const stn_instance *law);

STN_END_C
#endif
