# What a user of the library gets: one target for each component, and the package that finds them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The library has no architecture, so its package files go below the data directory.
set(ENTITABLE_PACKAGE_DIR "${CMAKE_INSTALL_DATADIR}/cmake/entitable")

# entitable_add_component(<name>
#     HEADERS <file>...         what the component consists of, below include/
#     [REQUIRES <component>...] components that are found together with it
#     [LINK <target>...]        libraries that its users link
#     [FIND <call>...]          arguments of find_package that provide them, one string for each call
#     [PKG_CONFIG <module>...]) their names in pkg-config; a component whose library has none there gets no .pc file
#
# ENTITABLE_WITH_<NAME> is ON, OFF, or AUTO: every component but the core can be left out, and is in a subproject where it is not said and
# what it needs is not there. Its libraries are looked for first then, so that its target can be linked at once.
function(entitable_add_component name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;REQUIRES;LINK;FIND;PKG_CONFIG")

    if(NOT name STREQUAL "core")
        string(TOUPPER "ENTITABLE_WITH_${name}" option)
        set(unless_said AUTO)
        if(PROJECT_IS_TOP_LEVEL)
            set(unless_said ON)
        endif()
        foreach(required IN LISTS arg_REQUIRES) # a component that is off turns off what needs it
            if(NOT TARGET entitable_${required})
                set(unless_said AUTO)
            endif()
        endforeach()
        set(${option} ${unless_said} CACHE STRING "Provide the component ${name}: ON, OFF, or AUTO where its libraries are found")
        if(${option} STREQUAL "AUTO")
            entitable_missing_for(${name} missing REQUIRES ${arg_REQUIRES} FIND ${arg_FIND})
            if(missing)
                message(STATUS "entitable::${name} is left out: there is no ${missing} (${option}=ON makes that an error)")
                return()
            endif()
        elseif(NOT ${option})
            return()
        endif()
    endif()

    set(target "entitable_${name}")
    add_library(${target} INTERFACE)
    add_library(entitable::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_sources(${target} INTERFACE
        FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
    list(TRANSFORM arg_REQUIRES PREPEND "entitable_" OUTPUT_VARIABLE required_targets)
    target_link_libraries(${target} INTERFACE ${required_targets} ${arg_LINK})

    set_property(GLOBAL APPEND PROPERTY entitable_components ${name})
    set_property(GLOBAL APPEND PROPERTY entitable_finds ${arg_FIND})
    string(APPEND description "set(entitable_${name}_requires \"${arg_REQUIRES}\")\n")
    string(APPEND description "set(entitable_${name}_finds \"${arg_FIND}\")\n")
    set_property(GLOBAL APPEND_STRING PROPERTY entitable_component_descriptions "${description}")

    if(ENTITABLE_INSTALL)
        # The include directory is named once more for consumers whose CMake does not know file sets.
        install(TARGETS ${target} EXPORT entitable-${name}
            FILE_SET HEADERS INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
        install(EXPORT entitable-${name} NAMESPACE entitable::
            DESTINATION "${ENTITABLE_PACKAGE_DIR}" FILE entitable-${name}-targets.cmake)
        if(arg_PKG_CONFIG OR NOT arg_LINK)
            entitable_install_pkg_config(${name} REQUIRES ${arg_REQUIRES} MODULES ${arg_PKG_CONFIG})
        endif()
    endif()
endfunction()

# entitable_missing_for(<name> <variable> REQUIRES <component>... FIND <call>...): the first thing that a component needs and that is not
# there, or nothing.
function(entitable_missing_for name variable)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "REQUIRES;FIND")
    set(${variable} "" PARENT_SCOPE)
    foreach(required IN LISTS arg_REQUIRES)
        if(NOT TARGET entitable_${required})
            set(${variable} "entitable::${required}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    foreach(find IN LISTS arg_FIND)
        separate_arguments(find)
        list(GET find 0 package)
        find_package(${find} QUIET GLOBAL)
        if(NOT ${package}_FOUND)
            set(${variable} "${package}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# Writes and installs entitable.pc (core) or entitable-<name>.pc; the installed tree may be moved.
function(entitable_install_pkg_config name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "REQUIRES;MODULES")
    set(directory "${CMAKE_INSTALL_DATADIR}/pkgconfig")
    file(RELATIVE_PATH up "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(include_directory "${CMAKE_INSTALL_INCLUDEDIR}")
    if(NOT IS_ABSOLUTE "${include_directory}")
        string(PREPEND include_directory "\${prefix}/")
    endif()
    set(module "entitable-${name}")
    if(name STREQUAL "core")
        set(module "entitable")
    endif()
    list(TRANSFORM arg_REQUIRES PREPEND "entitable-")
    list(TRANSFORM arg_REQUIRES REPLACE "^entitable-core$" "entitable")
    list(JOIN arg_REQUIRES ", " requires)
    list(JOIN arg_MODULES ", " modules)
    if(modules)
        string(APPEND requires ", ${modules}")
    endif()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${module}.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
includedir=@include_directory@

Name: @module@
Description: @PROJECT_DESCRIPTION@ (component @name@)
Version: @PROJECT_VERSION@
URL: @PROJECT_HOMEPAGE_URL@
Requires: @requires@
Cflags: -I${includedir}
]])
    install(FILES "${PROJECT_BINARY_DIR}/${module}.pc" DESTINATION "${directory}")
endfunction()

# The libraries of all components, as their users would find them. Seen in every directory: whoever links a component from
# another one finds its targets.
function(entitable_find_component_libraries)
    get_property(finds GLOBAL PROPERTY entitable_finds)
    foreach(find IN LISTS finds)
        separate_arguments(find)
        find_package(${find} REQUIRED GLOBAL)
    endforeach()
endfunction()

# Writes and installs the package files; call it after the last component.
function(entitable_install_package)
    if(NOT PROJECT_IS_TOP_LEVEL)
        entitable_find_component_libraries() # a component that was asked for is usable at once
    endif()
    if(NOT ENTITABLE_INSTALL)
        return()
    endif()
    get_property(components GLOBAL PROPERTY entitable_components)
    get_property(component_descriptions GLOBAL PROPERTY entitable_component_descriptions)
    configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/entitable-config.cmake.in"
        "${PROJECT_BINARY_DIR}/entitable-config.cmake"
        INSTALL_DESTINATION "${ENTITABLE_PACKAGE_DIR}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR NO_SET_AND_CHECK_MACRO)
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/entitable-config-version.cmake"
        COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
    install(FILES
        "${PROJECT_BINARY_DIR}/entitable-config.cmake"
        "${PROJECT_BINARY_DIR}/entitable-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/EntitableCompiled.cmake"
        DESTINATION "${ENTITABLE_PACKAGE_DIR}")
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/gdb/entitable-gdb.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/entitable")
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/entitable")
endfunction()
