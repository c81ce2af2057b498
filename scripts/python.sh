# SPDX-License-Identifier: Apache-2.0
# Sourced by run-tests: a virtual environment in build/python with what the tests of python/ need, from PyPI. POSIX sh.

sluice_python="$sluice_root/build/python"
sluice_python_packages="polars matplotlib scipy distributed optuna pytest mypy nbclient ipykernel scikit-build-core mkdocs-material"

# Without it the tests of python/ are skipped, so that nothing here is an error.
install_python() {
    if [ "$(cat "$sluice_python/packages" 2>/dev/null)" = "$sluice_python_packages" ]; then
        say "Python: the packages of its tests are in build/python"
        return
    fi
    say "Python: fetching the packages of its tests from PyPI into build/python (about 250 MB, minutes)"
    # $sluice_python_packages is words on purpose.
    if python3 -m venv "$sluice_python" &&
        "$sluice_python/bin/pip" install --quiet --disable-pip-version-check $sluice_python_packages; then
        printf '%s\n' "$sluice_python_packages" >"$sluice_python/packages"
    else
        say "Python: PyPI gave no packages (above): the tests of python/ are skipped"
    fi
}
