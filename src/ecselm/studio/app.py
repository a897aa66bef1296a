"""The application: pages as steps, forms that need no script, and downloads."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ecselm._files import FileWriteError, temporary
from ecselm.report.page import POLICY as REPORT_POLICY
from ecselm.report.summary import standing
from ecselm.studio import forms, questions, results
from ecselm.studio.pages import render
from ecselm.studio.project import MAX_COLUMNS, Project, Workspace, in_words
from ecselm.studio.runs import ANSWERS, CARD, MODEL, ONNX, PREDICTIONS, REPORT, Run
from ecselm.studio.security import MAX_UPLOAD, Guard, refused
from ecselm.studio.training import Trainer

STEPS = {
    "data": "Data",
    "costs": "Costs",
    "training": "Training",
    "tradeoff": "Trade-off",
    "questions": "Questions",
    "rows": "Rows",
    "report": "Report",
}
OF_CLASSES = ("tradeoff", "questions", "rows")
DOWNLOADS = {
    MODEL: "the model, for 'ecselm predict' and Python",
    REPORT: "the report, one HTML file",
    PREDICTIONS: "predictions of all rows",
    ONNX: "the model as an ONNX graph, which runs without Python",
    CARD: "all results as JSON",
    ANSWERS: "questions and answers about costs, for 'ecselm ask'",
}
Handler = Callable[["Studio", Request, forms.Fields], Response]
Endpoint = Callable[["Studio", Request], Awaitable[Response]]


def create_app(
    workspace: Workspace, *, port: int, token: str, max_upload: int = MAX_UPLOAD
) -> Starlette:
    """Return the application.

    Parameters
    ----------
    workspace : Workspace
    port : int
        Of the server on 127.0.0.1.
    token : str
        That opens it.
    max_upload : int, default=MAX_UPLOAD
        Bytes of an upload.
    """
    studio = Studio(workspace)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        studio.trainer.close()

    static = StaticFiles(packages=[("ecselm.studio", "static")])
    return Starlette(
        routes=[*studio.routes(), Mount("/static", static, name="static")],
        middleware=[Middleware(Guard, port=port, token=token, max_upload=max_upload)],
        exception_handlers={
            HTTPException: _http_error,
            404: _http_error,
            FileWriteError: _not_written,
            OSError: _not_written,
            MemoryError: _not_written,
            Exception: _failure,
        },
        lifespan=lifespan,
    )


def posted(handler: Handler) -> Endpoint:
    """Return an endpoint that reads a form and then works in a thread."""

    @functools.wraps(handler)
    async def endpoint(self: Studio, request: Request) -> Response:
        async with request.form(max_files=0, max_fields=MAX_COLUMNS + 100) as form:
            fields = forms.Fields(form.multi_items())
        return await run_in_threadpool(handler, self, request, fields)

    return endpoint


class Studio:
    """The pages of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.trainer = workspace, Trainer(workspace)

    def routes(self) -> list[Route]:
        """Return the addresses of all pages."""
        of_project = "/p/{project}"
        pages = [Route(f"{of_project}/{step}", getattr(self, step)) for step in STEPS]
        forms_of = {
            "data": self.choose_columns,
            "costs": self.state_costs,
            "training": self.start_training,
            "training/cancel": self.cancel_training,
            "tradeoff": self.choose_point,
            "questions": self.answer,
            "questions/undo": self.undo_answer,
            "questions/use": self.use_answers,
            "report/reset": self.reset_costs,
            "delete": self.delete,
        }
        return [
            Route("/", self.projects),
            Route("/projects", self.upload, methods=["POST"]),
            *pages,
            *(
                Route(f"{of_project}/{path}", endpoint, methods=["POST"])
                for path, endpoint in forms_of.items()
            ),
            Route(f"{of_project}/training/progress", self.progress),
            Route(f"{of_project}/rows/{{row:int}}", self.row),
            Route(f"{of_project}/report/view", self.view_report),
            Route(f"{of_project}/files/{{name}}", self.download),
        ]

    # Projects and data.

    def projects(self, request: Request) -> Response:
        """Show all projects and the form of an upload."""
        return self._projects_page()

    def _projects_page(self, error: str = "", status: int = 200) -> Response:
        page = render(
            "projects.html",
            projects=self.workspace.projects(),
            folder=str(self.workspace.folder),
            max_mb=MAX_UPLOAD // 2**20,
            error=error,
        )
        return HTMLResponse(page, status)

    async def upload(self, request: Request) -> Response:
        """Make a project of an uploaded table."""
        async with request.form(max_files=1, max_fields=1) as form:
            given = form.get("table")
            if not isinstance(given, UploadFile) or not given.filename:
                return self._projects_page("A file must be chosen.", 422)
            return await run_in_threadpool(self._add, given)

    def _add(self, given: UploadFile) -> Response:
        try:
            with temporary(self.workspace.folder / "upload") as place:
                with place.open("wb") as part:
                    while block := given.file.read(1 << 20):
                        part.write(block)
                project = self.workspace.add(place, name=given.filename)
        except (ValueError, OSError, ImportError, MemoryError) as error:
            return self._projects_page(f"The file cannot be used: {in_words(error)}.", 422)
        return RedirectResponse(f"/p/{project.id}/data", 303)

    def data(self, request: Request) -> Response:
        """Show the columns of the table."""
        return self._page(request, "data", settings=self._project(request).settings)

    @posted
    def choose_columns(self, request: Request, fields: forms.Fields) -> Response:
        """Take target and other columns."""
        project = self._project(request)
        settings = project.settings
        try:
            columns = forms.read_columns(fields, project)
            settings = replace(settings, **columns)  # shown again where they are refused
            chosen = project.with_target(**columns)
        except (ValueError, OSError) as error:
            return self._page(request, "data", error=in_words(error), settings=settings)
        self.workspace.change(project.id, settings=chosen.settings)
        return self._to(project, "costs")

    @posted
    def delete(self, request: Request, fields: forms.Fields) -> Response:
        """Delete a project."""
        project = self._project(request)
        self.trainer.cancel(project)
        self.workspace.remove(project.id)
        return RedirectResponse("/", 303)

    # Costs and training.

    def costs(self, request: Request) -> Response:
        """Show what is known of costs."""
        return self._costs_page(request)

    def _costs_page(
        self, request: Request, error: str = "", given: forms.Fields | None = None
    ) -> Response:
        settings = self._project(request).settings
        if settings.target is None:
            return self._to(self._project(request), "data")
        return self._page(
            request,
            "costs",
            error=error,
            settings=settings,
            given=results.cost_fields(settings) if given is None else given.shown,
            mistakes=forms.mistakes(settings),
            metrics=forms.metric_choices(settings),
            n_worse=min(forms.N_WORSE, len(forms.mistakes(settings)) - 1),
        )

    @posted
    def state_costs(self, request: Request, fields: forms.Fields) -> Response:
        """Take costs and metric."""
        project = self._project(request)
        if project.settings.target is None:
            return self._to(project, "data")
        try:
            settings = forms.read_costs(fields, project.settings)
        except (ValueError, OSError) as error:
            return self._costs_page(request, in_words(error), fields)
        self.workspace.change(project.id, settings=settings)
        return self._to(project, "training")

    def training(self, request: Request) -> Response:
        """Show how far the training is, or the form that starts it."""
        return self._training_page(request)

    def _training_page(self, request: Request, error: str = "") -> Response:
        project = self._project(request)
        if project.settings.target is None:
            return self._to(project, "data")
        current = self.trainer.current(project)
        result = self.trainer.result(project)
        card = None if result is None else result.card()
        return self._page(
            request,
            "training",
            error=error,
            settings=project.settings,
            sentences=results.request_sentences(project),
            models=forms.MODELS[str(project.settings.task)],
            progress=None if current is None else current[1],
            card=card,
            standing="" if card is None else standing(card, card.best_baseline()),
            scores=[] if card is None else results.scores(card),
            is_old=result is not None and not result.settings().trains_like(project.settings),
        )

    @posted
    def start_training(self, request: Request, fields: forms.Fields) -> Response:
        """Start to train."""
        project = self._project(request)
        if project.settings.target is None:
            return self._to(project, "data")
        try:
            settings = forms.read_training(fields, project.settings)
            project = self.workspace.change(project.id, settings=settings)
            self.trainer.start(project)
        except (ValueError, OSError) as error:
            return self._training_page(request, in_words(error))
        return self._to(project, "training")

    @posted
    def cancel_training(self, request: Request, fields: forms.Fields) -> Response:
        """End the training."""
        project = self._project(request)
        self.trainer.cancel(project)
        return self._to(project, "training")

    def progress(self, request: Request) -> Response:
        """Return how far the training is as JSON."""
        current = self.trainer.current(self._project(request))
        return JSONResponse(None if current is None else asdict(current[1]))

    # Results.

    def tradeoff(self, request: Request) -> Response:
        """Show what other costs would change."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        return self._tradeoff_page(request, run)

    def _tradeoff_page(self, request: Request, run: Run, error: str = "") -> Response:
        settings = self._project(request).settings
        found = results.trade_off(run, settings.unit, settings.currency)
        return self._page(request, "tradeoff", error=error, found=found, chart=results.CHART)

    @posted
    def choose_point(self, request: Request, fields: forms.Fields) -> Response:
        """Decide at another point of the trade-off."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        try:
            results.choose_point(run, fields.whole("point", "the point"))
        except (ValueError, OSError) as error:
            return self._tradeoff_page(request, run, in_words(error))
        return self._to(self._project(request), "tradeoff")

    def questions(self, request: Request) -> Response:
        """Ask the next question about costs."""
        return self._questions_page(request)

    def _questions_page(self, request: Request, error: str = "") -> Response:
        run = self._result(request)
        if isinstance(run, Response):
            return run
        return self._page(request, "questions", error=error, asked=questions.asked(run))

    @posted
    def answer(self, request: Request, fields: forms.Fields) -> Response:
        """Take an answer."""
        return self._changed_answers(
            request,
            lambda run: questions.tell(
                run, fields.text("choice"), fields.text("question"), fields.text("by")
            ),
        )

    @posted
    def undo_answer(self, request: Request, fields: forms.Fields) -> Response:
        """Take back the last answer."""
        return self._changed_answers(request, questions.undo)

    @posted
    def use_answers(self, request: Request, fields: forms.Fields) -> Response:
        """Let the model decide by the answers."""
        return self._changed_answers(request, questions.use, "tradeoff")

    def _changed_answers(
        self, request: Request, change: Callable[[Run], None], then: str = "questions"
    ) -> Response:
        run = self._result(request)
        if isinstance(run, Response):
            return run
        try:
            change(run)
        except (ValueError, OSError) as error:
            return self._questions_page(request, in_words(error))
        return self._to(self._project(request), then)

    def rows(self, request: Request) -> Response:
        """List test rows whose answers depend on unknown costs, or others."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        shown = request.query_params.get("show", "open")
        page = request.query_params.get("page", "1")
        number = int(page) if page.isdecimal() and len(page) < 9 else 1
        return self._page(request, "rows", found=results.list_rows(run, shown, number))

    def row(self, request: Request) -> Response:
        """Explain the answer to one test row."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        found = results.explain_row(run, request.path_params["row"])
        if found is None:
            raise HTTPException(404)
        return self._page(request, "rows", template="row.html", found=found)

    def report(self, request: Request) -> Response:
        """Show the results and the files."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        return self._report_page(request, run)

    def _report_page(self, request: Request, run: Run, error: str = "") -> Response:
        card = run.card()
        return self._page(
            request,
            "report",
            error=error,
            card=card,
            standing=standing(card, card.best_baseline()),
            scores=results.scores(card),
            downloads={
                name: words
                for name, words in DOWNLOADS.items()
                if name == ONNX or run.file(name).is_file()
            },
            commands=results.commands(run),
            transcript=questions.transcript(run),
            in_use=run.in_use(),
        )

    @posted
    def reset_costs(self, request: Request, fields: forms.Fields) -> Response:
        """Return to the costs of the training."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        run.decide_as_trained()
        return self._to(self._project(request), "report")

    def view_report(self, request: Request) -> Response:
        """Show the report, which has its own style and script, apart from the pages."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        policy = f"{REPORT_POLICY}; frame-ancestors 'none'; sandbox allow-scripts"
        headers = {"content-security-policy": policy}
        return FileResponse(run.file(REPORT), headers=headers, media_type="text/html")

    def download(self, request: Request) -> Response:
        """Return a file of the model that counts."""
        run = self._result(request)
        if isinstance(run, Response):
            return run
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise HTTPException(404)
        path = run.file(name)
        if name == ONNX and not path.is_file():
            try:
                results.write_onnx(run)
            except (ImportError, ValueError, OSError, RuntimeError, MemoryError) as error:
                return self._report_page(request, run, in_words(error))
        if not path.is_file():
            raise HTTPException(404)
        slug = self._project(request).id.rpartition("-")[0]
        return FileResponse(path, filename=f"{slug}-{name}")

    # What pages share.

    def _project(self, request: Request) -> Project:
        try:
            return self.workspace.get(request.path_params["project"])
        except (KeyError, ValueError) as error:
            raise HTTPException(404) from error

    def _result(self, request: Request) -> Run | Response:
        """Return the run whose results a page shows, or lead to the training."""
        project = self._project(request)
        run = self.trainer.result(project)
        if run is None:
            return self._to(project, "training")
        of_classes = any(f"/{step}" in request.url.path for step in OF_CLASSES)
        if of_classes and run.settings().task != "classes":
            return self._to(project, "report")
        return run

    def _to(self, project: Project, step: str) -> Response:
        return RedirectResponse(f"/p/{project.id}/{step}", 303)

    def _page(
        self, request: Request, step: str, *, template: str = "", error: str = "", **values: Any
    ) -> Response:
        project = self._project(request)
        run = self.trainer.result(project)
        is_open = {
            "data": True,
            "costs": project.settings.target is not None,
            "training": project.settings.target is not None,
            "report": run is not None,
        }
        of_classes = run is not None and run.settings().task == "classes"
        page = render(
            template or f"{step}.html",
            project=project,
            step=step,
            steps=[(key, name, is_open.get(key, of_classes)) for key, name in STEPS.items()],
            error=error,
            **values,
        )
        return HTMLResponse(page, 422 if error else 200)


def _http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentences = {
        404: "There is no such page, or the project was deleted.",
        405: "This address takes another kind of request.",
    }
    return refused(status, sentences.get(status, f"The request cannot be answered ({status})."))


def _not_written(_: Request, error: Exception) -> Response:
    """Return a page for a full or failing disk, or for memory that is used up."""
    sentence = in_words(error)
    sentence = f"{sentence[:1].upper()}{sentence[1:]}"
    return refused(507, f"{sentence}. All files are whole, and the request can be repeated.")


def _failure(*_: Any) -> Response:
    """Return a page for an error of the studio itself; the server logs it."""
    return refused(500, "The studio made a mistake; the terminal shows which. Nothing is lost.")
