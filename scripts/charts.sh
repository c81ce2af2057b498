# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart: ECharts, which draws the pages of sluice report, from PyPI into build/charts. PyPI has it inside
# NiceGUI. report/CMakeLists.txt looks there. POSIX sh.

sluice_charts="$sluice_root/build/charts"
# Its last release that has ECharts as one file.
sluice_charts_package="nicegui==2.24.2"
sluice_charts_file="nicegui/elements/lib/echarts/echarts.min.js"
# Of ECharts 5.5.1.
sluice_charts_sha256="e84270bd0cd5bdf60fefc26d00c2a391cb2e81f4d26a7a9ee16185a54773a3cf"

# A build without it lacks sluice report only, so that nothing here is an error.
install_charts() {
    if [ -s "$sluice_charts/echarts.min.js" ]; then
        say "Charts: ECharts is in build/charts"
        return
    fi
    say "Charts: fetching ECharts from PyPI into build/charts (14 MB)"
    mkdir -p "$sluice_charts"
    if python3 -m venv "$sluice_charts/venv" &&
        "$sluice_charts/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps \
            --dest "$sluice_charts/wheel" "$sluice_charts_package" &&
        extract_charts; then
        say "Charts: ECharts is in build/charts"
    else
        say "Charts: PyPI gave no ECharts (above): sluice report will not draw; all else is built"
    fi
    rm -rf "$sluice_charts/venv" "$sluice_charts/wheel"
}

extract_charts() {
    python3 - "$sluice_charts" "$sluice_charts_file" "$sluice_charts_sha256" <<'PYTHON'
import hashlib, pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
wheel = next((folder / "wheel").glob("*.whl"))
text = zipfile.ZipFile(wheel).read(sys.argv[2])
if hashlib.sha256(text).hexdigest() != sys.argv[3]:
    sys.exit("the package does not hold the ECharts that was expected")
(folder / "echarts.min.js").write_bytes(text)
PYTHON
}
