# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a;b -DOUT=mesh_sources.h -P hash_files.cmake: a header with the hash of the files' contents.
set(all "")
foreach(file ${FILES})
  file(SHA256 "${file}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING "${all}" 0 32 all)
file(WRITE "${OUT}" "// Made by the build.\n#define MESH_SOURCES \"${all}\"\n")
