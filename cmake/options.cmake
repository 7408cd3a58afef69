# Compiler options shared by every target.
add_library(fuseline_options INTERFACE)
target_compile_options(fuseline_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers  # designated initializers leave the rest at its default
                       -Wno-restrict  # false alarms of GCC 12 on string concatenation
                      
                       -fvisibility-inlines-hidden -ffp-contract=off)
target_include_directories(fuseline_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(FUSELINE_WERROR)
  target_compile_options(fuseline_options INTERFACE -Werror)
endif()
if(FUSELINE_SANITIZE)
  add_compile_options(-fsanitize=${FUSELINE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FUSELINE_SANITIZE})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(FUSELINE_ABORT_ON_INTERNAL_ERROR)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Without this ccache keeps nothing that uses the tests' precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
