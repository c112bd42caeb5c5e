"""Figures that everyone can read: with alt text, and in one style.

Neither JupyterLab nor the HTML pages show the alt text of an image output, so a figure is displayed as an HTML `<img alt=...>`.
"""

from __future__ import annotations

import base64
import html
import io
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from IPython.display import HTML, display

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def use_style() -> None:
    """Draw in the course's style from here on (colours that colour-blind readers can tell apart)."""
    import matplotlib.pyplot as plt

    with as_file(files("paramshare_data") / "course.mplstyle") as style:
        plt.style.use(style)


def show(figure: Figure, alt: str) -> None:
    """Display a matplotlib `figure` with `alt`: a sentence that says what a reader would see. Closes the figure."""
    import matplotlib.pyplot as plt

    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})
    plt.close(figure)
    _display("image/png", picture.getvalue(), alt)


def drawing(name: str, alt: str) -> None:
    """Display the drawing `name` of `data/figures/` with `alt`."""
    _display("image/svg+xml", (files("paramshare_data") / "figures" / f"{name}.svg").read_bytes(), alt)


def _display(kind: str, picture: bytes, alt: str) -> None:
    if not alt.strip():
        raise ValueError("alt must say what the picture shows, in a sentence")
    source = base64.b64encode(picture).decode()
    display(HTML(f'<img alt="{html.escape(alt)}" style="max-width: 100%" src="data:{kind};base64,{source}">'))
