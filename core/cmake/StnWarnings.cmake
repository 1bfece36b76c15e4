# SPDX-License-Identifier: Apache-2.0
# stn_warnings(target): the warnings that our own code is built with.
function(stn_warnings target)
  set(common -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wdouble-promotion)
  if(STICTION_WERROR)
    list(APPEND common -Werror)
  endif()
  target_compile_options(${target} PRIVATE ${common}
    -Wno-psabi # notes about how vectors are passed with and without AVX, and were before GCC 4.6
    $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wmissing-prototypes -Wstrict-prototypes>)
endfunction()
