# Tests that run the built program, its installation and the README.
fuseline_test(cli fuseline_media nlohmann_json::nlohmann_json PkgConfig::JPEG PkgConfig::PNG
              ZLIB::ZLIB)
# Of a GPU the stand-in driver is asked.
add_dependencies(test_cli fuseline_cli fuseline_cpu fuseline_nvtx fuseline_cuda cuda_standin)
if(TARGET nvtx_client)
  add_dependencies(test_cli nvtx_client)
endif()
fuseline_python_test("cli: peers" cli/peers_test.py $<TARGET_FILE:fuseline_cli>)

add_test(NAME "architecture: headers compile alone"
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/architecture/headers-alone ${PROJECT_SOURCE_DIR}
                 ${CMAKE_CURRENT_BINARY_DIR}/headers ${CMAKE_CXX_COMPILER} -isystem ${LLVM_INCLUDE})
add_test(NAME "install: moved folder and client"
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/install-test ${PROJECT_BINARY_DIR}
                 ${CMAKE_CURRENT_BINARY_DIR}/install ${CMAKE_CXX_COMPILER})
add_test(NAME "readme: example and commands"
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/readme/readme-test ${PROJECT_SOURCE_DIR}
                 ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/readme ${CMAKE_CXX_COMPILER})
set_tests_properties("architecture: headers compile alone" "install: moved folder and client"
                     "readme: example and commands" PROPERTIES TIMEOUT 900)
