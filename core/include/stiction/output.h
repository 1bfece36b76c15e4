// SPDX-License-Identifier: Apache-2.0
// Files that are written: what was there stays until the new one is whole. The file that a link leads to is replaced,
// not the link, and keeps its permissions.
#ifndef STICTION_OUTPUT_H
#define STICTION_OUTPUT_H

#include <stiction/base.h>

STN_BEGIN_C

/// How a file comes to be.
typedef enum stn_output_kind {
    /// Always beside its path, under a name of this process; takes its place when it is whole. Only for regular files.
    STN_OUTPUT_WHOLE,
    /// What is followed while it grows, and of use when the process is killed. Where no file is yet, or an empty one,
    /// at its path itself; else beside it, "out.html" as "out.part.html", which takes its place in the end and is left
    /// by a process that is killed. A device, a pipe or /dev/stdout is written as it is. No second output gets the same
    /// file until it is closed or the process has ended, under whatever name and in whatever process.
    STN_OUTPUT_STREAM,
} stn_output_kind;

/// How it ends.
typedef enum stn_output_end {
    STN_OUTPUT_KEEP,  // it is whole: takes the place of what was there, after it reached the disk
    STN_OUTPUT_LEAVE, // it is cut short but of use: a stream stays where it grew, what was there as it was
    STN_OUTPUT_DROP,  // it is of no use: what grew beside is removed, what was there stays as it was
} stn_output_end;

/// Bytes of a path with its end.
enum { STN_OUTPUT_PATH = 4096 }; // what the system takes

/// A file on its way. Write with stn_output_append or to the descriptor; the rest is the library's.
typedef struct stn_output {
    int descriptor;               // of what is written
    stn_output_kind kind;         // how it comes to be
    int lock;                     // descriptor of the file that was there, -1
    bool beside;                  // is `place` another file than `target`?
    char target[STN_OUTPUT_PATH]; // behind all links
    char place[STN_OUTPUT_PATH];  // of what is written: the target, or the file beside it
} stn_output;

/// Opens it. STN_ERR_FILE names path and reason; then there is nothing to close. For [setup]
STN_API stn_status stn_output_open(const char *path, stn_output_kind kind, stn_output *output, stn_error *err);
/// Writes all of `bytes` behind what it holds. STN_ERR_FILE names `path`, the reason and stn_output_remains; the file
/// is cut back to what it was, where it can be cut: devices and pipes cannot.
STN_API stn_status stn_output_append(stn_output *output, const char *path, const void *bytes, size_t size,
                                     stn_error *err);
/// Ends it and closes the descriptor. STN_ERR_FILE, only with STN_OUTPUT_KEEP: what was there stays, and so does a
/// stream beside it.
STN_API stn_status stn_output_close(stn_output *output, stn_output_end end, stn_error *err);
/// A whole file at once.
STN_API stn_status stn_output_write(const char *path, const void *bytes, size_t size, stn_error *err);
/// "; OLD is as it was, out.part.html holds what came so far", or "" where nothing grew beside: for the message of a
/// write that failed. Returns `text`.
STN_API const char *stn_output_remains(const stn_output *output, char *text, size_t size);

STN_END_C
#endif
