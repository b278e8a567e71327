# How the project's own programs are compiled. Nothing here reaches a user of the library.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(ENTITABLE_SANITIZE "" CACHE STRING "Sanitizers for tests and examples, as in -fsanitize=")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(ENTITABLE_CCACHE ccache)
    if(ENTITABLE_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${ENTITABLE_CCACHE}")
    endif()
endif()

# Warnings are errors in our own presets, by CMAKE_COMPILE_WARNING_AS_ERROR, and nowhere else.
set(ENTITABLE_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(MSVC)
    set(ENTITABLE_WARNINGS /W4)
endif()

add_library(entitable_developer INTERFACE)
target_link_libraries(entitable_developer INTERFACE entitable::core)
target_compile_options(entitable_developer INTERFACE ${ENTITABLE_WARNINGS})
if(ENTITABLE_SANITIZE)
    target_compile_options(entitable_developer INTERFACE
        -fsanitize=${ENTITABLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(entitable_developer INTERFACE -fsanitize=${ENTITABLE_SANITIZE})
    find_program(ENTITABLE_LLD ld.lld)
    if(ENTITABLE_LLD AND UNIX) # a third of the time
        target_link_options(entitable_developer INTERFACE -fuse-ld=lld)
    endif()
    # What a target does without: its property ENTITABLE_UNSANITIZED, as in -fno-sanitize=, or "nothing". It must stand behind -fsanitize=, and a
    # target's own options stand in front of those that it is given. Unless told otherwise, a third of the time that a file takes to compile:
    # the engine has these checks, and elsewhere the address sanitizer finds the same, by calls instead of code at each access.
    set(unsanitized "$<TARGET_PROPERTY:ENTITABLE_UNSANITIZED>")
    set(undefined alignment,builtin,nonnull-attribute,null,object-size,pointer-overflow,returns-nonnull-attribute,vla-bound,vptr)
    target_compile_options(entitable_developer INTERFACE
        "$<$<STREQUAL:${unsanitized},>:-fno-sanitize=${undefined}>"
        "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<STREQUAL:${unsanitized},>>:SHELL:--param asan-instrumentation-with-call-threshold=0>"
        "$<$<NOT:$<IN_LIST:${unsanitized},;nothing>>:-fno-sanitize=${unsanitized}>")
endif()
# Half a gigabyte of a compilation before memory is looked through for what is no longer used: a tenth of its time.
target_compile_options(entitable_developer INTERFACE $<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>)
# Lets ccache reuse objects that were built with a precompiled header.
target_compile_options(entitable_developer INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)

# The same compiler as a plain command, for checks that compile one file and link nothing.
separate_arguments(plain_flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
set(standard -std=c++20)
if(MSVC)
    set(standard /nologo /std:c++20)
endif()
set(ENTITABLE_COMPILE
    ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} ${plain_flags} ${standard}
    -I "${PROJECT_SOURCE_DIR}/include" ${ENTITABLE_WARNINGS})
if(CMAKE_COMPILE_WARNING_AS_ERROR)
    set(as_error -Werror)
    if(MSVC)
        set(as_error /WX)
    endif()
    list(APPEND ENTITABLE_COMPILE ${as_error})
endif()
