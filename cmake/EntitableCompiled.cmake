# The engine as static libraries of the build that includes this file: after the targets entitable::<component>, by the library's own
# CMakeLists.txt, by entitable-config.cmake, and by what Conan generates:
#
#   entitable::entitable           the parts of entitable/src.hpp, compiled side by side: the core
#   entitable::compiled            another name of it
#   entitable::<NAME>_compiled     entitable/src/<NAME>.hpp, and what it needs
#   entitable::open_compiled       entitable::open(address), for the stores of all components that were found
#   entitable::module              import entitable, and the modules of the core's headers, with entitable::compiled
#   entitable::<NAME>_module       the modules of a component, with its compiled form
#
# The last two are there with CMake 3.28, Ninja or Visual Studio, and Clang 17, GCC 15 or MSVC 19.34. All are built with the flags of the program, only when something links them, and say ENTITABLE_SEPARATE_COMPILATION to whoever does.

# entitable_add_compiled(<target> <component> PARTS <name>... [NEEDS <target>])
function(entitable_add_compiled name component)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "NEEDS" "PARTS")
    # A second find_package may bring components that the first did not.
    if(NOT TARGET entitable::${component} OR TARGET entitable_${name})
        return()
    endif()
    set(sources "")
    foreach(part IN LISTS arg_PARTS)
        set(source "${CMAKE_CURRENT_BINARY_DIR}/entitable_compiled/${part}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include <entitable/src/${part}.hpp>\n")
        list(APPEND sources "${source}")
    endforeach()
    add_library(entitable_${name} STATIC EXCLUDE_FROM_ALL ${sources})
    add_library(entitable::${name} ALIAS entitable_${name})
    target_compile_definitions(entitable_${name} PUBLIC ENTITABLE_SEPARATE_COMPILATION)
    target_link_libraries(entitable_${name} PUBLIC ${arg_NEEDS} entitable::${component})
    # It has more sections than the usual form of an object can number.
    if(MSVC)
        target_compile_options(entitable_${name} PRIVATE /bigobj)
    elseif(MINGW)
        target_compile_options(entitable_${name} PRIVATE -Wa,-mbig-obj)
    endif()
    # A user's analysers are for the user's files.
    set_target_properties(entitable_${name} PROPERTIES CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_INCLUDE_WHAT_YOU_USE "")
    set_target_properties(entitable_${name} PROPERTIES CXX_SCAN_FOR_MODULES OFF) # the engine imports nothing
    if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE) # it may be linked into a shared library
        set_target_properties(entitable_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
endfunction()

# The program's list of the kinds of stores that open(address) opens. It is written last, when all components are known.
function(entitable_add_open)
    if(TARGET entitable_open_compiled)
        return()
    endif()
    set(text "#include <entitable/open.hpp>\n#include <entitable/shards.hpp>\n")
    set(kinds "entitable::memory_stores, entitable::shard_stores")
    set(needs entitable::compiled)
    foreach(component file postgres azure)
        set(found "TARGET_EXISTS:entitable_${component}_compiled")
        set(header ${component})
        if(component STREQUAL "azure")
            set(header identity)
        endif()
        string(APPEND text "$<$<${found}>:#include <entitable/${header}.hpp$<ANGLE-R>>\n")
        string(APPEND kinds "$<$<${found}>:$<COMMA> entitable::${component}_stores>")
        list(APPEND needs "$<$<${found}>:entitable_${component}_compiled>")
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/entitable_compiled/open.cpp")
    file(GENERATE OUTPUT "${source}" CONTENT "${text}\nENTITABLE_STORE_KINDS(${kinds});\n")
    add_library(entitable_open_compiled STATIC EXCLUDE_FROM_ALL "${source}")
    add_library(entitable::open_compiled ALIAS entitable_open_compiled)
    target_link_libraries(entitable_open_compiled PUBLIC ${needs})
    set_target_properties(entitable_open_compiled PROPERTIES
        CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_INCLUDE_WHAT_YOU_USE "" POSITION_INDEPENDENT_CODE ON)
endfunction()

# Whether this CMake, generator and compiler build modules.
function(entitable_can_build_modules result)
    set(can OFF)
    if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28 AND CMAKE_GENERATOR MATCHES "Ninja|Visual Studio" AND
        ((CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 17 AND
          CMAKE_CXX_COMPILER_CLANG_SCAN_DEPS) OR
         (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 15) OR
         (CMAKE_CXX_COMPILER_ID STREQUAL "MSVC" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19.34)))
        set(can ON)
    endif()
    set(${result} ${can} PARENT_SCOPE)
endfunction()

# entitable_add_module(<target> NAMES <module>... NEEDS <target>...): the units include/entitable/modules/<module>.cppm
function(entitable_add_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "NAMES;NEEDS")
    if(TARGET entitable_${name})
        return()
    endif()
    foreach(needed IN LISTS arg_NEEDS)
        if(NOT TARGET ${needed})
            return()
        endif()
    endforeach()
    list(TRANSFORM arg_NAMES PREPEND "${entitable_include_dir}/entitable/modules/")
    list(TRANSFORM arg_NAMES APPEND ".cppm")
    add_library(entitable_${name} STATIC EXCLUDE_FROM_ALL)
    add_library(entitable::${name} ALIAS entitable_${name})
    target_sources(entitable_${name} PUBLIC
        FILE_SET CXX_MODULES BASE_DIRS "${entitable_include_dir}/entitable/modules" FILES ${arg_NAMES})
    target_link_libraries(entitable_${name} PUBLIC ${arg_NEEDS})
    set_target_properties(entitable_${name} PROPERTIES CXX_SCAN_FOR_MODULES ON
        CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_INCLUDE_WHAT_YOU_USE "")
    if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE) # its modules are compiled as the programs that import them
        set_target_properties(entitable_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
endfunction()

function(entitable_add_modules)
    if(NOT DEFINED entitable_include_dir) # beside this file, in the sources and in Conan's package
        get_filename_component(entitable_include_dir "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include" ABSOLUTE)
    endif()
    entitable_can_build_modules(can)
    if(NOT can OR NOT EXISTS "${entitable_include_dir}/entitable/modules/entitable.cppm")
        return()
    endif()
    file(GLOB names RELATIVE "${entitable_include_dir}/entitable/modules" "${entitable_include_dir}/entitable/modules/*.cppm")
    list(TRANSFORM names REPLACE "\\.cppm$" "")
    list(REMOVE_ITEM names azure azure_queue file hana identity listener postgres ranges server tls)
    entitable_add_module(module NAMES ${names} NEEDS entitable::compiled)
    entitable_add_module(file_module NAMES file NEEDS entitable::module entitable::file_compiled)
    entitable_add_module(postgres_module NAMES postgres NEEDS entitable::module entitable::postgres_compiled)
    entitable_add_module(azure_module NAMES azure azure_queue identity NEEDS entitable::module entitable::azure_compiled)
    entitable_add_module(server_module NAMES server NEEDS entitable::azure_module entitable::server_compiled)
    entitable_add_module(listener_module NAMES listener NEEDS entitable::server_module entitable::listener_compiled)
    entitable_add_module(tls_module NAMES tls NEEDS entitable::listener_module entitable::tls_compiled)
    entitable_add_module(hana_module NAMES hana NEEDS entitable::module entitable::hana)
    entitable_add_module(ranges_module NAMES ranges NEEDS entitable::module entitable::ranges)
endfunction()

get_property(entitable_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST entitable_languages)
    entitable_add_compiled(compiled core PARTS core shards moves companions fleet work client bulk memory) # the longest first
    if(NOT TARGET entitable::entitable)
        add_library(entitable::entitable ALIAS entitable_compiled)
    endif()
    entitable_add_compiled(advice_compiled core PARTS advice NEEDS entitable::compiled)
    entitable_add_compiled(testing_compiled core PARTS testing NEEDS entitable::compiled)
    entitable_add_compiled(file_compiled file PARTS file NEEDS entitable::compiled)
    entitable_add_compiled(postgres_compiled postgres PARTS postgres NEEDS entitable::compiled)
    entitable_add_compiled(azure_compiled azure PARTS azure NEEDS entitable::compiled)
    entitable_add_compiled(server_compiled azure PARTS server NEEDS entitable::azure_compiled)
    entitable_add_compiled(listener_compiled listener PARTS listener NEEDS entitable::server_compiled)
    entitable_add_compiled(tls_compiled tls PARTS tls NEEDS entitable::listener_compiled)
    entitable_add_open()
    entitable_add_modules()
endif()
unset(entitable_languages)
