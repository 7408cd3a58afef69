# Tests in Python: they run with FUSELINE_TEST_PYTHON (tests/python-env prints such an interpreter)
# and are skipped where it is unset.
function(fuseline_python_test name script)
  add_test(NAME "${name}"
           COMMAND sh -c "[ -n \"$FUSELINE_TEST_PYTHON\" ] || exit 77; exec \"$FUSELINE_TEST_PYTHON\" -B \"$0\" \"$@\""
                   ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

if(FUSELINE_BENCH)
  fuseline_python_test("bench: peers" bench/peers_test.py $<TARGET_FILE_DIR:fuseline_bench>)
endif()
