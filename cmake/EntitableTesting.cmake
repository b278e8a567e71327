# How the kinds of tests become ctest tests. A test that only compiles runs the compiler itself: nothing
# contends for the build directory, and ccache makes an unchanged one free.

# entitable_engine_sources(<variable> <part>...): a file for each part of the library's bodies, entitable/src/<part>.hpp.
function(entitable_engine_sources variable)
    set(sources "")
    foreach(part IN LISTS ARGN)
        set(source "${PROJECT_BINARY_DIR}/engine/engine_${part}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include <entitable/src/${part}.hpp>\n")
        list(APPEND sources "${source}")
    endforeach()
    set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# entitable_add_test_engine(): the bodies of the library, compiled once for all programs of the tests. The header-only form is
# tested by design_header_only, defined_once, the header tests, the fuzz targets and the consumers.
function(entitable_add_test_engine)
    if(TARGET entitable_test_engine)
        return()
    endif()
    entitable_find_component_libraries()
    set(parts shards moves core client fleet companions work bulk memory advice file testing)
    set(components entitable::file)
    if(TARGET entitable_azure) # with what the service needs: libcurl, OpenSSL, simdjson
        list(APPEND parts azure server)
        list(APPEND components entitable::azure)
    endif()
    entitable_engine_sources(sources ${parts})
    add_library(entitable_test_engine STATIC ${sources})
    target_compile_definitions(entitable_test_engine PUBLIC ENTITABLE_SEPARATE_COMPILATION)
    target_link_libraries(entitable_test_engine PUBLIC entitable_developer ${components})
    set_target_properties(entitable_test_engine PROPERTIES ENTITABLE_UNSANITIZED nothing)
endfunction()

# entitable_add_test_listener(): the bodies of the listener and of its TLS, compiled once as well, and apart: Boost.Beast takes longer than all the
# rest, and few programs have a socket.
function(entitable_add_test_listener)
    if(TARGET entitable_test_listener)
        return()
    endif()
    entitable_add_test_engine()
    entitable_engine_sources(source listener tls)
    add_library(entitable_test_listener STATIC ${source})
    target_link_libraries(entitable_test_listener PUBLIC entitable_test_engine entitable::listener entitable::tls)
    # Nearly all of it is Beast and Asio, and half of the time to compile it; what is ours moves strings and counts bytes.
    set_target_properties(entitable_test_listener PROPERTIES ENTITABLE_UNSANITIZED undefined)
    # GCC's thread sanitizer knows no fences. Asio has them beside locks, which suffice.
    if(ENTITABLE_SANITIZE MATCHES "thread")
        target_compile_definitions(entitable_test_listener PUBLIC BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
endfunction()

# entitable_add_test_postgres(): the bodies of the PostgreSQL backend, compiled once, where there is libpq.
function(entitable_add_test_postgres)
    if(TARGET entitable_test_postgres OR NOT TARGET entitable_postgres)
        return()
    endif()
    entitable_add_test_engine()
    entitable_engine_sources(source postgres)
    add_library(entitable_test_postgres STATIC ${source})
    target_link_libraries(entitable_test_postgres PUBLIC entitable_test_engine entitable::postgres)
    set_target_properties(entitable_test_postgres PROPERTIES ENTITABLE_UNSANITIZED nothing)
endfunction()

# entitable_unless_passed(<variable> sources|program): the beginning of a command that is not run again where it has passed, see
# tests/tools/unless_passed.
function(entitable_unless_passed variable by)
    set(${variable} "${PROJECT_SOURCE_DIR}/tests/tools/unless_passed" "${CMAKE_CURRENT_BINARY_DIR}/passed" ${by} PARENT_SCOPE)
endfunction()

# entitable_add_unit_tests(<name> [LINK <target>...] SOURCES <file>...)
# One program of Catch tests; ctest knows each file as "<name>/<file>". To start a sanitized program takes longer than most of its test cases.
function(entitable_add_unit_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;SOURCES")
    add_executable(test_${name} ${arg_SOURCES})
    target_link_libraries(test_${name} PRIVATE entitable_test_support ${arg_LINK})
    target_precompile_headers(test_${name} REUSE_FROM entitable_test_support)
    # Those with processes, threads, sockets or random numbers that differ may fail the second time.
    set(launcher "")
    if(NOT name MATCHES "^(asio|backends|concurrency|crash|fault|file|http|listener|property|tool)$")
        entitable_unless_passed(launcher program)
    endif()
    set(unless_empty "")
    if(Catch2_VERSION VERSION_LESS 3) # later ones refuse to run nothing
        set(unless_empty --warn NoTests)
    endif()
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(file "${source}" NAME_WE)
        add_test(NAME ${name}/${file}
            COMMAND ${launcher} $<TARGET_FILE:test_${name}> ${unless_empty} --filenames-as-tags "[#${file}]~[.]")
        set_tests_properties(${name}/${file} PROPERTIES LABELS ${name})
    endforeach()
endfunction()

# entitable_add_program_test(<name> [EXPECT <file>] [ARGUMENTS <argument>...])
# Runs the program of that target, which must succeed and, with EXPECT, print exactly that file.
function(entitable_add_program_test target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPECT" "ARGUMENTS")
    if(arg_EXPECT)
        set(wrapper "${PROJECT_SOURCE_DIR}/tests/support/expect_output" "${arg_EXPECT}")
    endif()
    add_test(NAME program.${target} COMMAND ${wrapper} $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
    set_tests_properties(program.${target} PROPERTIES LABELS program)
endfunction()

# entitable_add_compile_test(<test name> <source> [flag...]): the file compiles without a warning.
function(entitable_add_compile_test name source)
    string(MAKE_C_IDENTIFIER "${name}" object)
    set(directory "${CMAKE_CURRENT_BINARY_DIR}/compiled")
    file(MAKE_DIRECTORY "${directory}")
    set(to -c -o "${directory}/${object}.o")
    if(MSVC)
        set(to -c "/Fo${directory}/${object}.obj")
    elseif(MINGW) # its assembler takes minutes for the sections of all bodies, and could say nothing of the library
        set(to -S -o "${directory}/${object}.s")
    endif()
    add_test(NAME ${name} COMMAND ${ENTITABLE_COMPILE} ${ARGN} "${source}" ${to})
    set_tests_properties(${name} PROPERTIES LABELS compile)
endfunction()

# entitable_add_header_tests([TOGETHER_ONLY | APART_ONLY] <file>...): each header compiles alone and twice in one file; those for users with the
# bodies (.ipp) that they bring, those of `detail` without. And all headers together, and all bodies, without exceptions: but for the listener
# and asio, since Boost wants them. With APART_ONLY each header, and all together, for users without bodies: a tenth of the time.
function(entitable_add_header_tests)
    cmake_parse_arguments(PARSE_ARGV 0 arg "TOGETHER_ONLY;APART_ONLY" "" "")
    set(separate -DENTITABLE_SEPARATE_COMPILATION)
    foreach(header IN LISTS arg_UNPARSED_ARGUMENTS)
        file(RELATIVE_PATH include "${PROJECT_SOURCE_DIR}/include" "${header}")
        file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/include/entitable" "${header}")
        set(line "#include <${include}>\n")
        if(name MATCHES "^src/|^src\\.hpp$|\\.ipp$") # the test engine compiles them
            if(NOT name MATCHES "(^|/)(asio|listener|tls)[./]")
                string(APPEND bodies "${line}")
            endif()
            continue()
        endif()
        if(NOT name MATCHES "(^|/)(asio|listener|tls)[./]")
            string(APPEND headers "${line}")
        endif()
        if(arg_TOGETHER_ONLY OR (arg_APART_ONLY AND name MATCHES "/detail/"))
            continue()
        endif()
        set(flags "")
        if(arg_APART_ONLY)
            set(flags ${separate} -fsyntax-only)
        endif()
        if(name MATCHES "/detail/|(^|/)(listener|tls)[./]") # the bodies of the listener take ten times as long as others
            set(flags ${separate})
        endif()
        set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "${line}${line}")
        entitable_add_compile_test(header.${name} "${source}" ${flags})
    endforeach()
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/headers/headers.cpp" CONTENT "${headers}")
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/headers/bodies.cpp" CONTENT "${bodies}")
    if(arg_APART_ONLY) # together, for names that two headers declare
        entitable_add_compile_test(
            header_together "${CMAKE_CURRENT_BINARY_DIR}/headers/headers.cpp" ${separate} -fsyntax-only)
        find_program(ENTITABLE_OLDEST_CLANG clang++-14)
        if(ENTITABLE_OLDEST_CLANG AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # what GCC 12 knows of C++20 and Clang 14 does not
            add_test(NAME header_together.clang14 COMMAND "${ENTITABLE_OLDEST_CLANG}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only
                ${separate} -I "${PROJECT_SOURCE_DIR}/include" "${CMAKE_CURRENT_BINARY_DIR}/headers/bodies.cpp")
            set_tests_properties(header_together.clang14 PROPERTIES LABELS compile)
        endif()
    endif()
    if(MSVC OR arg_APART_ONLY)
        return()
    endif()
    entitable_add_compile_test(
        header_noexcept.headers "${CMAKE_CURRENT_BINARY_DIR}/headers/headers.cpp" -fno-exceptions)
    entitable_add_compile_test(
        header_noexcept.bodies "${CMAKE_CURRENT_BINARY_DIR}/headers/bodies.cpp" -fno-exceptions ${separate})
endfunction()

# entitable_add_compile_fail_tests(COMPILERS <command>... SOURCES <file>...): see tests/tools/compile_fail.
function(entitable_add_compile_fail_tests)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "COMPILERS;SOURCES")
    set(only "")
    if(NOT ENTITABLE_COMPILE_FAIL_CONTROLS)
        set(only --broken-only)
    endif()
    foreach(compiler IN LISTS arg_COMPILERS)
        get_filename_component(compiler_name "${compiler}" NAME)
        foreach(source IN LISTS arg_SOURCES)
            get_filename_component(name "${source}" NAME_WE)
            set(test compile_fail.${name}.${compiler_name})
            add_test(NAME ${test} COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/compile_fail"
                --include "${PROJECT_SOURCE_DIR}/include" --passed "${CMAKE_CURRENT_BINARY_DIR}/compile_fail"
                ${only} "${compiler}" "${source}")
            set_tests_properties(${test} PROPERTIES LABELS compile_fail)
        endforeach()
    endforeach()
endfunction()

# entitable_add_check(<name> <command>...): a script of tests/tools/ that reads the sources.
function(entitable_add_check name)
    set(launcher "")
    if(name MATCHES "^(column_costs.*|hot_paths.*|line_budget|new_kind|reference)$") # the slow ones
        entitable_unless_passed(launcher sources)
    endif()
    add_test(NAME check.${name} COMMAND ${launcher} ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(check.${name} PROPERTIES LABELS check SKIP_RETURN_CODE 77)
endfunction()
