"""Put the learner notebooks into the wheel, where ``python -m lab`` finds them without the project."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundledNotebooks(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            return  # There the notebooks are used where they are.
        for notebook in Path(self.root, "notebooks").glob("[0-9][0-9]_*/*.ipynb"):
            if notebook.stem == notebook.parent.name:
                build_data["force_include"][str(notebook)] = f"lab/notebooks/{notebook.stem}/{notebook.name}"
