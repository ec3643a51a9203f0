"""Prints a page as a person does: with a browser that is installed, into a PDF that Poppler reads."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

A4 = 595.3, 841.9
"""Points of 1/72 inch."""
BROWSERS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
PATIENCE = 120


@dataclass(frozen=True)
class Sheet:
    """A printed page: its width and height in points, its text, and how many pictures it has."""

    size: tuple[float, float]
    text: str
    pictures: int


def printed(page: Path) -> list[Sheet]:
    """The sheets of an HTML file that is printed. Skips the test where there is no browser or no Poppler."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or not all(map(shutil.which, ("pdfinfo", "pdftotext", "pdfimages"))):
        pytest.skip("needs Chromium or Chrome, and Poppler's pdfinfo, pdftotext and pdfimages")
    paper, profile = page.with_suffix(".pdf"), page.with_name("profile")
    how = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={profile}")
    said(browser, *how, f"--print-to-pdf={paper}", page.as_uri())
    sizes = re.findall(r"Page +\d+ size: +([\d.]+) x ([\d.]+) pts", said("pdfinfo", "-l", "999", str(paper)))
    texts = said("pdftotext", "-layout", str(paper), "-").split("\f")
    pictures = [int(row.split()[0]) for row in said("pdfimages", "-list", str(paper)).splitlines()[2:]]
    return [
        Sheet((float(width), float(height)), text, pictures.count(place))
        for place, ((width, height), text) in enumerate(zip(sizes, texts, strict=False), start=1)
    ]


def said(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
