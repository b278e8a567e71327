# An overlay port: it lies in the sources and packages them, so there is nothing to fetch. vcpkg knows a package by the files of its port,
# not by these sources: after a change of them install with --no-binarycaching, or the old headers come back from its cache.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release) # headers only

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        asio ENTITABLE_WITH_ASIO
        azure ENTITABLE_WITH_AZURE
        file ENTITABLE_WITH_FILE
        hana ENTITABLE_WITH_HANA
        listener ENTITABLE_WITH_LISTENER
        postgres ENTITABLE_WITH_POSTGRES
        ranges ENTITABLE_WITH_RANGES
        tls ENTITABLE_WITH_TLS)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DENTITABLE_INSTALL=ON
        -DENTITABLE_BUILD_TESTS=OFF
        -DENTITABLE_BUILD_EXAMPLES=OFF
        -DENTITABLE_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/entitable)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
