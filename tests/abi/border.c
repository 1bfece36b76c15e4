// SPDX-License-Identifier: Apache-2.0
// Everything that crosses the plugin border.
#include <stiction/mesh_query.h>
#include <stiction/plugin.h>
