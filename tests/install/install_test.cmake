# Installs the build, moves it elsewhere, and lets another project find, link and run it.
#
#   cmake -D BUILD=... -D WORK=... -D COMPILER=... -D FLAGS=... -D TYPE=... -P install_test.cmake
file(REMOVE_RECURSE ${WORK})
set(prefix "${WORK}/moved prefix")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} -E env --unset=DESTDIR ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${prefix})

# The package must not know where it was built or first installed.
cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
file(GLOB_RECURSE package_files "${prefix}/*.cmake")
foreach(file ${package_files})
  file(READ ${file} text)
  foreach(place ${source} ${BUILD})
    string(FIND "${text}" ${place} at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} mentions ${place}")
    endif()
  endforeach()
endforeach()

run(${prefix}/bin/ergodic --help)
if(NOT EXISTS "${prefix}/share/doc/ergodic/LICENSE")
  message(FATAL_ERROR "the licence was not installed")
endif()

# The program that the README shows.
file(READ ${source}/README.md readme)
string(FIND "${readme}" "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(SUBSTRING "${readme}" 7 -1 readme)
string(FIND "${readme}" "```" end)
string(SUBSTRING "${readme}" 0 ${end} readme)
file(WRITE ${WORK}/readme/bars.cpp "${readme}")

run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/consumer -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_BUILD_TYPE=${TYPE}
    -D README_PROGRAM=${WORK}/readme/bars.cpp)
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
if(NOT output STREQUAL "3523162b dc14d20c 79184077 72184193\n")
  message(FATAL_ERROR "the consumer printed ${output}")
endif()
execute_process(COMMAND ${WORK}/consumer/bars WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "^log-likelihood -2\\.[67]")
  message(FATAL_ERROR "the README's program printed ${output}")
endif()
run(${prefix}/bin/ergodic inspect ${WORK}/bars.safetensors)
