# Runs the portfile of cmake/ports/entitable with stand-ins for what vcpkg gives it.
#   cmake -DFEATURES=<list> -DCURRENT_PACKAGES_DIR=<directory> -DBUILD_DIR=<directory> -DCOMPILER=<command> -P vcpkg.cmake
cmake_minimum_required(VERSION 3.24)

set(PORT entitable)
set(CURRENT_PORT_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../cmake/ports/entitable")

function(run_checked)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET)
    if(status)
        message(FATAL_ERROR "failed: ${ARGN}")
    endif()
endfunction()

function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature variable)
        if(feature IN_LIST FEATURES)
            list(APPEND options "-D${variable}=ON")
        else()
            list(APPEND options "-D${variable}=OFF")
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    if(NOT VCPKG_BUILD_TYPE STREQUAL "release")
        message(FATAL_ERROR "the port would be built twice")
    endif()
    file(REMOVE_RECURSE "${BUILD_DIR}")
    run_checked("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${BUILD_DIR}" -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
        -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run_checked("${CMAKE_COMMAND}" --install "${BUILD_DIR}")
endfunction()

function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
    file(COPY ${files} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}") # the project itself installs files there too
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
    # The files lie one directory higher than they were installed, as in vcpkg.
    file(GLOB files "${CURRENT_PACKAGES_DIR}/share/${PORT}/*.cmake")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
        string(REPLACE [[get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)]]
            [[set(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}")]] text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB modules "${CURRENT_PACKAGES_DIR}/share/pkgconfig/*.pc")
    if(NOT modules)
        message(FATAL_ERROR "there are no modules for pkg-config")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()

include("${CURRENT_PORT_DIR}/portfile.cmake")
if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/share/${PORT}/usage")
    message(FATAL_ERROR "the port installs no usage")
endif()
