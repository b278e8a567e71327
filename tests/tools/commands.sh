# shellcheck shell=bash
# Sourced by examples/run and tests/run, in the top directory: installs what is missing on Debian and Ubuntu,
# configures and builds.

die() {
    echo "error: $*" >&2
    exit 1
}

package_is_installed() {
    [[ $(dpkg-query --show --showformat='${db:Status-Abbrev}' "$1" 2>/dev/null) == i* ]]
}

package_is_available() {
    [[ -n $(apt-cache madison "$1" 2>/dev/null) ]]
}

# install_packages NAME...: each NAME is a package, or several joined by | of which the first that exists
# will do. Touches neither apt nor the network when nothing is missing.
install_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: require_commands names what is missing
    local wanted name found missing=() chosen=()
    for wanted in "$@"; do
        found=
        for name in ${wanted//|/ }; do
            if package_is_installed "$name"; then found=$name; fi
        done
        if [[ -z $found ]]; then missing+=("$wanted"); fi
    done
    if ((${#missing[@]} == 0)); then return 0; fi

    echo "Missing packages: ${missing[*]%%|*}"
    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "to install them, run as root: apt-get install ${missing[*]%%|*}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update --quiet --quiet ||
        echo "warning: the package lists could not be renewed; trying with the present ones" >&2
    for wanted in "${missing[@]}"; do
        found=
        for name in ${wanted//|/ }; do
            if [[ -z $found ]] && package_is_available "$name"; then found=$name; fi
        done
        if [[ -z $found ]]; then die "no package source offers ${wanted//|/ or }"; fi
        chosen+=("$found")
    done
    echo "Installing: ${chosen[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet \
        --no-install-recommends "${chosen[@]}" </dev/null >/dev/null ||
        die "could not install ${chosen[*]}"
}

# require_commands NAME...: ends with a message that names the first command that is missing.
require_commands() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || die "the command '$name' is missing"
    done
}

# first_command NAME...: prints the first of the commands that exists.
first_command() {
    local name
    for name in "$@"; do
        if command -v "$name" >/dev/null; then
            echo "$name"
            return 0
        fi
    done
    die "none of these commands is installed: $*"
}

# configure_preset PRESET [ARGUMENT...]: quiet unless it fails.
configure_preset() {
    local log=build/$1/configure.log
    mkdir -p "build/$1"
    cmake --preset "$@" >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
}

# build_preset PRESET [TARGET]: goes on after a failure, to show all of them.
build_preset() {
    cmake --build --preset "$1" ${2:+--target "$2"} -j "$(nproc)" -- --quiet -k 0 |
        { grep --line-buffered -v '^ninja: no work to do' || true; }
}
