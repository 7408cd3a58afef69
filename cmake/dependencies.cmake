# System packages only; nothing is vendored, nothing is downloaded while building.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
find_package(ZLIB REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# The newest LLVM of 14 to 20; llvm-config comes with Debian's llvm-N-dev.
foreach(version 20 19 18 17 16 15 14)
  find_program(LLVM_CONFIG NAMES llvm-config-${version} PATHS /usr/lib/llvm-${version}/bin)
  if(LLVM_CONFIG)
    break()
  endif()
endforeach()
if(NOT LLVM_CONFIG)
  message(FATAL_ERROR "LLVM 14 to 20 is needed: install Debian's llvm-19-dev (or llvm-14-dev)")
endif()
execute_process(COMMAND ${LLVM_CONFIG} --version OUTPUT_VARIABLE LLVM_VERSION
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE LLVM_INCLUDE
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG} --link-shared --libfiles OUTPUT_VARIABLE LLVM_LIBRARY
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
add_library(fuseline_llvm INTERFACE)
target_include_directories(fuseline_llvm SYSTEM INTERFACE ${LLVM_INCLUDE})
target_link_libraries(fuseline_llvm INTERFACE ${LLVM_LIBRARY})
message(STATUS "LLVM ${LLVM_VERSION}: ${LLVM_LIBRARY}")

# Without oneDNN contractions are generated kernels: right, but slow.
find_package(dnnl QUIET)

find_package(CUDAToolkit QUIET)
