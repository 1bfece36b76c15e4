// SPDX-License-Identifier: Apache-2.0
// Loaders: a robot file -> one robot in the model builder, and everything worth saying about it as data.
#ifndef STICTION_LOADER_H
#define STICTION_LOADER_H

#include <stiction/model.h>
#include <stiction/params.h>

STN_BEGIN_C

/// Note: left out without harm. Warning: read otherwise than written. Error: the file is refused.
typedef enum stn_severity { STN_SEVERITY_NOTE, STN_SEVERITY_WARNING, STN_SEVERITY_ERROR } stn_severity;

/// One finding about a file. All texts owned by the list.
typedef struct stn_diagnostic {
    stn_severity severity; // an error ends the load
    const char *code;      // stable word: "duplicate_link", "number", ...
    const char *file;      // path of the file that it is about
    int32_t line;          // 0: unknown
    const char *where;     // "link b", "joint j"
    const char *text;      // what is wrong and what to do
} stn_diagnostic;

/// A list of findings, in the order of their coming. Owned by who calls init; read freely, grown by stn_diagnostics_add
/// alone.
typedef struct stn_diagnostics {
    stn_context *context;                                // that its memory is from
    int32_t count, capacity, error_count, warning_count; // kept; room; all errors and warnings, also those not kept
    stn_diagnostic *items;                               // (count)
} stn_diagnostics;

/// An empty list, and back to one; clear frees what is in it.
STN_API void stn_diagnostics_init(stn_diagnostics *list, stn_context *context);
STN_API void stn_diagnostics_clear(stn_diagnostics *list);
/// Copies its texts. More than 100 errors are counted but not kept.
STN_API void stn_diagnostics_add(stn_diagnostics *list, stn_severity severity, const char *code, const char *file,
                                 int32_t line, const char *element, const char *format, ...) STN_PRINTF(7, 8);
/// Puts the first error, "file:line: element: text (and n more)", into err; STN_OK when there is none.
STN_API stn_status stn_diagnostics_status(const stn_diagnostics *list, stn_error *err);

/// What the caller wants of the file.
typedef struct stn_load_request {
    const char *path;       // of the robot file
    const char *robot_name; // NULL: the name in the file, with a number behind it when that is taken ("arm_2")
    /// Folders to look for packages first, or "name=folder"; NULL-terminated, may be NULL.
    const char *const *package_paths;
    bool allow_absolute; // file:// and absolute mesh names, and symbolic links out of a package
    bool visual_meshes;  // reads visual meshes too, to check them; otherwise they stay references that a viewer reads
    stn_plugin_choice loader;    // id NULL: the one that the file's extension and first bytes ask for
    struct stn_soft_list *softs; // gets the file's soft bodies (stiction/soft.h); NULL: nobody asks
} stn_load_request;

/// A robot to be written down. Of one that hangs on another the links and joints of its own are written.
typedef struct stn_save_request {
    const stn_model *model; // compiled
    int32_t group;          // of the model
    const char *name;       // of the robot in the file; NULL: as in the model
    const char *path; // of the file that the text is for: mesh files are named relative to its folder where they lie
                      // below it or below the folder above, else as they are
} stn_save_request;

/// What a loader does; plugin kind "loader".
typedef struct stn_loader_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, NULL-terminated; the first is that of files which `save` writes: "urdf".
    const char *const *extensions;
    /// REQUIRED. Could these first bytes be ours? Used when several loaders share an extension. [any]
    bool (*recognises)(const char *text, size_t length);
    /// REQUIRED. Adds one robot (stn_builder_begin_group and so on) and says what it found; on any error in
    /// `diagnostics` the builder is left as it was. [setup]
    stn_status (*load)(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *group,
                       stn_diagnostics *diagnostics, stn_error *err);
    /// OPTIONAL. Writes one robot in the loader's format, so that loading the text gives the same robot up to
    /// round-off:
    /// `*text` (zero-terminated, `*length` bytes) is the caller's, who lets it go with stn_release. What the format
    /// cannot hold is a warning in `diagnostics`, once a kind. [setup]
    stn_status (*save)(void *self, const stn_save_request *request, char **text, size_t *length,
                       stn_diagnostics *diagnostics, stn_error *err);
} stn_loader_ops;

/// Loads a file with the loader plugin that was chosen, or that its extension and first bytes ask for. STN_ERR_PARSE
/// for a robot without links.
STN_API stn_status stn_load_robot(stn_context *context, const stn_load_request *request, stn_model_builder *builder,
                                  int32_t *group, stn_diagnostics *diagnostics, stn_error *err);

/// Writes a robot to request->path with the loader `format` ("urdf"), NULL: the one whose files have the path's
/// extension first in its list, which then must be one alone. The file comes to be whole or not at all. What the format
/// cannot hold is a warning in `diagnostics`. STN_ERR_ARGUMENT for a request without model, robot or path,
/// STN_ERR_UNSUPPORTED for a format that no loader saves, STN_ERR_FILE, or what `save` says.
STN_API stn_status stn_save_robot(stn_context *context, const stn_save_request *request, const char *format,
                                  stn_diagnostics *diagnostics, stn_error *err);

STN_END_C
#endif
