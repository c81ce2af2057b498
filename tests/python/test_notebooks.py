# SPDX-License-Identifier: Apache-2.0
"""The notebooks, from top to bottom."""
import pytest

nbclient = pytest.importorskip("nbclient", reason="skipped: no nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

from conftest import SOURCE  # noqa: E402

NOTEBOOKS = SOURCE / "python" / "notebooks"
#: What a notebook's last code cell says.
ENDS = {"first-hour": "best: ", "choosing-a-fabric": "chosen: "}


@pytest.mark.parametrize("name", sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
def test_top_to_bottom(name, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a notebook shows its pictures
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the repository"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(ENDS[name] in output.get("text", "") for output in codes[-1].outputs)
    pictures = [output for cell in codes for output in cell.outputs if "image/png" in output.get("data", {})]
    assert pictures
