"""Builds one program for each component of the package, and runs it."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class EntitableTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def _components(self):
        options = self.dependencies["entitable"].options
        return ["core"] + [name for name in ("hana", "ranges", "file", "azure", "listener", "tls", "asio", "postgres") if options.get_safe(f"with_{name}")]

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ENTITABLE_COMPONENTS"] = ";".join(self._components())
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for component in self._components():
                self.run(os.path.join(self.cpp.build.bindir, f"uses_{component}"), env="conanrun")
