# What `cmake --install` lays down: headers, libraries, programs, and the package that
# find_package(headrace) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The libraries made in `folder` and below it.
function(headrace_libraries_of folder out)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(children DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS children)
    headrace_libraries_of(${child} deeper)
    list(APPEND found ${deeper})
  endforeach()
  set(libraries)
  foreach(target IN LISTS found)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC_LIBRARY|INTERFACE_LIBRARY)$")
      list(APPEND libraries ${target})
    endif()
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

foreach(folder core transport nodes)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    continue()
  endif()
  headrace_libraries_of(${PROJECT_SOURCE_DIR}/${folder} libraries)
  foreach(target IN LISTS libraries)
    string(REGEX REPLACE "^headrace_" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    # Our warnings are for our own sources and end here.
    get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    if(linked)
      list(REMOVE_ITEM linked "$<LINK_ONLY:headrace_warnings>")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${linked}")
    endif()
  endforeach()
  install(TARGETS ${libraries} EXPORT headraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headrace
          FILES_MATCHING PATTERN "*.h")
endforeach()

# <headrace/node.h> is the short name of the facade.
if(EXISTS ${PROJECT_SOURCE_DIR}/nodes/node.h)
  set(forward ${PROJECT_BINARY_DIR}/forward/node.h)
  file(WRITE ${forward} "#pragma once\n#include \"nodes/node.h\"\n")
  install(FILES ${forward} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headrace)
endif()
foreach(program headrace_cli headrace-sim)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
install(EXPORT headraceTargets NAMESPACE headrace:: DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/headraceConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/headraceConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headraceConfig.cmake
              ${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake DESTINATION ${package})
