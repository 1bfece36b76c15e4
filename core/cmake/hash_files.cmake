# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a;b -DNAME=text -DOUT=text.c -P hash_files.cmake: a C file with the hash of the files' contents, 32 letters.
set(all "")
foreach(file ${FILES})
  file(SHA256 "${file}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING "${all}" 0 32 all)
file(WRITE "${OUT}" "// Made by the build.\nextern const char ${NAME}[33];\nconst char ${NAME}[33] = \"${all}\";\n")
