"""The recipe for Conan 2. tests/tools/recipes holds it to the components of CMakeLists.txt."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.0"

# What each component needs besides the core: packages with the versions that are known to work, and their components.
COMPONENTS = {
    "hana": {"boost": ("[>=1.74 <2]", "boost::headers")},
    "ranges": {"range-v3": ("[>=0.12 <1]", "range-v3::range-v3")},
    "file": {"sqlite3": ("[>=3.32 <4]", "sqlite3::sqlite3")},
    "azure": {
        "libcurl": ("[>=7.88 <9]", "libcurl::libcurl"),
        "openssl": ("[>=3 <5]", "openssl::crypto"),
        "simdjson": ("[>=3.0.1 <5]", "simdjson::simdjson"),
    },
    "listener": {"boost": ("[>=1.74 <2]", "boost::headers")},
    "tls": {"openssl": ("[>=3 <5]", "openssl::ssl")},
    "asio": {"boost": ("[>=1.74 <2]", "boost::headers")},
    "postgres": {"libpq": ("[>=14 <19]", "libpq::pq")},
}

# The oldest versions that are tested. Others, such as msvc and apple-clang, are untried and not refused.
OLDEST = {"gcc": "12", "clang": "14"}

# What is switched on with a component, besides the core.
REQUIRED = {"listener": ["azure"], "tls": ["azure", "listener"]}


class EntitableRecipe(ConanFile):
    name = "entitable"
    description = "Typed client for partitioned entity tables: in the cloud, in a file, in memory"
    license = "MIT"
    topics = ("azure", "table-storage", "cosmos", "nosql", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {f"with_{component}": [True, False] for component in COMPONENTS}
    # Boost's headers are enough; a default, so that an application with more of Boost has its way.
    default_options = {**{f"with_{component}": False for component in COMPONENTS}, "boost/*:header_only": True}
    exports_sources = "include/*", "cmake/EntitableCompiled.cmake", "LICENSE"
    no_copy_source = True

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, "include", "entitable", "core", "config.hpp"))
        self.version = ".".join(
            re.search(rf"^#define ENTITABLE_VERSION_{part} (\d+)$", config, re.MULTILINE).group(1)
            for part in ("MAJOR", "MINOR", "PATCH"))

    def _wanted(self):
        chosen = [component for component in COMPONENTS if self.options.get_safe(f"with_{component}")]
        needed = [other for component in chosen for other in REQUIRED.get(component, [])]
        return [component for component in COMPONENTS if component in chosen + needed]

    def layout(self):
        basic_layout(self, src_folder=".")

    def requirements(self):
        wanted = {}
        for component in self._wanted():
            for package, (versions, _) in COMPONENTS[component].items():
                wanted[package] = versions
        for package, versions in wanted.items():
            self.requires(f"{package}/{versions}")

    def validate(self):
        check_min_cppstd(self, 20)
        least = OLDEST.get(str(self.settings.get_safe("compiler")))
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"entitable needs {self.settings.compiler} {least} or newer")

    def package_id(self):
        self.info.clear()

    def package(self):
        # One package serves all options, so it holds every header whatever they are.
        for pattern in ("*.hpp", "*.ipp", "*.cppm"):
            copy(self, pattern, os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "EntitableCompiled.cmake", os.path.join(self.source_folder, "cmake"),
             os.path.join(self.package_folder, "cmake"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "entitable")
        # Conan's target of the whole package; entitable::entitable is the compiled core.
        self.cpp_info.set_property("cmake_target_name", "entitable::components")
        self.cpp_info.set_property("cmake_build_modules", [os.path.join("cmake", "EntitableCompiled.cmake")])
        for component in ["core", *self._wanted()]:
            info = self.cpp_info.components[component]
            info.set_property("cmake_target_name", f"entitable::{component}")
            info.set_property("pkg_config_name", "entitable" if component == "core" else f"entitable-{component}")
            info.bindirs = []
            info.libdirs = []
            if component != "core":
                info.requires = ["core", *REQUIRED.get(component, [])]
                info.requires += [target for _, target in COMPONENTS[component].values()]
