# build/bundle: programs, GPU tests, benchmarks and the libraries that another machine may lack, to
# be carried to a GPU machine and run in place. No CPU back end: the reference is in the core.
set(bundle_folder ${PROJECT_SOURCE_DIR}/build/bundle)

if(NOT FUSELINE_TESTS OR NOT FUSELINE_BENCH)
  # This build has not all the programs; a second one beside it has.
  set(bundle_build ${PROJECT_BINARY_DIR}/bundle-build)
  add_custom_target(bundle
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${bundle_build} -G ${CMAKE_GENERATOR}
            -DCMAKE_BUILD_TYPE=Release -DFUSELINE_TESTS=ON -DFUSELINE_BENCH=ON
    COMMAND ${CMAKE_COMMAND} --build ${bundle_build} --target bundle
    USES_TERMINAL VERBATIM)
  return()
endif()

set(bundle_programs fuseline_cli cuda_bench test_gpu)
if(TARGET test_device_cuda)
  list(APPEND bundle_programs test_device_cuda)
endif()
set(bundle_libraries fuseline fuseline_media fuseline_cuda fuseline_nvtx)
set_target_properties(${bundle_programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS ${bundle_programs} RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)
install(TARGETS ${bundle_libraries} LIBRARY DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL)
install(TARGETS cuda_standin LIBRARY DESTINATION bin/cuda_driver COMPONENT bundle
        EXCLUDE_FROM_ALL)
install(PROGRAMS bench/peers bench/ledger-gpu DESTINATION bench COMPONENT bundle EXCLUDE_FROM_ALL)
install(DIRECTORY bench/side_by_side DESTINATION bench COMPONENT bundle EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py")
install(PROGRAMS tests/gpu/sanitize DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL OPTIONAL)

# What the programs link, less what every Linux has.
install(CODE [[
  file(GLOB programs "${CMAKE_INSTALL_PREFIX}/bin/*")
  list(FILTER programs EXCLUDE REGEX "(sanitize|cuda_driver)$")
  file(GLOB modules "${CMAKE_INSTALL_PREFIX}/lib/libfuseline*.so")
  file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES ${programs} LIBRARIES ${modules}
    RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR unknown
    DIRECTORIES "${CMAKE_INSTALL_PREFIX}/lib"
    PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so" "^ld-linux" "^libfuseline")
  foreach(library ${found})
    file(INSTALL "${library}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib" FOLLOW_SYMLINK_CHAIN)
  endforeach()
  if(unknown)
    message(WARNING "not found, so not in the bundle: ${unknown}")
  endif()
]] COMPONENT bundle EXCLUDE_FROM_ALL)

add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${bundle_folder}
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component bundle --strip
          --prefix ${bundle_folder}
  COMMAND ${CMAKE_COMMAND} -E echo "bundle: ${bundle_folder}"
  USES_TERMINAL VERBATIM)
add_dependencies(bundle ${bundle_programs} ${bundle_libraries} cuda_standin)
