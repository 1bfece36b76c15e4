// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_COMMAND_DRIVER_CRASH_H
#define STICTION_COMMAND_DRIVER_CRASH_H

/// From here on, in processes that this one forks too, SIGSEGV, SIGBUS, SIGFPE, SIGILL and an abort of its own write
/// one line with the file of the innermost plugin on the stack; then the signal ends the process as it would have.
/// `word` is kept. A sanitizer keeps the signals, whose report says more.
void crash_lines_begin(const char *word);

#endif
