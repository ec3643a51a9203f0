"""The pages that open in windows of their own. Code that few people need to begin is imported at first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

import gpu_ops
from app.shell.context import Context
from app.views.dialogs.diagnostics import DiagnosticsPage
from app.views.dialogs.preferences import PreferencesPage
from app.views.dialogs.recent_menu import RecentMenu
from app.views.dialogs.remote_page import RemotePage
from app.views.dialogs.shortcuts import ShortcutsPage
from app.views.timing.claims_page import ClaimsPage

FITTING = frozenset({"preferences", "remote", "live"})
"""Pages whose windows have the size of their content."""


def page_makers(
    context: Context, actions: Mapping[str, QAction], recent: RecentMenu
) -> dict[str, Callable[[], QWidget]]:
    """The functions that create the pages, by the name of the page."""
    return {
        "claims": lambda: _claims_page(context),
        "figures": lambda: _figures_page(context),
        "guide": _guide_page,
        "layouts": lambda: _layouts_page(context),
        "shortcuts": lambda: ShortcutsPage(actions),
        "diagnostics": lambda: DiagnosticsPage(context.log),
        "batch": lambda: _batch_page(context),
        "live": lambda: _live_page(context),
        "remote": lambda: _remote_page(context),
        "preferences": lambda: PreferencesPage(context, actions, recent),
    }


def _batch_page(context: Context) -> QWidget:
    from app.controllers.batch import BatchController
    from app.views.batch.page import BatchPage

    batch = BatchController(context.session, context.settings)
    batch.message.connect(context.messages.show_message)
    batch.succeeded.connect(context.messages.settle)
    return BatchPage(batch, lambda *asked: context.files.folder_chooser(*asked))


def _live_page(context: Context) -> QWidget:
    from app.views.live.page import LivePage

    return LivePage(context.live, context.files.choose)


def _remote_page(context: Context) -> QWidget:
    page = RemotePage(context.remotes)
    page.open_asked.connect(context.files.open_path)
    return page


def _layouts_page(context: Context) -> QWidget:
    from app.views.xray.gallery_page import GalleryPage

    return GalleryPage(lambda: [e.row for e in context.results.entries() if e.row is not None and e.current])


def _guide_page() -> QWidget:
    from app.views.dialogs.guide_page import GuidePage

    return GuidePage()


def _claims_page(context: Context) -> QWidget:
    page = ClaimsPage()
    page.save_asked.connect(context.files.export_claims)
    judgements = gpu_ops.judge_by_reports(gpu_ops.FILTERS.claims, gpu_ops.recorded_reports())
    page.set_claims([j.as_dict() for j in judgements])
    return page


def _figures_page(context: Context) -> QWidget:
    from app.views.timing.figures_page import FiguresPage
    from gpu_ops.explaining.transfers.figures import recorded_figures

    page = FiguresPage()
    page.save_asked.connect(context.files.export_figure)
    page.report_asked.connect(context.files.open_figures)
    page.set_figures((*gpu_ops.draw_figures(gpu_ops.recorded_reports()), *recorded_figures()))
    return page
