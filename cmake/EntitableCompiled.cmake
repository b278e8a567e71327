# The engine as static libraries of the build that includes this file: after the targets entitable::<component>, by the library's own
# CMakeLists.txt, by entitable-config.cmake, and by what Conan generates:
#
#   entitable::entitable           the parts of entitable/src.hpp, compiled side by side: the core
#   entitable::compiled            another name of it
#   entitable::<NAME>_compiled     entitable/src/<NAME>.hpp, and what it needs
#   entitable::open_compiled       entitable::open(address), for the stores of all components that were found
#
# They are built with the flags of the program, only when something links them, and say ENTITABLE_SEPARATE_COMPILATION to whoever does.

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
    entitable_add_open()
endif()
unset(entitable_languages)
