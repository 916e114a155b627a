# What `cmake --install` puts under the prefix: the command, the licence, the headers, the libraries, and the package
# files with which another project says find_package(ergodic REQUIRED) and links ergodic::ergodic.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(folders GLOBAL PROPERTY ERGODIC_FOLDERS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ergodic)

install(TARGETS ergodic_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY src/ergodic DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(TARGETS ${folders} EXPORT ergodic ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ergodic NAMESPACE ergodic:: FILE ergodic-targets.cmake DESTINATION ${package_dir})

# A static library hands its own dependencies on to the program that links it. The package finds exactly those that the exported
# targets name as Package::target; what is wrapped in BUILD_INTERFACE is not among them.
set(ERGODIC_DEPENDENCIES "")
foreach(folder ${folders})
  get_target_property(libraries ${folder} INTERFACE_LINK_LIBRARIES)
  foreach(library ${libraries})
    if(library MATCHES "^(\\$<LINK_ONLY:)?([A-Za-z0-9_]+)::")
      list(APPEND ERGODIC_DEPENDENCIES "find_dependency(${CMAKE_MATCH_2})")
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES ERGODIC_DEPENDENCIES)
list(JOIN ERGODIC_DEPENDENCIES "\n" ERGODIC_DEPENDENCIES)

configure_package_config_file(
  tools/ergodic-config.cmake.in ${PROJECT_BINARY_DIR}/ergodic-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ergodic-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ergodic-config.cmake ${PROJECT_BINARY_DIR}/ergodic-config-version.cmake
        DESTINATION ${package_dir})
