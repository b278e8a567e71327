# The engine as static libraries of the build that includes this file: after the targets entitable::<component>, by the library's own
# CMakeLists.txt, by entitable-config.cmake, and by what Conan generates. One target for each src.hpp:
#
#   entitable::compiled            entitable/src.hpp: the core
#   entitable::<NAME>_compiled     entitable/<NAME>/src.hpp, and what it needs
#
# They are built with the flags of the program, only when something links them, and say ENTITABLE_SEPARATE_COMPILATION to whoever does.

# entitable_add_compiled(<target> <component> <header> [<target that it needs>])
function(entitable_add_compiled name component header)
    # A second find_package may bring components that the first did not.
    if(NOT TARGET entitable::${component} OR TARGET entitable_${name})
        return()
    endif()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/entitable_compiled/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n")
    add_library(entitable_${name} STATIC EXCLUDE_FROM_ALL "${source}")
    add_library(entitable::${name} ALIAS entitable_${name})
    target_compile_definitions(entitable_${name} PUBLIC ENTITABLE_SEPARATE_COMPILATION)
    target_link_libraries(entitable_${name} PUBLIC ${ARGN} entitable::${component})
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

get_property(entitable_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST entitable_languages)
    entitable_add_compiled(compiled core entitable/src.hpp)
    entitable_add_compiled(advice_compiled core entitable/src/advice.hpp entitable::compiled)
    entitable_add_compiled(testing_compiled core entitable/src/testing.hpp entitable::compiled)
    entitable_add_compiled(file_compiled file entitable/src/file.hpp entitable::compiled)
    entitable_add_compiled(postgres_compiled postgres entitable/src/postgres.hpp entitable::compiled)
    entitable_add_compiled(azure_compiled azure entitable/src/azure.hpp entitable::compiled)
    entitable_add_compiled(server_compiled azure entitable/src/server.hpp entitable::azure_compiled)
    entitable_add_compiled(listener_compiled listener entitable/src/listener.hpp entitable::server_compiled)
endif()
unset(entitable_languages)
